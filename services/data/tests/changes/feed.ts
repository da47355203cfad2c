// How the tests of change feeds follow a table, and a copy that a program would make of it.
import type { Call } from '@almanac/testkit/calls/call';

export type Key = Record<string, unknown>;
export type Change = {
  change: 'created' | 'updated' | 'deleted';
  svc_sk: number;
  svc_version: number;
  at: string;
  key: Key;
  key_before: Key | null;
  key_after: Key | null;
  channel: string | null;
  user_id: number | null;
  application_id: number | null;
  request_id: string | null;
  change_request: { id: number } | null;
  record: Record<string, unknown>;
};
type Page = { data: Change[]; cursor: string; has_more: boolean };

/** One call of the feed. */
export const ask = (call: Call, table: number, query: Record<string, string | number> = {}) =>
  call(
    'GET',
    `/api/v1/table_data/changes?${new URLSearchParams({
      table_definition_id: String(table),
      ...Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
    })}`,
  );

/** One page; throws when it is refused. */
export async function pageOf(call: Call, table: number, query: Record<string, string | number> = {}): Promise<Page> {
  const { status, body } = await ask(call, table, query);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** The cursor of now. */
export const cursorOf = async (call: Call, table: number): Promise<string> => (await pageOf(call, table)).cursor;

/** All changes after a cursor, page after page, and the cursor after them. */
export async function follow(
  call: Call,
  table: number,
  after: string,
  query: Record<string, string | number> = {},
): Promise<{ changes: Change[]; cursor: string; pages: number }> {
  const changes: Change[] = [];
  let cursor = after;
  for (let pages = 1; ; pages += 1) {
    const page = await pageOf(call, table, { ...query, after: cursor });
    changes.push(...page.data);
    cursor = page.cursor;
    if (!page.has_more) return { changes, cursor, pages };
  }
}

/** A change in one line: what happened to which key, and from or to which other key. */
export const lineOf = ({ change, key, key_before, key_after }: Change): string =>
  [
    change,
    Object.values(key).join('/'),
    ...(key_before ? [`from ${Object.values(key_before).join('/')}`] : []),
    ...(key_after ? [`to ${Object.values(key_after).join('/')}`] : []),
  ].join(' ');

/** In the order of ids, in which the tests list the table. */
const inOrder = (rows: Record<string, unknown>[]) => rows.toSorted((a, b) => Number(a.svc_sk) - Number(b.svc_sk));

/** A copy by key: deletes and upserts, one change after the other. */
export class CopyByKey {
  readonly rows = new Map<string, Record<string, unknown>>();

  apply(changes: Change[]): void {
    for (const { change, key, record } of changes) {
      const place = JSON.stringify(key);
      if (change === 'deleted') this.rows.delete(place);
      else this.rows.set(place, record);
    }
  }

  get content(): Record<string, unknown>[] {
    return inOrder([...this.rows.values()]);
  }
}

/**
 * A copy by id whose keys are unique: a row that takes another one's key before that one has left
 * it replaces it.
 */
export class CopyById {
  readonly rows = new Map<number, { key: string; record: Record<string, unknown> }>();

  apply(changes: Change[]): void {
    for (const { change, svc_sk, key, record } of changes) {
      const place = JSON.stringify(key);
      for (const [id, row] of this.rows) if (id === svc_sk || row.key === place) this.rows.delete(id);
      if (change !== 'deleted') this.rows.set(svc_sk, { key: place, record });
    }
  }

  get content(): Record<string, unknown>[] {
    return inOrder([...this.rows.values()].map(({ record }) => record));
  }
}

/** A copy by id of each version. Writers that overlap may both have a key for a moment. */
export class CopyOfVersions {
  readonly rows = new Map<number, Record<string, unknown>>();

  apply(changes: Change[]): void {
    for (const { change, svc_sk, record } of changes)
      if (change === 'deleted') this.rows.delete(svc_sk);
      else this.rows.set(svc_sk, record);
  }

  get content(): Record<string, unknown>[] {
    return inOrder([...this.rows.values()]);
  }
}
