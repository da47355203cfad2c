// A promotion that is rolled back: what it would do, and what would then stand in the way of deploying its outcome.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { MetadataContext } from '../../context.ts';
import { fullDefinition } from '../../table-definitions/table-structure.ts';
import { type Transaction, transact } from '../../transaction.ts';
import { planTables } from '../deployments/table-plans.ts';
import { toWantedTable, type WantedTable } from '../deployments/wanted-tables.ts';
import { type Violation, violationsOf } from '../table-diff.ts';
import { lockBranches } from './comparison/branch-sides.ts';
import type { PromotionDiff } from './comparison/comparison-schema.ts';
import { decideBy, type GivenResolution } from './comparison/conflict-resolutions.ts';
import type { PromotionPlan } from './comparison/promotion-plan.ts';
import type { Conflict } from './comparison/table-merge.ts';
import { requireVisibleRows } from './promotion-row-visibility.ts';
import { askToMergeRows, type RowsOutcome, recordFirstRows } from './promotion-rows.ts';
import type { MergedRows } from './promotion-schema.ts';
import { isOpen } from './promotion-states.ts';
import { writePlan } from './promotion-write.ts';
import {
  type PlannedPromotion,
  planStored,
  recordReviewedPromotion,
  requireVisiblePromotion,
  type StoredPromotion,
} from './promotions.ts';

export type PromotionRehearsal = {
  diffs: PromotionDiff[];
  /** All of definitions, and the first of rows. */
  conflicts: Conflict[];
  conflict_count: number;
  violations: Violation[];
  warnings: Violation[];
  rows: MergedRows[];
};

/** Thrown to roll a rehearsal back. */
class Rehearsed extends Error {
  readonly planned: PlannedPromotion;
  readonly wanted: WantedTable[];
  constructor(planned: PlannedPromotion, wanted: WantedTable[]) {
    super('rehearsed');
    this.planned = planned;
    this.wanted = wanted;
  }
}

/**
 * Promotes without keeping it, and asks data what would stand in the way of deploying the outcome. A conflict that isn't
 * resolved stays as the target has it.
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
  if (!isOpen(stored.status))
    throw new ServiceError('wrong_state', `Promotion is ${stored.status}; there is nothing to rehearse.`);
  const { planned, wanted } = await rolledBack(() => transact(ctx, (tx) => rehearse(tx, call, stored, resolutions)));
  await recordReviewedPromotion(ctx, call, stored, planned);
  const { plan } = planned;
  const diffs = plan.tables.map(({ diff }) => diff);
  const deployment = await planTables(ctx, call, stored.to_branch_id, wanted);
  const rows = stored.include_data ? await rehearseRows(ctx, call, id, plan, resolutions) : nothing;
  return {
    diffs,
    conflicts: [...plan.conflicts, ...rows.conflicts],
    conflict_count: plan.conflicts.length + rows.conflictCount,
    violations: [...violationsOf(diffs), ...violationsOf(deployment), ...rows.violations],
    warnings: rows.warnings,
    rows: rows.rows,
  };
}

const nothing = { conflicts: [], conflictCount: 0, violations: [], warnings: [], rows: [] };

const rehearseRows = (
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  { tables }: PromotionPlan,
  resolutions: GivenResolution[],
): Promise<RowsOutcome> =>
  askToMergeRows(ctx, call, {
    mergeId: `rehearsal-${id}`,
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
  const ids = stored.tables.map(({ table_definition_id }) => table_definition_id);
  await lockBranches(tx, call, stored, ids);
  const planned = await planStored(tx, call, stored, decideBy(resolutions));
  const { plan } = planned;
  // What is blocked can't be written, so there is no outcome to deploy.
  if (violationsOf(plan.tables.map(({ diff }) => diff)).length > 0) throw new Rehearsed(planned, []);
  const written = await writePlan(tx, call, stored, plan.tables);
  if (stored.include_data) await recordFirstRows(tx, call, stored, ids);
  const where = { id: { in: written }, account_id: call.accountId };
  const drafts = await tx.table_definition.findMany({ where, ...fullDefinition, orderBy: { id: 'asc' } });
  throw new Rehearsed(planned, drafts.map(toWantedTable));
}

async function rolledBack(work: () => Promise<never>): Promise<Rehearsed> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Rehearsed) return error;
    throw error;
  }
}
