// Erases a deleted account in one service, when identity asks for it: everything that its databases
// and stores hold, in steps that can be repeated. A process that is killed leaves the erasure's row
// unfinished; the message is redelivered, and every start and round takes up what is unfinished.
// The row stays for some weeks: in each round, whatever late messages and calls have written is
// erased too.
import type pg from 'pg';
import { z } from 'zod';
import type { Bus } from '../messaging/bus/bus.ts';
import { messageId } from '../messaging/bus/received-message.ts';
import { announce } from '../messaging/outbox.ts';
import type { Logger } from '../observability/logger.ts';
import { deleteAccountRows, lockErasure } from '../postgres/account-rows.ts';
import { pgSql, withTransaction } from '../postgres/database.ts';
import type { Part } from './part.ts';
import { periodic } from './periodic.ts';

/** The request of identity to all services. */
export const erasureRequested = 'identity.account_erasure.requested';

/** The report of a service to identity. */
export const erasedType = (service: string) => `${service}.account.erased`;

/** One database of a service, with what belongs to it. */
export type ErasureStore = {
  pool: pg.Pool;
  /** Removes what is not a row of a table with the account's id: schemas, files. Repeatable. */
  removeOther?(accountId: number): Promise<void>;
  /** Runs after the rows of all tables with the account's id were deleted. Repeatable. */
  removeLast?(accountId: number): Promise<void>;
};

type Options = {
  service: string;
  bus: Bus;
  logger: Logger;
  /** The last one keeps the facts and reports. */
  stores: readonly ErasureStore[];
  /** What the receipt has to keep, read once, before anything is deleted. */
  readFacts?(accountId: number): Promise<object>;
  /** Tables whose rows outlive the account. */
  keepTables?: readonly string[];
  /** Types of waiting messages that are sent although they name the account. */
  keepMessages?: readonly string[];
  everyMs?: number;
};

// A message is older than its inbox row at most by this; then no bus delivers it again.
const keptDays = 31;
// At the longest backoff of the bus this is more than a day.
const attempts = 2_000;

/** The part that erases accounts: consumes the requests, and repeats what is unfinished. */
export function createAccountErasure(options: Options): Part {
  const { service, bus, logger, everyMs = 10 * 60_000 } = options;
  const rounds = periodic({ name: 'account erasure', everyMs, logger }, () => sweepErasures(options));
  return {
    name: 'account erasure',
    start: async () => {
      const payloads = { [erasureRequested]: z.object({ account_id: messageId }) };
      await bus.consume(
        `${service}.account_erasures`,
        payloads,
        ({ payload }) => eraseAccount(options, payload.account_id),
        { attempts },
      );
      await rounds.start();
    },
    stop: () => rounds.stop(),
  };
}

type Erasing = Omit<Options, 'bus' | 'everyMs'>;

/** Erases the account and reports what was removed. Repeated, it removes the rest and reports. */
export async function eraseAccount(options: Erasing, accountId: number): Promise<void> {
  await begin(options, accountId);
  const counts: Record<string, number>[] = [];
  for (const store of options.stores) {
    await removeFrom(store, options, accountId);
    counts.push(await finish(store, accountId));
  }
  const report = await announceReport(options, accountId, addedUp(counts));
  options.logger.info({ account_id: accountId, ...report }, 'the account was erased');
}

/** One round: finishes what is unfinished, erases late arrivals, and deletes old rows. */
export async function sweepErasures(options: Erasing): Promise<void> {
  const known = new Map<number, { isFinished: boolean; stores: ErasureStore[] }>();
  for (const store of options.stores) {
    const { rows } = await pgSql(store.pool)(
      'select account_id, finished_at is not null as finished from account_erasure order by requested_at',
    );
    for (const { account_id, finished } of rows) {
      const { isFinished, stores } = known.get(account_id) ?? { isFinished: true, stores: [] };
      known.set(account_id, { isFinished: isFinished && finished, stores: [...stores, store] });
    }
  }
  for (const [accountId, { isFinished, stores }] of known)
    try {
      if (!isFinished) await eraseAccount(options, accountId);
      else for (const store of stores) await removeFrom(store, options, accountId);
    } catch (error) {
      options.logger.warn(
        { err: error, account_id: accountId },
        'an account could not be erased; the next round tries again',
      );
    }
  for (const { pool } of options.stores)
    await pgSql(pool)('delete from account_erasure where finished_at < now() - make_interval(days => $1::int)', [
      keptDays,
    ]);
}

async function begin({ stores, readFacts }: Erasing, accountId: number): Promise<void> {
  for (const { pool } of stores)
    await pgSql(pool)('insert into account_erasure (account_id) values ($1::int) on conflict do nothing', [accountId]);
  const { pool } = stores.at(-1) as ErasureStore;
  const { rows } = await pgSql(pool)(
    'select facts is not null as known from account_erasure where account_id = $1::int',
    [accountId],
  );
  if (rows[0]?.known) return;
  const facts = (await readFacts?.(accountId)) ?? {};
  await pgSql(pool)('update account_erasure set facts = $2::jsonb where account_id = $1::int and facts is null', [
    accountId,
    JSON.stringify(facts),
  ]);
}

async function removeFrom(store: ErasureStore, options: Erasing, accountId: number): Promise<void> {
  const { service, keepTables = [], keepMessages = [] } = options;
  await store.removeOther?.(accountId);
  await deleteAccountRows(store.pool, accountId, {
    keepTables,
    keepMessages: [erasedType(service), ...keepMessages],
  });
  await store.removeLast?.(accountId);
}

async function finish({ pool }: ErasureStore, accountId: number): Promise<Record<string, number>> {
  const { rows } = await pgSql(pool)(
    'update account_erasure set finished_at = coalesce(finished_at, now()) where account_id = $1::int returning counts',
    [accountId],
  );
  return rows[0]?.counts ?? {};
}

function announceReport(
  { service, stores }: Erasing,
  accountId: number,
  counts: Record<string, number>,
): Promise<{ counts: Record<string, number> }> {
  const { pool } = stores.at(-1) as ErasureStore;
  return withTransaction(pool, async (sql) => {
    await lockErasure(sql, accountId);
    const { rows } = await sql('select facts from account_erasure where account_id = $1::int', [accountId]);
    const payload = { account_id: accountId, counts, facts: rows[0]?.facts ?? {} };
    await announce(sql, { type: erasedType(service), payload });
    return { counts };
  });
}

function addedUp(all: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all) for (const [kind, count] of Object.entries(counts)) sums[kind] = (sums[kind] ?? 0) + count;
  return sums;
}
