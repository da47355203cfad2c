// The activity of a table, from the versions of its rows: what was changed, by whom and how, and a
// timeline of it. It goes back as far as the history is kept.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';
import { inTurn, type PageState } from '../pages/pages.ts';
import { runCancellable } from '../postgres/cancellable.ts';
import type { Pools } from '../postgres/pools.ts';
import { fieldsOf } from '../rows/fields.ts';
import { stale, type TableAccess, type TableRequest, withTable } from '../tables/open-table.ts';
import { type ActivityPlan, activitySql, type Period, type spans, timelineSql } from './activity-sql.ts';

type Access = TableAccess & { pools: Pools; pages: PageState };
/** `signal`: aborted when the caller no longer waits. */
type Request = TableRequest & { signal: AbortSignal };

/** `column`: its name. */
export type ActivityRequest = Omit<ActivityPlan, 'column'> & {
  column?: string | undefined;
  page?: number | undefined;
  per_page?: number | undefined;
};

/** A page of the versions of all rows, newest first: the body of the answer. 400 for bad input. */
export function listActivity(
  access: Access,
  call: CallContext,
  { signal, ...table }: Request,
  { column: name, page = 1, per_page = limits.perPageDefault, ...asked }: ActivityRequest,
): Promise<string> {
  return withTable(access, call, table, 'view', async (opened) => {
    const problems = periodProblems(asked);
    const column = name === undefined ? undefined : fieldsOf(opened).get(name)?.column;
    if (name !== undefined && !column)
      problems.push({
        code: 'unknown_property',
        message: `${name.slice(0, 80)} is not a column of this table.`,
        field: 'column',
      });
    if (problems.length > 0) throw new ServiceError('bad_request', problems);
    const perPage = Math.min(per_page, limits.perPageMaximum);
    const statement = activitySql(opened, { ...asked, column }, { page, perPage });
    const [row] = await inTurn(access.pages, opened, () =>
      runCancellable<{ answer: string }>(access.pools, statement, signal),
    );
    return row?.answer ?? stale;
  });
}

/**
 * How many rows were created, updated and deleted in each span that has any, as the body of the
 * answer. 400 for bad input, and for more spans than an answer has.
 */
export function getTimeline(
  access: Access,
  call: CallContext,
  { signal, ...table }: Request,
  { bucket, ...period }: Period & { bucket: (typeof spans)[number] },
): Promise<string> {
  return withTable(access, call, table, 'view', async (opened) => {
    const problems = periodProblems(period);
    if (problems.length > 0) throw new ServiceError('bad_request', problems);
    const statement = timelineSql(opened, period, bucket, limits.timelineBuckets);
    const [row] = await inTurn(access.pages, opened, () =>
      runCancellable<{ answer: string; spans: number }>(access.pools, statement, signal),
    );
    if (!row) return stale;
    if (row.spans > limits.timelineBuckets)
      throw new ServiceError('bad_request', {
        code: 'out_of_range',
        message: `The period has more than ${limits.timelineBuckets} buckets; choose a longer bucket or a shorter period.`,
        field: 'bucket',
        params: { maximum: limits.timelineBuckets },
      });
    return row.answer;
  });
}

function periodProblems({ from, to }: Period): Problem[] {
  if (from === undefined || to === undefined || Date.parse(from) < Date.parse(to)) return [];
  return [{ code: 'out_of_range', message: 'to must be later than from.', field: 'to' }];
}
