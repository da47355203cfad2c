import { strictest } from './change-request-policy.ts';

describe('the policy of a change request', () => {
  const open = { required_approvals: 1, self_approval: false, comment_required: false };

  const stored = { ...open, row_changes: 'request', machine_imports: true };

  it('is that of the branch where its tables leave it open', () => {
    expect(strictest(stored, [])).toEqual(open);
    expect(strictest(stored, [{ required_approvals: null }, {}])).toEqual(open);
  });

  it('is the strictest of its tables, each of which may leave it to the branch', () => {
    const branch = { required_approvals: 2, self_approval: true, comment_required: false };
    expect(strictest({ ...stored, ...branch }, [])).toEqual(branch);
    expect(strictest({ ...stored, ...branch }, [{}, { required_approvals: null }])).toEqual(branch);
    expect(strictest({ ...stored, ...branch }, [{ required_approvals: 1 }])).toEqual({
      ...branch,
      required_approvals: 1,
    });
    expect(
      strictest({ ...stored, ...branch }, [
        { required_approvals: 3 },
        { self_approval: false },
        { comment_required: true },
      ]),
    ).toEqual({
      required_approvals: 3,
      self_approval: false,
      comment_required: true,
    });
  });
});
