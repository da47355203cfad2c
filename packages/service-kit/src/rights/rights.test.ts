import { notFound } from '../errors.ts';
import {
  type Action,
  allows,
  compileRights,
  type EffectivePermissions,
  type HeldRights,
  isKnown,
  type Rights,
  reachOf,
  requireRight,
} from './rights.ts';

const held = (license_type: string, ...permissions: [string, string, number][]): HeldRights =>
  compileRights({
    license_type,
    permissions: permissions.map(([action, resource_type, resource_id]) => ({ action, resource_type, resource_id })),
  });
const where = { domainId: 1, branchId: 2, tableDefinitionId: 3 };
const all = ['admin', 'develop', 'edit', 'view', 'approve'] as const;

describe('allows', () => {
  it.each([
    ['admin', ['admin', 'develop', 'edit', 'view']],
    ['develop', ['develop', 'edit', 'view']],
    ['edit', ['edit', 'view']],
    ['view', ['view']],
    ['approve', ['approve']],
  ])('%s on the domain gives %p', (action, expected) => {
    expect(all.filter((wanted) => allows(held('developer', [action, 'domain', 1]), wanted, where))).toEqual(expected);
  });

  it('lets an administrator of the account do everything, approving too', () => {
    expect(all.filter((wanted) => allows(held('developer', ['admin', 'account', 7]), wanted, where))).toEqual(all);
  });

  it('counts only the resource itself, its domain, its branch and the account', () => {
    const elsewhere = held(
      'developer',
      ['edit', 'domain', 99],
      ['edit', 'branch', 99],
      ['edit', 'table_definition', 99],
    );
    expect(allows(elsewhere, 'view', where)).toBe(false);
    for (const [type, id] of [
      ['domain', 1],
      ['branch', 2],
      ['table_definition', 3],
      ['account', 7],
    ] as const)
      expect(allows(held('developer', ['edit', type, id]), 'edit', where)).toBe(true);
    expect(allows(held('developer', ['edit', 'domain', 1]), 'edit', { branchId: 1, tableDefinitionId: 1 })).toBe(false);
  });

  it('adds rights up', () => {
    const steward = held('developer', ['view', 'domain', 1], ['edit', 'domain', 1], ['approve', 'branch', 2]);
    expect(all.filter((wanted) => allows(steward, wanted, where))).toEqual(['edit', 'view', 'approve']);
  });

  it('caps an end user at edit', () => {
    for (const action of ['admin', 'develop']) {
      const user = held('end_user', [action, 'account', 7]);
      expect(all.filter((wanted) => allows(user, wanted, where))).toEqual(['edit', 'view']);
    }
  });

  it('gives nothing for an action or a resource it does not know', () => {
    const unknown = held('developer', ['rule', 'account', 7], ['toString', 'domain', 1], ['edit', '__proto__', 1]);
    expect(all.filter((wanted) => allows(unknown, wanted, where))).toEqual([]);
  });
});

describe('a private branch', () => {
  const on = (action: string, type: string, id: number, license_type = 'developer') =>
    compileRights({
      license_type,
      permissions: [{ action, resource_type: type, resource_id: id }],
      private_branch_ids: [2],
    });

  it('is reached by rights on itself and on its tables, and by administrators of the account alone', () => {
    const reaches = (held: HeldRights) => [isKnown(held, where), allows(held, 'view', where)];
    for (const action of ['develop', 'edit', 'view'])
      for (const [type, id] of [
        ['account', 7],
        ['domain', 1],
        ['branch', 3],
      ] as const)
        expect(reaches(on(action, type, id))).toEqual([false, false]);
    expect(reaches(on('admin', 'domain', 1))).toEqual([false, false]);
    expect(reaches(on('approve', 'account', 7))).toEqual([false, false]);
    expect(reaches(on('admin', 'account', 7, 'end_user'))).toEqual([false, false]);
    for (const [type, id] of [
      ['branch', 2],
      ['table_definition', 3],
    ] as const)
      expect(reaches(on('view', type, id))).toEqual([true, true]);
    expect(reaches(on('approve', 'branch', 2))).toEqual([true, false]);
    expect(reaches(on('admin', 'account', 7))).toEqual([true, true]);
  });

  it('is named to lists, which leave it out', () => {
    expect(reachOf(on('view', 'account', 7), 'view')).toMatchObject({ everywhere: true, closedBranchIds: [2] });
    expect(reachOf(on('admin', 'account', 7), 'view')).toMatchObject({ everywhere: true, closedBranchIds: [] });
  });
});

describe('the reach of an action', () => {
  it('is every place where it is held', () => {
    const user = held(
      'developer',
      ['view', 'domain', 4],
      ['develop', 'domain', 5],
      ['edit', 'branch', 6],
      ['approve', 'branch', 7],
      ['view', 'table_definition', 8],
    );
    expect(reachOf(user, 'edit')).toEqual({
      everywhere: false,
      domainIds: [5],
      branchIds: [6],
      tableDefinitionIds: [],
      closedBranchIds: [],
    });
    expect(reachOf(user, 'view')).toEqual({
      everywhere: false,
      domainIds: [4, 5],
      branchIds: [6],
      tableDefinitionIds: [8],
      closedBranchIds: [],
    });
    expect(reachOf(held('developer', ['admin', 'account', 1]), 'approve').everywhere).toBe(true);
  });
});

describe('requireRight', () => {
  const call = { accountId: 7, userId: 9 };
  const rightsOf = (answer: Partial<EffectivePermissions>, asked: (boolean | undefined)[] = []): Rights => ({
    get: async (_caller, { fresh } = {}) => {
      asked.push(fresh);
      return compileRights({ license_type: 'developer', permissions: [], ...answer });
    },
    invalidate() {},
    invalidateAll() {},
  });

  it('names the missing right and where it would do', async () => {
    await expect(requireRight(rightsOf({}), call, 'view', where)).rejects.toMatchObject({
      kind: 'forbidden',
      errors: ['You need the right "view" on the table, its domain, its branch or the account.'],
    });
    await expect(requireRight(rightsOf({}), call, 'admin', {})).rejects.toThrow('"admin" on the account');
  });

  it('answers for a private branch without rights as for an unknown one', async () => {
    const developer = [{ action: 'develop', resource_type: 'account', resource_id: 7 }];
    const rights = rightsOf({ permissions: developer, private_branch_ids: [2] });
    await expect(requireRight(rights, call, 'view', where)).rejects.toThrow(notFound('Table definition'));
    await expect(requireRight(rights, call, 'view', { branchId: 2 })).rejects.toThrow(notFound('Branch'));
    const missing = () => notFound('Export');
    await expect(requireRight(rights, call, 'view', where, { missing })).rejects.toThrow(missing());
  });

  it('uses fresh rights to administer and to approve, and on request', async () => {
    const asked: (boolean | undefined)[] = [];
    const rights = rightsOf({ permissions: [{ action: 'admin', resource_type: 'account', resource_id: 7 }] }, asked);
    for (const action of ['view', 'edit', 'develop', 'approve', 'admin'] as Action[])
      await requireRight(rights, call, action, where);
    await requireRight(rights, call, 'develop', where, { fresh: true });
    expect(asked).toEqual([false, false, false, true, true, true]);
  });

  it('lets machines act for the whole account', async () => {
    const unasked = { ...rightsOf({}), get: () => Promise.reject(new Error('not asked')) };
    await requireRight(unasked, { accountId: 7 }, 'develop', where);
  });
});
