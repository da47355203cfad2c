// Writes one database into a file as of a snapshot, and reads it back into an empty one. Both use
// connections alone: no program of PostgreSQL has to be there, in the server's version or at all.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { hasSqlState } from '@almanac/service-kit/postgres/errors';
import { findUncopied, readSchemaDdl, type SchemaDdl } from '@almanac/service-kit/postgres/schema-ddl';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { OperatorError } from '../../operator.ts';
import type { Checked } from './checked.ts';
import { connect, type Database } from './connect.ts';
import { type DumpWriter, readDump, writeDump } from './dump-file.ts';

/** Tables changed between the snapshot and their locks, so another instant is needed. */
export class SchemaChanged extends Error {}

/** `leftOut`: what is not Almanac's, such as an operator's own types. */
export type Dumped = Checked & { leftOut: string[] };

// Without the views for SQL clients, which data makes again.
const schemasSql = `
  select nspname as name from pg_namespace
  where nspname <> 'information_schema' and nspname !~ '^pg_' and nspname !~ '^v_[0-9]+$' order by nspname`;

// PostgreSQL renders objects as they are now; their versions are as of the snapshot. A table that
// was rewritten, truncated or replaced has another file.
const versionsSql = [
  ...['pg_proc', 'pg_trigger', 'pg_rewrite', 'pg_attrdef'].map((name) => ({ name, version: 'xmin', where: 'true' })),
  { name: 'pg_class', version: 'relfilenode', where: "relkind = 'r' and relpersistence = 'p'" },
]
  .map(
    ({ name, version, where }) =>
      `select '${name} ' || oid || ' ' || ${version} as version from ${name} where ${where}`,
  )
  .join(' union all ');

const settings = {
  search_path: '', // every name is qualified
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  timezone: 'UTC',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  check_function_bodies: 'off',
};

/** Locks the tables against deployments, then writes everything. */
export async function dumpDatabase(database: Database & { snapshot: string }, file: string): Promise<Dumped> {
  const { name, url, snapshot } = database;
  const client = await connect(database);
  try {
    const sql = pgSql(client);
    for (const [setting, value] of Object.entries(settings))
      await sql('select set_config($1, $2, false)', [setting, value]);
    await sql('begin isolation level repeatable read read only');
    await sql(`set transaction snapshot '${snapshot.replaceAll("'", '')}'`);
    const { schemas, ddl } = await lockSchema(sql, { name, url });
    const uncopied = await findUncopied(sql, schemas);
    const needed = uncopied.filter(({ isHarmless }) => !isHarmless);
    if (needed.length > 0)
      throw new OperatorError(
        `The database of ${name} has tables that a backup can't hold: ${needed.map((each) => each.name).join(', ')}.`,
      );
    const checked = await writeDump(file, (writer) => writeDatabase({ client, sql, ddl }, writer));
    return { ...checked, leftOut: uncopied.map((each) => each.name) };
  } finally {
    await client.end();
  }
}

// A later transaction, which begins when the tables are locked, has to see all that the snapshot
// shows, unchanged. What is new since then is not in the dump.
async function lockSchema(sql: Sql, database: Database) {
  const schemas = (await sql(schemasSql)).rows.map(({ name }) => name as string);
  const read = async (by: Sql) => ({
    ddl: await readSchemaDdl(by, schemas),
    versions: (await by(versionsSql)).rows.map(({ version }) => version as string),
  });
  try {
    const { ddl, versions } = await read(sql);
    const tables = ddl.tables.map((table) => table.name);
    if (tables.length > 0) await sql(`lock table ${tables.join(', ')} in access share mode`);
    const later = await connect(database);
    try {
      const sqlLater = pgSql(later);
      await sqlLater("select set_config('search_path', '', false)");
      const now = await read(sqlLater);
      const present = new Set([...now.versions, ...itemsOf(now.ddl)]);
      if (![...versions, ...itemsOf(ddl)].every((item) => present.has(item))) throw new SchemaChanged(database.name);
    } finally {
      await later.end();
    }
    return { schemas, ddl };
  } catch (error) {
    if (hasSqlState(error, 'undefined_table', 'undefined_object', 'internal_error'))
      throw new SchemaChanged(database.name, { cause: error });
    throw error;
  }
}

const itemsOf = (ddl: SchemaDdl) => Object.values(ddl).flatMap((items) => items.map((item) => JSON.stringify(item)));

type Source = { client: pg.Client; sql: Sql; ddl: SchemaDdl };

async function writeDatabase({ client, sql, ddl }: Source, writer: DumpWriter): Promise<void> {
  const write = async (statements: string[]) => {
    for (const statement of statements) await writer.statement(statement);
  };
  await write(Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`));
  await write([...ddl.schemas, ...ddl.extensions, ...ddl.functions]);
  await write(ddl.sequences.flatMap((sequence) => sequence.ddl ?? []));
  await write(ddl.tables.map((table) => table.ddl));
  await write(ddl.owned);
  for (const { name, columns } of ddl.tables) {
    if (columns === '') continue;
    const rows = client.query(copyTo(`copy ${name} (${columns}) to stdout`));
    await writer.rows(`copy ${name} (${columns}) from stdin`, rows);
  }
  // Sequences have no snapshot: read last, they lead no row's id.
  for (const { name } of ddl.sequences) {
    const [state] = (await sql(`select last_value::text as value, is_called from ${name}`)).rows;
    await writer.statement(`select setval(${literal(name)}, ${state?.value}, ${state?.is_called})`);
  }
  await write(ddl.constraints);
  await write(ddl.indexes.map((index) => index.ddl));
  await write([...ddl.statistics, ...ddl.foreignKeys, ...ddl.views, ...ddl.triggers]);
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Fills an empty database from such a file, in one transaction. */
export async function restoreDatabase(database: Database, file: string): Promise<void> {
  const client = await connect(database);
  try {
    await client.query('begin');
    for await (const part of readDump(file)) {
      if ('statement' in part) await client.query({ text: part.statement, queryMode: 'extended' } as pg.QueryConfig);
      else await pipeline(Readable.from(part.rows, { objectMode: false }), client.query(copyFrom(part.copy)));
    }
    await client.query('commit');
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`The database of ${database.name} can't be restored: ${(error as Error).message}`);
  } finally {
    await client.end();
  }
}
