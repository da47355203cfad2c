// Keeps copies of tables in a SQLite file equal to the tables, from their change feeds:
//
//   node keep-a-copy.ts copy.sqlite countries currencies languages
//
// with ALMANAC_BASE_URL, ALMANAC_CLIENT_ID and ALMANAC_CLIENT_SECRET. It may be stopped at any time
// and goes on where it was. With --once it ends when the copies are up to date, for a timer.
// docs/how-to/follow-changes.md explains it.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { AlmanacError, type Change, type Client, createClient, type Row, type Schemas } from '@almanac/client';

type Table = Schemas['DeployedTableDefinition'];

/** A copy of one table: its rows, and the cursor of the feed that they are from. */
class Copy {
  readonly columns: string[];
  private readonly database: DatabaseSync;
  private readonly table: Table;
  private readonly key: string[];

  constructor(database: DatabaseSync, table: Table) {
    this.database = database;
    this.table = table;
    this.columns = table.column_definitions.map(({ name }) => name);
    const key = table.column_definitions.filter(({ is_primary_key }) => is_primary_key).map(({ name }) => name);
    this.key = key.length > 0 ? key : ['svc_sk'];
    database.exec('create table if not exists feeds (name text primary key, columns text, cursor text)');
  }

  /** Where to go on; undefined when there is no copy of the present columns yet. */
  get cursor(): string | undefined {
    const found = this.database.prepare('select columns, cursor from feeds where name = ?').get(this.table.key);
    return found?.columns === JSON.stringify(this.columns) ? String(found.cursor) : undefined;
  }

  /** Replaces the copy by all rows, and the cursor by the one that goes on from them. */
  replace(rows: Iterable<Row>, cursor: string): void {
    const columns = ['svc_sk', ...this.columns].map(quote).join(', ');
    this.inTransaction(cursor, () => {
      this.database.exec(`drop table if exists ${quote(this.table.key)}`);
      this.database.exec(
        `create table ${quote(this.table.key)} (${columns}, primary key (${this.key.map(quote).join(', ')}))`,
      );
      for (const row of rows) this.put(row);
    });
  }

  /** Applies the changes of a page in their order, and keeps its cursor with them. */
  apply(changes: Change[], cursor: string): void {
    this.inTransaction(cursor, () => {
      for (const { change, key, record } of changes) {
        if (change === 'deleted') this.remove(key);
        else this.put(record);
      }
    });
  }

  private put(row: Row): void {
    const names = ['svc_sk', ...this.columns];
    this.database
      .prepare(`insert or replace into ${quote(this.table.key)} values (${names.map(() => '?').join(', ')})`)
      .run(...names.map((name) => cell(row[name])));
  }

  private remove(key: Record<string, unknown>): void {
    const condition = this.key.map((name) => `${quote(name)} = ?`).join(' and ');
    this.database
      .prepare(`delete from ${quote(this.table.key)} where ${condition}`)
      .run(...this.key.map((name) => cell(key[name])));
  }

  private inTransaction(cursor: string, work: () => void): void {
    this.database.exec('begin');
    try {
      work();
      this.database
        .prepare('insert or replace into feeds values (?, ?, ?)')
        .run(this.table.key, JSON.stringify(this.columns), cursor);
      this.database.exec('commit');
    } catch (error) {
      this.database.exec('rollback');
      throw error;
    }
  }
}

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** A value of a record as SQLite holds it. Decimals and bigints are texts with all their digits. */
function cell(value: unknown): SQLInputValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' ? JSON.stringify(value) : (value as SQLInputValue);
}

/** Follows a table for ever, or until its copy is up to date. */
async function keepCopy(almanac: Client, database: DatabaseSync, table: Table, once: boolean): Promise<void> {
  const copy = new Copy(database, table);
  const after = copy.cursor ?? (await copyAll(almanac, copy, table));
  for await (const { data, cursor, has_more } of almanac.changes({ table_definition_id: table.id }, { after })) {
    const [first] = data;
    if (first && !hasColumns(first.record, copy.columns)) throw new OutdatedCopy();
    copy.apply(data, cursor);
    if (once && !has_more) return;
  }
}

/** The table has other columns than its copy. */
class OutdatedCopy extends Error {}

const hasColumns = (record: Row, columns: string[]) =>
  JSON.stringify(Object.keys(record).filter((name) => !name.startsWith('svc_'))) === JSON.stringify(columns);

/** Copies all rows by a full export; answers the cursor that goes on from it. */
async function copyAll(almanac: Client, copy: Copy, table: Table): Promise<string> {
  const given = { table_definition_key: table.key, branch_id: table.branch_id };
  const done = await almanac.exportTable({ ...given, pattern: 'full', format: 'ndjson', exact_numbers: true });
  const cursor = done.next_high_water_mark;
  if (done.status !== 'completed' || !cursor) throw new Error(`The export of ${table.key} is ${done.status}.`);
  const file = await (await almanac.download(done.id)).text();
  const lines = file.split('\n').filter((line) => line !== '');
  copy.replace(
    lines.map((line) => JSON.parse(line) as Row),
    cursor,
  );
  return cursor;
}

/** Begins again where only a full copy helps: other columns, or a cursor that is too old. */
async function keep(almanac: Client, database: DatabaseSync, key: string, once: boolean): Promise<void> {
  for (;;) {
    const { data: branches } = await almanac.get('/branches', { params: { query: { q: ['name:eq:main'] } } });
    const query = { branch_id: branches[0]?.id ?? 0, q: [`key:eq:${key}`] };
    const { data: found } = await almanac.get('/deployed_table_definitions', { params: { query } });
    const [table] = found;
    if (!table) throw new Error(`There is no table ${key}.`);
    try {
      return await keepCopy(almanac, database, table, once);
    } catch (error) {
      const isTooOld = error instanceof AlmanacError && error.status === 410;
      if (!isTooOld && !(error instanceof OutdatedCopy)) throw error;
      database.prepare('delete from feeds where name = ?').run(key);
    }
  }
}

const words = process.argv.slice(2);
const [file, ...keys] = words.filter((word) => word !== '--once');
if (file === undefined || keys.length === 0) throw new Error('Use: keep-a-copy.ts FILE TABLE... [--once]');
const { ALMANAC_BASE_URL = '', ALMANAC_CLIENT_ID = '', ALMANAC_CLIENT_SECRET = '' } = process.env;
const almanac = createClient({
  baseUrl: ALMANAC_BASE_URL,
  clientId: ALMANAC_CLIENT_ID,
  clientSecret: ALMANAC_CLIENT_SECRET,
});
const database = new DatabaseSync(file);
await Promise.all(keys.map((key) => keep(almanac, database, key, words.includes('--once'))));
database.close();
