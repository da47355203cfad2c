// Events for tests: announced by services, or appended at once.
import { randomUUID } from 'node:crypto';
import { eventually } from '@almanac/testkit/eventually';
import type { AccountEvent } from '../../src/events/account-event.ts';
import { appendEvent } from '../../src/events/append-events.ts';
import { transact } from '../../src/transaction.ts';
import type { Jobs } from '../given.ts';

/** The payload of `data.rows.changed`. */
export const rowsChanged = (table: number, more: Record<string, unknown> = {}) => ({
  account_id: 1,
  table_definition_id: table,
  table_definition_key: `t${table}`,
  branch_id: 1,
  domain_id: 1,
  inserted: 1,
  updated: 0,
  deleted: 0,
  changed_after: '2026-11-27T00:00:00.000Z',
  changed_until: '2026-11-27T00:00:01.000Z',
  ...more,
});

/** Appends an event without the bus. */
export const append = (jobs: Jobs, type: string, { accountId = 1, id = 1, data = {}, messageId = randomUUID() } = {}) =>
  transact(jobs.context, (tx) =>
    appendEvent(tx, accountId, {
      messageId,
      type,
      occurredAt: new Date().toISOString(),
      actor: { type: 'system', id: null },
      resource: { type: 'table', id, domain_id: 1, branch_id: 1 },
      data,
    }),
  );

/** Every event after `after`, page by page. */
export async function readAll(jobs: Jobs, query = '', after = 0, call = jobs.call): Promise<AccountEvent[]> {
  const all: AccountEvent[] = [];
  for (let cursor = after; ; ) {
    const { status, body } = await call('GET', `/api/v1/events?after=${cursor}${query}`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    all.push(...body.data);
    if (!body.has_more) return all;
    cursor = body.cursor;
  }
}

/** Waits until so many events are in the log after `after`. */
export const untilLogged = (jobs: Jobs, count: number, query = '', after = 0): Promise<AccountEvent[]> =>
  eventually(async () => {
    const found = await readAll(jobs, query, after);
    if (found.length < count) throw new Error(`${found.length} of ${count} events are in the log.`);
    return found;
  });

/** Where the log of account 1 ends. */
export async function endOfLog(jobs: Jobs): Promise<number> {
  return (await readAll(jobs)).at(-1)?.id ?? 0;
}
