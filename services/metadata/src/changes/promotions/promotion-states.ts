// The table of a promotion's transitions: from which states, to which, and who may (design 3.6).
// docs/states/promotion.md is drawn from it; a test compares the two.
import type { Machine, Transition } from '../approval-states.ts';

export const promotionStates = [
  'created',
  'requested',
  'promoting',
  'promoted',
  'failed',
  'rejected',
  'cancelled',
  'abandoned',
] as const;
export type PromotionState = (typeof promotionStates)[number];

export const promotionTransitions = {
  send_request: { from: ['created'], to: 'requested', by: 'proposer', verb: 'request approval of' },
  promote: { from: ['created', 'requested', 'failed'], to: 'promoting', by: 'promoter', verb: 'promote' },
  succeed: { from: ['promoting'], to: 'promoted', by: 'system', verb: 'finish' },
  fail: { from: ['promoting'], to: 'failed', by: 'system', verb: 'fail' },
  reject: { from: ['created', 'requested'], to: 'rejected', by: 'approver', verb: 'reject' },
  cancel: { from: ['created', 'requested'], to: 'cancelled', by: 'creator', verb: 'cancel' },
  abandon: { from: ['created', 'requested', 'failed'], to: 'abandoned', by: 'responsible', verb: 'abandon' },
} as const satisfies Record<string, Transition<PromotionState>>;

export const promotionMachine: Machine<PromotionState, keyof typeof promotionTransitions> = {
  noun: 'promotion',
  states: promotionStates,
  apply: 'promote',
  transitions: promotionTransitions,
};
