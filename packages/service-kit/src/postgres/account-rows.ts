// Deletes the rows of one account from a service's database, in batches. The tables come from
// PostgreSQL's catalogue, so those of later versions are found too. Every batch adds what it
// removed to the row of `account_erasure` in its own transaction: a process that is killed loses
// neither rows nor counts.
//
// Every service database has this table:
//
//   create table account_erasure (
//     account_id integer primary key, requested_at timestamptz(3) not null default now(),
//     facts jsonb, counts jsonb not null default '{}', finished_at timestamptz(3)
//   );
import type pg from 'pg';
import { type Sql, withTransaction } from './database.ts';

/** A foreign key: a row of `child` refers to one of `parent`. */
export type Reference = { child: string; parent: string };

type Options = {
  /** Tables with a column `account_id` that are left as they are. */
  keepTables?: readonly string[];
  /** Types of waiting messages that still have to leave. */
  keepMessages?: readonly string[];
  batchRows?: number;
};

/** Deletes all rows of the account, and its waiting messages. The account's erasure has begun. */
export async function deleteAccountRows(
  pool: pg.Pool,
  accountId: number,
  { keepTables = [], keepMessages = [], batchRows = 5_000 }: Options = {},
): Promise<void> {
  const { tables, references } = await withTransaction(pool, (sql) => readTables(sql, keepTables));
  for (const table of deletionOrder(tables, references)) {
    // Rows that refer to others of their table can only leave in one statement.
    const isOwnParent = references.some(({ child, parent }) => child === table && parent === table);
    const limit = isOwnParent ? undefined : batchRows;
    await deleteBatches(pool, accountId, { table, where: 'account_id = $1::int', limit });
  }
  const where = `payload->>'account_id' = $1::int::text and type <> all($2::text[])`;
  await deleteBatches(pool, accountId, { table: 'outbox', where, limit: batchRows, values: [keepMessages] });
}

/**
 * The order in which rows can be deleted: those that refer before those that are referred to.
 * Throws when tables refer to each other in a circle.
 */
export function deletionOrder(tables: readonly string[], references: readonly Reference[]): string[] {
  const left = new Set(tables);
  const order: string[] = [];
  while (left.size > 0) {
    const isReferredTo = (table: string) =>
      references.some(({ child, parent }) => parent === table && child !== table && left.has(child));
    const next = [...left].find((table) => !isReferredTo(table));
    if (next === undefined) throw new Error(`The tables ${[...left].join(', ')} refer to each other in a circle.`);
    left.delete(next);
    order.push(next);
  }
  return order;
}

/** Adds to what the erasure of an account has removed, in the transaction that removes it. */
export async function countRemoved(sql: Sql, accountId: number, kind: string, removed: number): Promise<void> {
  if (removed === 0) return;
  await sql(
    `update account_erasure set counts = counts || jsonb_build_object($2::text, coalesce((counts->>$2::text)::bigint, 0) + $3::bigint)
     where account_id = $1::int`,
    [accountId, kind, removed],
  );
}

type Rows = { table: string; where: string; limit: number | undefined; values?: unknown[] };

async function deleteBatches(pool: pg.Pool, accountId: number, rows: Rows): Promise<void> {
  const { table, where, limit, values = [] } = rows;
  const batch = `select ctid from ${quoted(table)} where ${where}${limit === undefined ? '' : ` limit ${limit}`}`;
  for (let removed = 1; removed > 0; ) {
    removed = await withTransaction(pool, async (sql) => {
      await sql("select set_config('statement_timeout', '0', true)");
      await lockErasure(sql, accountId);
      const { rowCount } = await sql(`delete from ${quoted(table)} where ctid = any(array(${batch}))`, [
        accountId,
        ...values,
      ]);
      await countRemoved(sql, accountId, table, rowCount ?? 0);
      return rowCount ?? 0;
    });
  }
}

/** Locks the erasure's row: instances that erase the same account take turns, step by step. */
export async function lockErasure(sql: Sql, accountId: number): Promise<void> {
  const { rows } = await sql('select true from account_erasure where account_id = $1::int for update', [accountId]);
  if (rows.length === 0) throw new Error(`The erasure of account ${accountId} has not begun.`);
}

async function readTables(sql: Sql, keep: readonly string[]): Promise<{ tables: string[]; references: Reference[] }> {
  const { rows } = await sql(
    `select c.relname::text as name from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> all($1::text[])
       and exists (select from pg_attribute a
         where a.attrelid = c.oid and a.attname = 'account_id' and a.attnum > 0 and not a.attisdropped)
     order by c.relname`,
    [['account_erasure', ...keep]],
  );
  // PostgreSQL empties the column of a reference that is `on delete set null`.
  const { rows: references } = await sql(
    `select child.relname::text as child, parent.relname::text as parent
     from pg_constraint k join pg_class child on child.oid = k.conrelid join pg_class parent on parent.oid = k.confrelid
     where k.contype = 'f' and k.confdeltype <> 'n' and k.connamespace = 'public'::regnamespace`,
  );
  return { tables: rows.map(({ name }) => name), references: references as Reference[] };
}

// Names come from the catalogue; "user" is a keyword.
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
