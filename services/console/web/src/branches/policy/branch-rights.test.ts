import { mayMakeBranches, maySetPolicy } from './branch-rights.ts';

const none = { everywhere: false, domain_ids: [], branch_ids: [], table_definition_ids: [] };
const rights = { view: none, edit: none, develop: none, admin: none, approve: none };
const everywhere = { ...none, everywhere: true };
const shared = { id: 3, branch_type: 'shared' as const };
const closed = { id: 3, branch_type: 'private' as const };

describe('rights on branches', () => {
  it('to say how rows change are those of approvers and administrators', () => {
    expect(maySetPolicy({ ...rights, develop: everywhere }, shared)).toBe(false);
    expect(maySetPolicy({ ...rights, approve: { ...none, branch_ids: [3] } }, closed)).toBe(true);
    expect(maySetPolicy({ ...rights, approve: { ...none, branch_ids: [4] } }, shared)).toBe(false);
    expect(maySetPolicy({ ...rights, admin: everywhere }, closed)).toBe(true);
  });

  it('that are given everywhere don’t count on private branches, but for administrators', () => {
    const approver = { ...rights, approve: everywhere };
    expect([maySetPolicy(approver, shared), maySetPolicy(approver, closed)]).toEqual([true, false]);
  });

  it('to make branches take the right to develop, anywhere', () => {
    expect(mayMakeBranches({ ...rights, edit: everywhere })).toBe(false);
    expect(mayMakeBranches({ ...rights, develop: { ...none, domain_ids: [1] } })).toBe(true);
  });
});
