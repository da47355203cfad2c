// What others are told of a promotion: events for who follows, and entries of the audit log.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { announce, recordAct, type Transaction } from '../../transaction.ts';
import type { PromotionAction, PromotionState } from './promotion-states.ts';

// By the step: how it is announced, and the state it has led to. Not `.requested`: an event of that name asks for work.
const news = {
  create: { event: 'created', status: 'created' },
  send_request: { event: 'submitted', status: 'requested' },
  succeed: { event: 'promoted', status: 'promoted' },
  fail: { event: 'failed', status: 'failed' },
  reject: { event: 'rejected', status: 'rejected' },
  cancel: { event: 'cancelled', status: 'cancelled' },
  abandon: { event: 'abandoned', status: 'abandoned' },
} as const satisfies Record<'create' | Exclude<PromotionAction, 'promote'>, { event: string; status: PromotionState }>;

type Subject = { id: number; from_branch_id: number; to_branch_id: number; status?: string };

/** Announces a step, in its transaction. `status`: the state before. */
export async function announcePromotion(
  tx: Transaction,
  caller: RpcCaller,
  step: keyof typeof news,
  { id, from_branch_id, to_branch_id, status: before }: Subject,
  facts: Record<string, unknown> = {},
): Promise<void> {
  const { event, status } = news[step];
  const branches = { from_branch_id, to_branch_id };
  await announce(tx, caller, `promotion.${event}`, { promotion_id: id, ...branches, ...facts });
  const { user_id: _actor, ...after } = facts;
  await recordAct(tx, caller, {
    action: `promotion.${event}`,
    result: step === 'fail' ? 'failed' : 'succeeded',
    resource_type: 'promotion',
    resource_id: id,
    ...(before === undefined ? {} : { before: { status: before } }),
    after: { status, ...branches, ...after },
  });
}
