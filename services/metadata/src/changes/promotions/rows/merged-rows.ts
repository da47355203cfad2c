// The rows of a promotion: which tables have any to merge, the merge by data, and its messages.
import type { MergeRowsResult__Output } from '@almanac/protos/generated/almanac/data/v1/MergeRowsResult.ts';
import type { MergeSummary__Output } from '@almanac/protos/generated/almanac/data/v1/MergeSummary.ts';
import type { Problem } from '@almanac/service-kit/problems';
import { gatherChunks } from '@almanac/service-kit/rpc/chunks';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../../context.ts';
import type { Transaction } from '../../../transaction.ts';
import type { RowRevisions } from '../../reviewed-revisions.ts';
import type { Violation } from '../../table-diff.ts';
import { type GivenResolution, openProblem, unmatchedProblem } from '../comparison/conflict-resolutions.ts';
import { isAboutRows, keyTexts, readRowConflict, rowResolution } from '../comparison/row-conflicts.ts';
import type { Conflict } from '../comparison/table-merge.ts';
import type { Deciding, MergedRows } from './rows-schema.ts';

/** How long a merge may take, and what is read before it. */
export const mergeDeadlineMs = 5 * 60_000;
/** The rows of a million differences take longer than an ordinary answer. */
const readDeadlineMs = 15_000;
// A refusal lists fewer conflicts than a rehearsal.
const maxListedConflicts = 100;

/** A table on both branches; null on the target where it is new. */
export type RowPair = { sourceId: number; targetId: number | null; name: string };

/** The outcome of merging rows, or of a rehearsal of it. */
export type RowsOutcome = {
  status: 'merged' | 'rehearsed' | 'refused';
  rows: MergedRows[];
  /** The first of them. */
  conflicts: Conflict[];
  conflictCount: number;
  violations: Violation[];
  warnings: Violation[];
  /** A problem for each open conflict and each unmatched resolution. */
  conflictProblems: Problem[];
  /** What the rows are that would change; of a rehearsal. */
  summaries: RowSummary[];
  /** The names of tables whose rows are not those of the request's revisions. */
  changedTables: string[];
};

type MergeRequest = {
  mergeId: string;
  /** Rows that are rejected in it are left out. */
  promotionId: number;
  pairs: RowPair[];
  resolutions: GivenResolution[];
  rehearsal: boolean;
  /** Merges these rows only. */
  revisions?: RowRevisions | undefined;
};

/** Has data merge the rows of the tables that are in service on both branches. */
export async function mergeRows(
  ctx: MetadataContext,
  caller: RpcCaller,
  { mergeId, promotionId, pairs, resolutions, rehearsal, revisions }: MergeRequest,
): Promise<RowsOutcome> {
  const given = resolutions.filter(isAboutRows);
  const { both, warnings } = await findDeployedPairs(ctx, caller, pairs);
  const result = await ctx.data.MergeRows(
    caller,
    {
      merge_id: mergeId,
      pairs: both,
      resolutions: given.map(rowResolution),
      rehearsal,
      revisions: (revisions ?? []).map(([source_table_id, revision]) => ({ source_table_id, revision })),
      has_revisions: revisions !== undefined,
      promotion_id: promotionId,
    },
    { deadlineMs: mergeDeadlineMs },
  );
  const conflicts = result.conflicts.map(readRowConflict);
  return {
    status: result.status as RowsOutcome['status'],
    rows: result.tables.map(({ table, created, updated, deleted }) => ({ table, created, updated, deleted })),
    conflicts,
    conflictCount: result.conflict_count,
    violations: result.violations,
    warnings: [...warnings, ...result.warnings],
    conflictProblems: describeConflicts(result, given, conflicts),
    summaries: result.summaries,
    changedTables: pairs.filter(({ sourceId }) => result.changed_tables.includes(sourceId)).map(({ name }) => name),
  };
}

/** What data counts of the rows that merging a table would change. */
type RowSummary = MergeSummary__Output;

export const rowRevisionsOf = (summaries: RowSummary[]): RowRevisions =>
  summaries
    .map(({ source_table_id, revision }): RowRevisions[number] => [source_table_id, revision])
    .sort(([a], [b]) => a - b);

/** Tables of a promotion. */
type Promoted = { promotionId: number; pairs: RowPair[] };

/** The revisions of the rows that would change now; `deadlineMs`: how long data may take. */
export async function readRowRevisions(
  ctx: MetadataContext,
  caller: RpcCaller,
  promoted: Promoted,
  options?: { deadlineMs: number },
): Promise<RowRevisions> {
  return rowRevisionsOf(await summarize(ctx, caller, promoted, options));
}

/** How many rows would change now or are in conflict, by the sources of tables with a merge. */
export async function countMergedRows(
  ctx: MetadataContext,
  caller: RpcCaller,
  pairs: RowPair[],
): Promise<Map<number, number>> {
  const summaries = await summarize(ctx, caller, { promotionId: noPromotion, pairs });
  return new Map(
    summaries.map(({ source_table_id: id, created, updated, deleted }) => [id, created + updated + deleted]),
  );
}

const noPromotion = 0;

async function summarize(
  ctx: MetadataContext,
  caller: RpcCaller,
  { promotionId, pairs }: Promoted,
  { deadlineMs } = { deadlineMs: readDeadlineMs },
): Promise<RowSummary[]> {
  const { both } = await findDeployedPairs(ctx, caller, pairs);
  if (both.length === 0) return [];
  const request = { pairs: both, promotion_id: promotionId };
  return (await ctx.data.SummarizeMerge(caller, request, { deadlineMs })).summaries;
}

/** Which rows of the tables: by kind and decision, with a conflict or without. */
type RowFilter = { kind?: string | undefined; conflict?: boolean | undefined; decision?: string | undefined };

