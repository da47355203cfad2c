// The comparison of a promotion's branches: reads both, plans the merge, and names the revision.

import type { MetadataContext } from '../../context.ts';
import { readSnapshot, type Transaction } from '../../transaction.ts';
import type { Revision, RowRevisions } from '../reviewed-revisions.ts';
import {
  type Branches,
  type NamedTable,
  readPairs,
  readTargetBranch,
  revisionOfPairs,
} from './comparison/branch-sides.ts';
import { type PromotionPlan, planPromotion, type TablePair, type TargetBranch } from './comparison/promotion-plan.ts';
import type { Decide } from './comparison/table-merge.ts';

/** The branches of a promotion, and the definitions that it names. */
export type Proposed = Branches & { to_branch: { id: number; name: string }; tables: NamedTable[] };
type Sides = { pairs: TablePair[]; branch: TargetBranch };
export type Comparison = { pairs: TablePair[]; plan: PromotionPlan; revision: string };

/** Reads what a promotion concerns on both branches. */
export async function readSides(tx: Transaction, call: { accountId: number }, proposed: Proposed): Promise<Sides> {
  const pairs = await readPairs(tx, call, proposed, proposed.tables);
  return { pairs, branch: await readTargetBranch(tx, call, proposed.to_branch, pairs) };
}

const undecided: Decide = () => undefined;

export function compareSides({ pairs, branch }: Sides, decide = undecided): Comparison {
  return { pairs, plan: planPromotion(pairs, branch, decide), revision: revisionOfPairs(pairs) };
}

/** Compares the branches as they are now. */
export async function compare(
  tx: Transaction,
  call: { accountId: number },
  proposed: Proposed,
  decide = undecided,
): Promise<Comparison> {
  return compareSides(await readSides(tx, call, proposed), decide);
}

/** Compares the branches as they are now, in a snapshot of its own. */
export const compareSnapshot = (ctx: MetadataContext, call: { accountId: number }, proposed: Proposed) =>
  readSnapshot(ctx, (tx) => compare(tx, call, proposed));

/**
 * The revision of a comparison, as it is recorded for the users who were shown it. `rows`: of a
 * promotion with rows.
 */
export const reviewedRevision = (
  { pairs, revision }: Pick<Comparison, 'pairs' | 'revision'>,
  rows: RowRevisions | undefined,
): Revision => ({
  revision,
  ...(rows && { rows }),
  facts: pairs.map(({ sourceId, sourceVersion, targetId, targetVersion }) => [
    sourceId,
    sourceVersion,
    targetId,
    targetVersion,
  ]),
});
