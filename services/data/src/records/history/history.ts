// The history of a row: its versions, who made them and how.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { type Pools, run } from '../../postgres/pools.ts';
import { stale, type TableAccess, type TableRequest, withTable } from '../../tables/open-table.ts';
import { historySql } from './history-sql.ts';

/** A page of the versions of a row, deleted or not, newest first: the body of the answer. */
export function getHistory(
  access: TableAccess & { pools: Pools },
  call: CallContext,
  request: TableRequest,
  { id, page = 1, per_page = limits.perPageDefault }: { id: string; page?: number; per_page?: number },
): Promise<string> {
  return withTable(access, call, request, 'view', async (table) => {
    const statement = historySql(table, id, { page, perPage: Math.min(per_page, limits.perPageMaximum) });
    const [row] = await run<{ answer: string; total: number }>(access.pools.rows, statement);
    if (!row) return stale;
    if (row.total === 0) throw notFound('Record');
    return row.answer;
  });
}
