// `as_of`: the instant at which rows are asked for, as requests say it, and why one can't be answered.
import { ServiceError } from '@almanac/service-kit/errors';
import { instantSchema } from '@almanac/service-kit/text/instants';
import type { Statement } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';

/** In UTC and of whole milliseconds, as the times of rows are: as of a finer instant there is nothing else. */
export const asOfSchema = instantSchema.meta({
  type: 'string',
  format: 'date-time',
  description: 'Rows as they were at this instant, in today’s columns. In the future, or before the history kept: 400.',
});

type Why = { ahead: boolean; lost: boolean; since: Date };
type Read = (statement: Statement) => Promise<Why[]>;

/** Why an instant can't be answered: it is to come, or lost, as the history goes back to `since`; undefined: the table is gone. */
export async function askHistory(read: Read, table: DeployedTable, instant: string): Promise<Why | undefined> {
  const [why] = await read({
    text:
      'select $2::timestamptz > clock_timestamp() as ahead, history_since > $2::timestamptz as lost,' +
      ' history_since as since from deployed_table' +
      ' where table_definition_id = $1::int and account_id = $3::int',
    values: [table.table_definition_id, instant, table.account_id],
  });
  return why;
}

/** Throws 400 when it is the instant that keeps a table from answering. */
export async function refuseAsOf(read: Read, table: DeployedTable, asOf: string | undefined): Promise<void> {
  if (asOf === undefined) return;
  const why = await askHistory(read, table, asOf);
  if (why?.ahead) throw new ServiceError('bad_request', 'as_of must not be in the future.');
  if (why?.lost)
    throw new ServiceError('bad_request', `The history of ${table.name} goes back to ${why.since.toISOString()}.`);
}
