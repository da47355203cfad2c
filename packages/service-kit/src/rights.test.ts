import type { CallContext } from './call-context.ts';
import { allows, createRights, type EffectivePermissions, requireRight } from './rights.ts';

const held = (license_type: string, ...permissions: [string, string, number][]): EffectivePermissions => ({
  license_type,
  permissions: permissions.map(([action, resource_type, resource_id]) => ({ action, resource_type, resource_id })),
});
const where = { domainId: 1, branchId: 2, tableDefinitionId: 3 };
const call: CallContext = {
  issuer: 'gateway',
  accountId: 7,
  userId: 9,
  scopes: ['api'],
  branching: true,
  requestId: 'r',
};

describe('allows', () => {
  it.each([
    ['admin', ['admin', 'develop', 'edit', 'view']],
    ['develop', ['develop', 'edit', 'view']],
    ['edit', ['edit', 'view']],
    ['view', ['view']],
    ['approve', ['approve']],
  ])('%s on the domain gives %p', (action, expected) => {
    const all = ['admin', 'develop', 'edit', 'view', 'approve'] as const;
    expect(all.filter((wanted) => allows(held('developer', [action, 'domain', 1]), wanted, where))).toEqual(expected);
  });

  it('lets an administrator of the account do everything, approving too', () => {
    expect(allows(held('developer', ['admin', 'account', 7]), 'approve', where)).toBe(true);
  });

  it('counts only the resource itself, its domain, its branch and the account', () => {
    expect(
      allows(
        held('developer', ['edit', 'domain', 99], ['edit', 'branch', 99], ['edit', 'table_definition', 99]),
        'view',
        where,
      ),
    ).toBe(false);
    for (const [type, id] of [
      ['domain', 1],
      ['branch', 2],
      ['table_definition', 3],
      ['account', 7],
    ] as const)
      expect(allows(held('developer', ['edit', type, id]), 'edit', where)).toBe(true);
  });

  it('caps an end user at edit', () => {
    const user = held('end_user', ['admin', 'account', 7]);
    expect(allows(user, 'edit', where)).toBe(true);
    expect(allows(user, 'develop', where)).toBe(false);
    expect(allows(user, 'approve', where)).toBe(false);
  });
});

describe('requireRight', () => {
  it('asks identity once per user until told that the rights changed', async () => {
    let asked = 0;
    let rights = held('developer');
    const cache = createRights({
      GetEffectivePermissions: async () => {
        asked += 1;
        return { user_id: 9, ...rights };
      },
    });
    await expect(requireRight(cache, call, 'view', where)).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(requireRight(cache, call, 'view', where)).rejects.toThrow(
      '"view" on the table, its domain, its branch or the account',
    );
    expect(asked).toBe(1);
    rights = held('developer', ['view', 'domain', 1]);
    cache.forget(7, null);
    await requireRight(cache, call, 'view', where);
    expect(asked).toBe(2);
  });

  it('remembers no failure', async () => {
    let asked = 0;
    const cache = createRights({
      GetEffectivePermissions: async () => {
        asked += 1;
        if (asked === 1) throw new Error('away');
        return { user_id: 9, ...held('developer', ['view', 'account', 7]) };
      },
    });
    await expect(requireRight(cache, call, 'view', where)).rejects.toThrow('away');
    await requireRight(cache, call, 'view', where);
  });

  it('lets machines act for the whole account', async () => {
    const cache = createRights({ GetEffectivePermissions: () => Promise.reject(new Error('not asked')) });
    await requireRight(cache, { ...call, userId: undefined }, 'develop', where);
  });
});
