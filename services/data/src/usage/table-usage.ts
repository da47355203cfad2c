// Who has used a table in the last days.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { limits } from '@almanac/service-kit/limits';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Pools } from '../postgres/pools.ts';
import { type TableAccess, type TableRequest, type TableUse, withTable } from '../tables/open-table.ts';
import { usageDays } from './usage-counter.ts';

type Day = { day: string; kind: TableUse; calls: number };
type Consumer = { user_id: number | null; application_id: number | null; calls: number; days: Day[] };

/**
 * The users and applications that used the table in the last thirty days, those with the most calls
 * first, with their calls by day and kind. This call counts nothing itself.
 */
export function getUsage(
  access: TableAccess & { pools: Pools },
  call: CallContext,
  request: TableRequest,
): Promise<{ days: number; consumers: Consumer[] }> {
  return withTable({ ...access, usage: { note: () => {} } }, call, request, 'view', async (table) => {
    const { rows } = await pgSql(access.pools.rows)(
      `select nullif(user_id, 0) as user_id, nullif(application_id, 0) as application_id, sum(calls)::float8 as calls,
         json_agg(json_build_object('day', day, 'kind', kind, 'calls', calls) order by day, kind) as days
       from table_reads where account_id = $1::int and table_definition_id = $2::int
         and day > (now() at time zone 'UTC')::date - ${usageDays}
       group by table_reads.user_id, table_reads.application_id
       order by sum(calls) desc, table_reads.user_id, table_reads.application_id limit ${limits.perPageMaximum}`,
      [table.account_id, table.table_definition_id],
    );
    return { days: usageDays, consumers: rows as Consumer[] };
  });
}
