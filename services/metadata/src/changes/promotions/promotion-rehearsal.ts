// What a promotion would do: rehearsed and rolled back, with what would then block deploying its
// outcome.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { MetadataContext } from '../../context.ts';
import { fullDefinition } from '../../table-definitions/table-structure.ts';
import { type Transaction, transact } from '../../transaction.ts';
import { isOpen } from '../approval-states.ts';
import { planTables } from '../deployments/table-plans.ts';
import { toWantedTable, type WantedTable } from '../deployments/wanted-tables.ts';
import { shownRevision } from '../reviewed-revisions.ts';
import { type Violation, violationsOf } from '../table-diff.ts';
import { lockBranches } from './comparison/branch-sides.ts';
import type { PromotionDiff } from './comparison/comparison-schema.ts';
import { decideBy, type GivenResolution } from './comparison/conflict-resolutions.ts';
import type { PromotionPlan } from './comparison/promotion-plan.ts';
import type { Conflict } from './comparison/table-merge.ts';
import { type Comparison, compare, reviewedRevision } from './promotion-comparison.ts';
import { requireVisibleRows } from './promotion-rights.ts';
import { promotionMachine } from './promotion-states.ts';
import { writePlan } from './promotion-write.ts';
import { idsOf, recordReviewedPromotion, requireVisiblePromotion, type StoredPromotion } from './promotions.ts';
import { mergeRows, type RowsOutcome, recordFirstRows, rowRevisionsOf } from './rows/merged-rows.ts';
import type { MergedRows, RowCounts } from './rows/rows-schema.ts';

export type PromotionRehearsal = {
  diffs: PromotionDiff[];
  /** All conflicts of definitions, and the first of rows. */
  conflicts: Conflict[];
  conflict_count: number;
  violations: Violation[];
  warnings: Violation[];
  rows: MergedRows[];
  row_counts: RowCounts | null;
  /** Names what was rehearsed: `promote` can insist on it. */
  revision: string;
};

/** Thrown to roll a rehearsal back. `tables`: the outcome, as it would be deployed. */
class Rehearsed extends Error {
  readonly comparison: Comparison;
  readonly tables: WantedTable[];
  constructor(comparison: Comparison, tables: WantedTable[]) {
    super('rehearsed');
    this.comparison = comparison;
    this.tables = tables;
  }
}

/**
 * Promotes without keeping it, and asks data what would block deploying the outcome. A conflict
 * that isn't resolved stays as the target has it.
 */
export async function rehearsePromotion(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readResolutions: () => GivenResolution[],
): Promise<PromotionRehearsal> {
  const { stored } = await requireVisiblePromotion(ctx, call, id);
  if (stored.include_data) await requireVisibleRows(ctx, call, stored);
  const resolutions = readResolutions();
  if (!isOpen(promotionMachine, stored.status))
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: `Promotion is ${stored.status}; there is nothing to rehearse.`,
      params: { state: stored.status },
    });
  const rehearsed = await catchRehearsed(() => transact(ctx, (tx) => rehearse(tx, call, stored, resolutions)));
  const { comparison, tables } = rehearsed;
  const { plan } = comparison;
  const diffs = plan.tables.map(({ diff }) => diff);
  const deployment = await planTables(ctx, call, stored.to_branch_id, tables);
  const rows = stored.include_data ? await rehearseRows(ctx, call, id, plan, resolutions) : undefined;
  const revision = reviewedRevision(comparison, rows && rowRevisionsOf(rows.summaries));
  await recordReviewedPromotion(ctx, call, stored, revision);
  const rowCounts = rows ? await storeRowCounts(ctx, call, id, rows) : null;
  return {
    diffs,
    conflicts: [...plan.conflicts, ...(rows?.conflicts ?? [])],
    conflict_count: plan.conflicts.length + (rows?.conflictCount ?? 0),
    violations: [...violationsOf(diffs), ...violationsOf(deployment), ...(rows?.violations ?? [])],
    warnings: rows?.warnings ?? [],
    rows: rows?.rows ?? [],
    row_counts: rowCounts,
    revision: shownRevision(revision),
  };
}

// No change of the promotion itself, so `updated_at` stays as it is.
async function storeRowCounts(
  ctx: MetadataContext,
  { accountId }: CallContext,
  id: number,
  { summaries }: RowsOutcome,
): Promise<RowCounts> {
  const sum = (name: 'created' | 'updated' | 'deleted' | 'conflicts') =>
    summaries.reduce((total, summary) => total + summary[name], 0);
  const counted = { created: sum('created'), updated: sum('updated'), deleted: sum('deleted') };
  const counts = { ...counted, conflicts: sum('conflicts'), rehearsed_at: new Date().toISOString() };
  await prismaSql(ctx.prisma)(
    'update promotion set row_counts = $3::jsonb where id = $1::int and account_id = $2::int',
    [id, accountId, JSON.stringify(counts)],
  );
  return counts;
}

const rehearseRows = (
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  { tables }: PromotionPlan,
  resolutions: GivenResolution[],
): Promise<RowsOutcome> =>
  mergeRows(ctx, call, {
    mergeId: `rehearsal-${id}`,
    promotionId: id,
    pairs: tables.flatMap(({ source, sourceId, targetId, name }) => (source ? [{ sourceId, targetId, name }] : [])),
    resolutions,
    rehearsal: true,
  });

async function rehearse(
  tx: Transaction,
  call: CallContext,
  stored: StoredPromotion,
  resolutions: GivenResolution[],
): Promise<never> {
  const ids = idsOf(stored);
  await lockBranches(tx, call, stored, ids);
  const comparison = await compare(tx, call, stored, decideBy(resolutions));
  const { plan } = comparison;
  // A blocked plan can't be written, so it has no outcome to deploy.
  if (violationsOf(plan.tables.map(({ diff }) => diff)).length > 0) throw new Rehearsed(comparison, []);
  const written = await writePlan(tx, call, stored, plan.tables);
  if (stored.include_data) await recordFirstRows(tx, call, stored, ids);
  const where = { id: { in: written }, account_id: call.accountId };
  const drafts = await tx.table_definition.findMany({ where, ...fullDefinition, orderBy: { id: 'asc' } });
  throw new Rehearsed(comparison, drafts.map(toWantedTable));
}

async function catchRehearsed(work: () => Promise<never>): Promise<Rehearsed> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Rehearsed) return error;
    throw error;
  }
}
