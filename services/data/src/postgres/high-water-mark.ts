// High-water marks: the time before which no change can appear any more. Why a chain of incremental
// exports loses no row: the svc_updated_at of a row is read from the clock inside its transaction,
// after the transaction shows in pg_stat_activity, and cut to milliseconds. The mark takes the
// clock first and then looks for open transactions. One that it sees has written nothing older than
// its own start. One that it doesn't see will read the clock later, or has committed before the
// snapshot that is taken after the mark. The mark is the millisecond before: others may still write
// in that of the clock.

import { ServiceError } from '@almanac/service-kit/errors';
import type { Sql } from '@almanac/service-kit/postgres/database';
import { isInFuture } from '@almanac/service-kit/text/instants';
import { quietName } from './pools.ts';

/**
 * The present mark, in ISO 8601 with milliseconds. Read it before the snapshot is taken, and
 * outside its transaction.
 */
export async function readHighWaterMark(sql: Sql): Promise<string> {
  const { rows } = await sql(
    `with clock as materialized (select clock_timestamp() as at)
     select to_char(date_trunc('milliseconds', least(at, oldest)) - interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as mark
     from clock cross join lateral (
       select min(a.xact_start) as oldest from pg_stat_activity a
       where clock.at is not null and a.datname = current_database() and a.backend_type = 'client backend'
         and a.pid <> pg_backend_pid() and not starts_with(a.application_name, $1)
     ) open`,
    [quietName],
  );
  return rows[0]?.mark as string;
}

/**
 * 400 for a mark that is in the future by the clock of PostgreSQL, which gives rows their times:
 * the changes until then would be lost. The marks of exports have passed; some skew of clocks is
 * allowed for rows that have moved to another cluster since.
 */
export async function refuseFutureMark(sql: Sql, mark: string, field = 'high_water_mark'): Promise<void> {
  const { rows } = await sql('select clock_timestamp() as now');
  if (isInFuture(mark, rows[0]?.now))
    throw new ServiceError('bad_request', {
      code: 'out_of_range',
      message: `${field} must not be in the future: use the next_high_water_mark of an export.`,
      field,
    });
}
