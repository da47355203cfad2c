// Copies a schema with its rows to another cluster. All objects come from PostgreSQL's own
// catalogue, so whatever a later version adds to deployed tables is copied too.
import { pipeline } from 'node:stream/promises';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { readSchemaDdl } from '@almanac/service-kit/postgres/schema-ddl';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { gridIndexPattern } from '../sql/identifiers.ts';

type Side = { client: pg.PoolClient; sql: Sql };

export const side = (client: pg.PoolClient): Side => ({ client, sql: pgSql(client) });

/**
 * Copies one schema in the transactions of both sides; yields each table with its number of rows
 * once they are copied. Indexes and statistics for the grid are left out: maintenance makes those
 * that pages request (`maintenance/automatic-indexes/`).
 */
export async function* copySchema(
  source: Side,
  target: Side,
  schema: string,
): AsyncGenerator<{ table: string; rows: number }> {
  const found = await readSchemaDdl(source.sql, [schema]);
  const create = async (statements: string[]) => {
    for (const ddl of statements) await target.sql(ddl);
  };
  await create([...found.schemas, ...found.functions]);
  for (const { ddl } of found.sequences) if (ddl !== null) await target.sql(ddl);
  for (const { ddl, name, columns } of found.tables) {
    await target.sql(ddl);
    yield { table: name, rows: await copyRows(source, target, name, columns) };
  }
  for (const { name } of found.sequences) await copySequence(source, target, name);
  const indexes = found.indexes.filter(({ name }) => !isGridIndex.test(name)).map(({ ddl }) => ddl);
  await create([
    ...found.owned,
    ...found.constraints,
    ...indexes,
    ...found.foreignKeys,
    ...found.views,
    ...found.triggers,
  ]);
  for (const { name } of found.tables) await target.sql(`analyze ${name}`);
}

const isGridIndex = new RegExp(gridIndexPattern);

/** Copies the rows of a query into a table of the same columns. */
export async function copyRows(
  source: Side,
  target: Side,
  table: string,
  columns: string,
  where = '',
): Promise<number> {
  const reading = source.client.query(copyTo(`copy (select ${columns} from ${table} ${where}) to stdout`));
  const writing = target.client.query(copyFrom(`copy ${table} (${columns}) from stdin`));
  await pipeline(reading, writing);
  return writing.rowCount;
}

async function copySequence(source: Side, target: Side, name: string): Promise<void> {
  const state = (await source.sql(`select last_value, is_called from ${name}`)).rows[0];
  await target.sql('select setval($1::regclass, $2::bigint, $3::boolean)', [name, state?.last_value, state?.is_called]);
}