export type RowWindow = RowFilter & { startRow: number; endRow: number; exactNumbers: boolean };

const filterRequest = ({ kind = '', conflict, decision = '' }: RowFilter) => ({
  kind,
  decision,
  ...(conflict === undefined ? {} : { conflict }),
});

/** A window of the rows that would change, as the body of the answer. */
export async function readRows(
  ctx: MetadataContext,
  caller: RpcCaller,
  { promotionId, pairs }: Promoted,
  { startRow, endRow, exactNumbers, ...filter }: RowWindow,
): Promise<Buffer> {
  const { both } = await findDeployedPairs(ctx, caller, pairs);
  const window = { start_row: startRow, end_row: endRow, exact_numbers: exactNumbers };
  const request = { pairs: both, promotion_id: promotionId, ...filterRequest(filter), ...window };
  return gatherChunks(ctx.data.ReadMergedRows(caller, request, { deadlineMs: readDeadlineMs }));
}

const decisionOf = { accept: 'accepted', reject: 'rejected', undecided: 'undecided' } as const;

/** Has data decide rows that would change, all or none; how many. */
export async function decideRows(
  ctx: MetadataContext,
  caller: RpcCaller,
  { promotionId, pairs, decisions }: Promoted & { decisions: Deciding[] },
): Promise<{ decided_count: number }> {
  const { both } = await findDeployedPairs(ctx, caller, pairs);
  const request = {
    promotion_id: promotionId,
    pairs: both,
    decisions: decisions.map(({ rows = [], filter, decision, comment }) => ({
      rows: rows.map(({ table_definition_id, key }) => ({ source_table_id: table_definition_id, key: keyTexts(key) })),
      ...(filter && { filter: { source_table_id: filter.table_definition_id ?? 0, ...filterRequest(filter) } }),
      decision: decisionOf[decision],
      ...(comment ? { comment } : {}),
    })),
  };
  const { decided_count } = await ctx.data.DecideMergedRows(caller, request, { deadlineMs: readDeadlineMs });
  return { decided_count };
}

type DecisionWindow = {
  promotionId: number;
  sourceIds: number[];
  decision: string | undefined;
  startRow: number;
  endRow: number;
};

/** A window of the decisions of a promotion, as the body of the answer. */
export function readDecisions(
  ctx: MetadataContext,
  caller: RpcCaller,
  { promotionId, sourceIds, decision = '', startRow, endRow }: DecisionWindow,
): Promise<Buffer> {
  const window = { start_row: startRow, end_row: endRow };
  const request = { promotion_id: promotionId, source_table_ids: sourceIds, decision, ...window };
  return gatherChunks(ctx.data.ListRowDecisions(caller, request));
}

function describeConflicts(
  { unmatched_resolutions: unmatched, undecided_count }: MergeRowsResult__Output,
  given: GivenResolution[],
  conflicts: Conflict[],
): Problem[] {
  const open = conflicts.filter(({ resolution }) => resolution === null).slice(0, maxListedConflicts);
  const more = undecided_count - open.length;
  return [
    ...unmatched.flatMap((place) => (given[place] ? [unmatchedProblem(given[place])] : [])),
    ...open.map(openProblem),
    ...(more > 0 ? [moreConflicts(more)] : []),
  ];
}

const moreConflicts = (count: number): Problem => ({
  code: 'more_problems',
  message: `${count} more conflicts of rows are not listed; a rehearsal shows the first 1,000`,
  params: { count },
});

// Only tables in service have rows. A table that is not yet in service on the target begins with
// the source's rows once it is (`recordFirstRows`).
async function findDeployedPairs(ctx: MetadataContext, { accountId }: RpcCaller, pairs: RowPair[]) {
  const ids = pairs.flatMap(({ sourceId, targetId }) => [sourceId, targetId ?? 0]);
  const found = await ctx.prisma.deployed_table_definition.findMany({
    where: { account_id: accountId, id: { in: ids } },
    select: { id: true },
  });
  const deployed = new Set<number | null>(found.map(({ id }) => id));
  const warn = (table: string, message: string): Violation => ({ table, message, rows: 0 });
  return {
    both: pairs
      .filter(({ sourceId, targetId }) => deployed.has(sourceId) && deployed.has(targetId))
      .map(({ sourceId, targetId }) => ({ source_table_id: sourceId, target_table_id: targetId as number })),
    warnings: pairs.flatMap(({ sourceId, targetId, name }) => {
      if (!deployed.has(sourceId))
        return [warn(name, 'The table is not deployed on the source branch and has no rows there.')];
      if (deployed.has(targetId)) return [];
      return [
        warn(name, 'The table is not deployed on the target branch; once it is, it begins with the source’s rows.'),
      ];
    }),
  };
}

/**
 * Lets tables that are not in service on the target yet begin with the rows of those they are
 * promoted from. The creator of the promotion counts as the user who requested the rows: an
 * approver who promotes or deploys it need not be able to view tables of others' branches.
 */
export async function recordFirstRows(
  tx: Transaction,
  { accountId }: RpcCaller,
  { to_branch_id: toBranchId, created_by: requestedBy }: { to_branch_id: number; created_by: number | null },
  sourceIds: number[],
): Promise<void> {
  await tx.$executeRaw`
    update table_definition t set rows_from_id = s.id, rows_asked_by = ${requestedBy}::int
    from deployed_table_definition s
    where s.account_id = ${accountId} and s.id = any(${sourceIds}::int[]) and t.account_id = ${accountId}
      and t.branch_id = ${toBranchId} and t.lineage_id = s.lineage_id and t.rows_from_id is null
      and not exists (select from deployed_table_definition d where d.id = t.id)`;
}
