// Copies of a table in SQLite, kept as docs/how-to/keep-a-copy.md and follow-changes.md show.
import initSqlJs, { type Database } from 'sql.js';
import type { Change } from './changes-file.ts';

/** What a copy holds: the values of each row as JSON, by its key. */
export type Copy = { apply(change: Change): void; rows(): Record<string, unknown>[]; close(): void };

const keyOf = ({ values }: Change) => [String(values.code), Number(values.part)];

/** By the key: deletes a deleted row; any other row replaces the one with its key. */
export async function createCopyByKey(): Promise<Copy> {
  const database = await open('create table copy (code text, part integer, row text, primary key (code, part))');
  return {
    ...readable(database),
    apply(change) {
      if (change.isDeleted) database.run('delete from copy where code = ? and part = ?', keyOf(change));
      else
        database.run(
          `insert into copy (code, part, row) values (?, ?, ?) on conflict (code, part) do update set row = excluded.row`,
          [...keyOf(change), JSON.stringify(change.values)],
        );
    },
  };
}

/**
 * By `svc_sk`, which stays when a key changes: deletes the rows with this id or this key, then
 * inserts the row unless it was deleted.
 */
export async function createCopyBySk(): Promise<Copy> {
  const database = await open(
    'create table copy (sk integer primary key, code text, part integer, row text, unique (code, part))',
  );
  return {
    ...readable(database),
    apply(change) {
      database.run('delete from copy where sk = ? or (code = ? and part = ?)', [change.sk, ...keyOf(change)]);
      if (!change.isDeleted)
        database.run('insert into copy (sk, code, part, row) values (?, ?, ?, ?)', [
          change.sk,
          ...keyOf(change),
          JSON.stringify(change.values),
        ]);
    },
  };
}

/** By `svc_sk` alone: writers that overlap may both have a key for a moment. */
export async function createCopyOfVersions(): Promise<Copy> {
  const database = await open('create table copy (sk integer primary key, row text)');
  return {
    ...readable(database),
    apply(change) {
      if (change.isDeleted) database.run('delete from copy where sk = ?', [change.sk]);
      else
        database.run('insert into copy (sk, row) values (?, ?) on conflict (sk) do update set row = excluded.row', [
          change.sk,
          JSON.stringify(change.values),
        ]);
    },
  };
}

async function open(create: string): Promise<Database> {
  const { Database } = await initSqlJs();
  const database = new Database();
  database.run(create);
  return database;
}

const readable = (database: Database) => ({
  rows: () => (database.exec('select row from copy')[0]?.values ?? []).map(([row]) => JSON.parse(String(row))),
  close: () => database.close(),
});
