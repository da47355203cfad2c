// The rows of a promotion: which tables have any to merge, what data is asked, and what people are told of it.
import type { MergeRowsResult__Output } from '@almanac/protos/generated/almanac/data/v1/MergeRowsResult.ts';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import type { Transaction } from '../../transaction.ts';
import { type GivenResolution, openSentence, unmatchedSentence } from './comparison/conflict-resolutions.ts';
import { isAboutRows, rowResolution, shownRowConflict } from './comparison/row-conflicts.ts';
import type { Conflict } from './comparison/table-merge.ts';
import type { MergedRows } from './promotion-schema.ts';
import type { StoredPromotion } from './promotions.ts';

const mergeDeadlineMs = 5 * 60_000;
// A rehearsal shows more of them.
const maxListedConflicts = 100;

/** A table on both branches; null on the target where it is new. */
export type RowPair = { sourceId: number; targetId: number | null; name: string };
type Told = { table: string; message: string; rows: number };

/** What came of rows, or would come of them. */
export type RowsOutcome = {
  status: 'merged' | 'rehearsed' | 'refused';
  rows: MergedRows[];
  /** The first of them. */
  conflicts: Conflict[];
  conflictCount: number;
  violations: Told[];
  warnings: Told[];
  /** Why nothing was merged, as far as conflicts go: a sentence each. */
  unsettled: string[];
};

type Asked = { mergeId: string; pairs: RowPair[]; resolutions: GivenResolution[]; rehearsal: boolean };

/** Has data merge the rows of those tables that are in service on both branches. */
export async function askToMergeRows(
  ctx: MetadataContext,
  caller: RpcCaller,
  { mergeId, pairs, resolutions, rehearsal }: Asked,
): Promise<RowsOutcome> {
  const given = resolutions.filter(isAboutRows);
  const { both, warnings } = await findServed(ctx, caller, pairs);
  const result = await ctx.data.MergeRows(
    caller,
    { merge_id: mergeId, pairs: both, resolutions: given.map(rowResolution), rehearsal },
    { deadlineMs: mergeDeadlineMs },
  );
  const conflicts = result.conflicts.map(shownRowConflict);
  return {
    status: result.status as RowsOutcome['status'],
    rows: result.tables.map(({ table, created, updated, deleted }) => ({ table, created, updated, deleted })),
    conflicts,
    conflictCount: result.conflict_count,
    violations: result.violations,
    warnings: [...warnings, ...result.warnings],
    unsettled: describeUnsettled(result, given, conflicts),
  };
}

function describeUnsettled(
  { strange, undecided_count }: MergeRowsResult__Output,
  given: GivenResolution[],
  conflicts: Conflict[],
): string[] {
  const open = conflicts.filter(({ resolution }) => resolution === null);
  const told = open.slice(0, maxListedConflicts);
  const more = undecided_count - told.length;
  return [
    ...strange.flatMap((place) => (given[place] ? [unmatchedSentence(given[place])] : [])),
    ...told.map(openSentence),
    ...(more > 0 ? [`${more} more conflicts of rows are not listed; a rehearsal shows the first 1,000`] : []),
  ];
}

// Rows are where tables are in service. One that isn't yet on the target begins with the source's rows when it is (`recordFirstRows`).
async function findServed(ctx: MetadataContext, { accountId }: RpcCaller, pairs: RowPair[]) {
  const ids = pairs.flatMap(({ sourceId, targetId }) => [sourceId, targetId ?? 0]);
  const found = await ctx.prisma.deployed_table_definition.findMany({
    where: { account_id: accountId, id: { in: ids } },
    select: { id: true },
  });
  const served = new Set<number | null>(found.map(({ id }) => id));
  const tell = (table: string, message: string): Told => ({ table, message, rows: 0 });
  return {
    both: pairs
      .filter(({ sourceId, targetId }) => served.has(sourceId) && served.has(targetId))
      .map(({ sourceId, targetId }) => ({ source_table_id: sourceId, target_table_id: targetId as number })),
    warnings: pairs.flatMap(({ sourceId, targetId, name }) => {
      if (!served.has(sourceId))
        return [tell(name, 'The table is not deployed on the source branch and has no rows there.')];
      if (served.has(targetId)) return [];
      return [
        tell(name, 'The table is not deployed on the target branch; once it is, it begins with the source’s rows.'),
      ];
    }),
  };
}

/**
 * Lets tables that are not in service on the target yet begin with the rows of those they are promoted from. Whoever proposed that has asked
 * for the rows: an approver who promotes or deploys it need not be able to view tables of others' branches.
 */
export async function recordFirstRows(
  tx: Transaction,
  { accountId }: RpcCaller,
  { to_branch_id: toBranchId, created_by: askedBy }: Pick<StoredPromotion, 'to_branch_id' | 'created_by'>,
  sourceIds: number[],
): Promise<void> {
  await tx.$executeRaw`
    update table_definition t set rows_from_id = s.id, rows_asked_by = ${askedBy}::int
    from deployed_table_definition s
    where s.account_id = ${accountId} and s.id = any(${sourceIds}::int[]) and t.account_id = ${accountId}
      and t.branch_id = ${toBranchId} and t.lineage_id = s.lineage_id and t.rows_from_id is null
      and not exists (select from deployed_table_definition d where d.id = t.id)`;
}
