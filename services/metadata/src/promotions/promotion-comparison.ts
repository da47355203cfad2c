// The comparison that promoting begins with: made again under locks, and held against what was shown.
import type { CallContext } from '@almanac/service-kit/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { Addressees } from '../approval-mails.ts';
import type { Actor } from '../approval-states.ts';
import { violationsOf } from '../deployments/violations.ts';
import type { Transaction } from '../transaction.ts';
import { lockSides } from './branch-sides.ts';
import { decideBy, type GivenResolution, refuseUnsettled } from './conflict-resolutions.ts';
import { endFailed } from './promotion-end.ts';
import type { PromotionPlan, TablePair } from './promotion-plan.ts';
import {
  allowStep,
  lockPromotion,
  mailPromotion,
  noteAction,
  planStored,
  rememberShown,
  type StoredPromotion,
} from './promotions.ts';

/** `revision`: promote only what was shown under it. */
export type PromoteInput = { resolutions?: GivenResolution[]; revision?: string };

/** Whoever promotes, and whoever hears how it ended. */
export type People = { actor: Actor; creator: Addressees };

export const taken = 'Another table with this name or key has come to the target branch';

type Compared = { now: StoredPromotion; plan: PromotionPlan; revision: string };

/** Locks and compares. A refusal that leaves something behind is answered, so that it commits; any other is thrown. */
export async function compareAgain(
  tx: Transaction,
  call: CallContext,
  before: StoredPromotion,
  { actor, creator }: People,
  { resolutions = [], revision: seen }: PromoteInput,
): Promise<Compared | ServiceError> {
  await lockSides(tx, call, before, idsOf(before));
  const now = await lockPromotion(tx, call, before.id);
  allowStep(now, 'promote', actor);
  const { pairs, plan, revision } = await planStored(tx, call, now, decideBy(resolutions));
  if (revision !== (seen ?? now.revision)) {
    await rememberShown(tx, now.id, pairs, revision);
    return new ServiceError('wrong_state', describeStale(now, pairs));
  }
  refuseUnsettled(plan.conflicts, resolutions);
  await noteAction(tx, now.id, 'promote', call.userId ?? null, null);
  const blockers = violationsOf(plan.tables.map(({ diff }) => diff));
  if (blockers.length === 0) return { now, plan, revision };
  const reasons = blockers.map(({ table, message }) => `${table}: ${message}`);
  await endFailed(tx, call, now, plan, { reasons });
  await mailPromotion(tx, call, creator, now, plan, { comment: null, outcome: 'failed', reasons });
  return validationFailed(reasons);
}

/** The definitions that were named. */
export const idsOf = ({ tables }: StoredPromotion): number[] =>
  tables.map(({ table_definition_id }) => table_definition_id);

function describeStale({ tables }: StoredPromotion, pairs: TablePair[]): string[] {
  const shown = new Map(tables.map((table) => [table.table_definition_id, table]));
  const moved = pairs.filter(({ sourceId, sourceVersion, targetId, targetVersion }) => {
    const then = shown.get(sourceId);
    return (
      then?.source_version !== sourceVersion ||
      then.target_definition_id !== targetId ||
      then.target_version !== targetVersion
    );
  });
  const reasons = moved.map(({ name }) => `${name} has changed since the diffs were shown`);
  return [
    ...(reasons.length > 0 ? reasons : ['The diffs are not those that were shown']),
    'Look at the diffs as they are now, then promote them.',
  ];
}
