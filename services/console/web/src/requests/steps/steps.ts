// The steps of a change request, as its page offers them. The server says which ones may be taken.
import type { ChangeRequest } from '../queries.ts';

export type ReviewStep = 'apply' | 'approve' | 'request_changes' | 'reject';
export type PlainStep = 'send_request' | 'withdraw' | 'cancel';
export type Step = ReviewStep | PlainStep;

type Stepping = Pick<ChangeRequest, 'status' | 'can' | 'can_not' | 'counts' | 'policy'>;

const reviewing: readonly ReviewStep[] = ['apply', 'approve', 'request_changes', 'reject'];

/** The steps that end a review, the furthest one first. */
export function reviewSteps({ can }: Pick<Stepping, 'can'>): ReviewStep[] {
  return reviewing.filter((step) => can.includes(step));
}

/** How many changes a step is about: approval accepts what is undecided. */
export function changeCount({ status, counts }: Pick<Stepping, 'status' | 'counts'>): number {
  if (status === 'draft' || status === 'changes_requested') return counts.operations;
  return status === 'requested' ? counts.accepted + counts.undecided : counts.accepted;
}

/** Why the step that would lead on can't be taken by this person; undefined when it can. */
export function whyNot({ status, can, can_not }: Pick<Stepping, 'status' | 'can' | 'can_not'>): string | undefined {
  const main: Partial<Record<ChangeRequest['status'], Step>> = {
    draft: 'send_request',
    changes_requested: 'send_request',
    requested: 'approve',
    approved: 'apply',
    failed: 'apply',
  };
  const step = main[status];
  return step === undefined || can.includes(step) ? undefined : can_not[step];
}

/** Whether a step can't be taken without a comment. */
export function needsComment(step: Step, { status, policy }: Pick<Stepping, 'status' | 'policy'>): boolean {
  if (step === 'request_changes' || step === 'reject') return true;
  const approves = step === 'approve' || (step === 'apply' && status === 'requested');
  return policy.comment_required && (approves || step === 'send_request');
}
