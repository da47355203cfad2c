// The table of a change request's transitions: from which states, to which, and who may.
// docs/states/change-request.md is drawn from it; a test compares the two.
import type { Machine, Transition } from '../approval-states.ts';

export const changeRequestStates = [
  'draft',
  'requested',
  'changes_requested',
  'approved',
  'applying',
  'applied',
  'failed',
  'rejected',
  'cancelled',
] as const;
export type ChangeRequestState = (typeof changeRequestStates)[number];

export const changeRequestTransitions = {
  send_request: { from: ['draft', 'changes_requested'], to: 'requested', by: 'creator', verb: 'request approval of' },
  withdraw: { from: ['requested', 'approved'], to: 'draft', by: 'creator', verb: 'withdraw' },
  request_changes: {
    from: ['requested', 'approved'],
    to: 'changes_requested',
    by: 'approver',
    verb: 'request changes of',
  },
  approve: { from: ['requested'], to: 'approved', by: 'reviewer', verb: 'approve' },
  reject: { from: ['requested', 'approved'], to: 'rejected', by: 'approver', verb: 'reject' },
  cancel: {
    from: ['draft', 'requested', 'changes_requested', 'approved', 'failed'],
    to: 'cancelled',
    by: 'owner',
    verb: 'cancel',
  },
  approve_and_apply: { from: ['requested'], to: 'applying', by: 'reviewer', verb: 'approve and apply' },
  apply: { from: ['approved', 'failed'], to: 'applying', by: 'responsible', verb: 'apply' },
  succeed: { from: ['applying'], to: 'applied', by: 'system', verb: 'finish' },
  refuse: { from: ['applying'], to: 'approved', by: 'system', verb: 'refuse' },
  fail: { from: ['applying'], to: 'failed', by: 'system', verb: 'fail' },
} as const satisfies Record<string, Transition<ChangeRequestState>>;

export type ChangeRequestAction = keyof typeof changeRequestTransitions;

export const changeRequestMachine: Machine<ChangeRequestState, ChangeRequestAction> = {
  noun: 'change_request',
  states: changeRequestStates,
  apply: 'apply',
  transitions: changeRequestTransitions,
};

/** Whether operations can be changed (draft), decided (review), or neither (closed). */
export type Phase = 'draft' | 'review' | 'closed';

export const phases: Record<ChangeRequestState, Phase> = {
  draft: 'draft',
  changes_requested: 'draft',
  requested: 'review',
  approved: 'closed',
  applying: 'closed',
  applied: 'closed',
  failed: 'closed',
  rejected: 'closed',
  cancelled: 'closed',
};
