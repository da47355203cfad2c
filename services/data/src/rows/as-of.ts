// `as_of`: the instant as of which a request reads rows, and why one can't be answered.
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { instantSchema } from '@almanac/service-kit/text/instants';
import type pg from 'pg';
import type { DeployedTable } from '../tables/table.ts';
import { type Reading, tablesOf } from './reading.ts';

/** In UTC and whole milliseconds, like the times of rows: no row has a finer one. */
export const asOfSchema = instantSchema.meta({
  type: 'string',
  format: 'date-time',
  description: 'Rows as they were at this instant, in today’s columns. In the future, or before the history kept: 400.',
});

type Answerability = { ahead: boolean; lost: boolean; since: Date };

/**
 * Whether the history of a table answers for an instant: not when it is `ahead` of the clock, nor
 * when it is `lost`, before `since`. Undefined when the table is not deployed.
 */
export async function findAnswerability(
  sql: Sql,
  table: DeployedTable,
  instant: string,
): Promise<Answerability | undefined> {
  const { rows } = await sql(
    'select $2::timestamptz > clock_timestamp() as ahead, history_since > $2::timestamptz as lost,' +
      ' history_since as since from deployed_table' +
      ' where table_definition_id = $1::int and account_id = $3::int',
    [table.table_definition_id, instant, table.account_id],
  );
  return rows[0] as Answerability | undefined;
}

/** Throws 400 when a table can't be read as of this instant, which the request names in `field`. */
export async function refuseAsOf(
  sql: Sql,
  table: DeployedTable,
  asOf: string | undefined,
  field = 'as_of',
): Promise<void> {
  if (asOf === undefined) return;
  const found = await findAnswerability(sql, table, asOf);
  if (found?.ahead)
    throw new ServiceError('bad_request', {
      code: 'out_of_range',
      message: `${field} must not be in the future.`,
      field,
    });
  if (found?.lost)
    throw new ServiceError('bad_request', {
      code: 'out_of_range',
      message: `The history of ${table.name} goes back to ${found.since.toISOString()}.`,
      field,
      params: { minimum: found.since.toISOString() },
    });
}

/** The same for every table of a statement that returned no row. */
export async function refuseUnreadable(pool: pg.Pool, table: DeployedTable, reading: Reading): Promise<void> {
  for (const each of tablesOf(table, reading)) await refuseAsOf(pgSql(pool), each, reading.asOf);
}
