import { changeCount, needsComment, reviewSteps, whyNot } from './steps.ts';

const counts = { operations: 20, undecided: 5, accepted: 10, rejected: 3, returned: 2, with_problems: 0 };
const policy = { required_approvals: 1, self_approval: false, comment_required: false };

describe('the steps of a change request', () => {
  it('are those that the server allows, the furthest one first', () => {
    expect(reviewSteps({ can: ['cancel', 'request_changes', 'approve', 'reject', 'apply'] })).toEqual([
      'apply',
      'approve',
      'request_changes',
      'reject',
    ]);
    expect(reviewSteps({ can: ['withdraw', 'cancel'] })).toEqual([]);
  });

  it('are about all operations of a draft, and later about those that would be applied', () => {
    expect(changeCount({ status: 'draft', counts })).toBe(20);
    expect(changeCount({ status: 'requested', counts })).toBe(15);
    expect(changeCount({ status: 'approved', counts })).toBe(10);
  });

  it('say why the one that leads on can not be taken', () => {
    const can_not = { approve: 'Only an approver may.', apply: 'It takes 2 approvals.' };
    expect(whyNot({ status: 'requested', can: ['cancel'], can_not })).toBe('Only an approver may.');
    expect(whyNot({ status: 'requested', can: ['approve'], can_not })).toBeUndefined();
    expect(whyNot({ status: 'applied', can: [], can_not })).toBeUndefined();
  });

  it('take a comment when a request goes back, and otherwise by policy', () => {
    expect(needsComment('reject', { status: 'requested', policy })).toBe(true);
    expect(needsComment('approve', { status: 'requested', policy })).toBe(false);
    const strict = { ...policy, comment_required: true };
    expect(needsComment('approve', { status: 'requested', policy: strict })).toBe(true);
    expect(needsComment('apply', { status: 'requested', policy: strict })).toBe(true);
    expect(needsComment('apply', { status: 'approved', policy: strict })).toBe(false);
    expect(needsComment('withdraw', { status: 'requested', policy: strict })).toBe(false);
  });
});
