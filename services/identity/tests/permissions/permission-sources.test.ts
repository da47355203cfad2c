// Why a user may do something: the permissions behind it, those that don't count, and who else.
import { type Action, allows, compileRights, type Permission, type Where } from '@almanac/service-kit/rights/rights';
import { randomOf } from '@almanac/testkit/random';
import { getEffectivePermissions } from '../../src/permissions/effective-permissions.ts';
import { type Account, givenIdentity, type Identity } from '../given.ts';

let identity: Identity;
let account: Account;

beforeAll(async () => {
  identity = await givenIdentity();
});
beforeEach(async () => {
  account = await identity.account();
  await open('domain', 3, 'Sales');
  await open('branch', 4, 'main');
});
afterAll(() => identity.close());

let count = 0;
const open = (resource_type: string, resource_id: number, name: string, branch?: object) =>
  identity
    .rpc('metadata')
    .EnsureResourceGroups(
      { accountId: account.account_id },
      { resource_type, resource_id, name, ...(branch && { branch: { revision: 1, ...branch } }) },
    );
const newUser = async (more: object = {}) => {
  count += 1;
  const user = { email: `why${count}@example.com`, password: 'correct horse battery', ...more };
  return (await account.admin('POST', '/users', { user })).body.id as number;
};
const join = async (user_id: number, name: string, ...permissions: object[]) => {
  const { body: group } = await account.admin('POST', '/user_groups', { user_group: { name, permissions } });
  await account.admin('POST', '/user_group_assignments', { user_id, user_group_id: group.id });
  return group.id as number;
};
const explain = (user_id: number, action: string, where: object = {}, asker = account.admin_user_id) =>
  identity
    .rpc('metadata')
    .GetPermissionSources({ accountId: account.account_id, userId: asker }, { user_id, action, ...where });
const namesOf = (holders: { users: { id: number }[] } | null) => holders?.users.map(({ id }) => id);
const onTable = { domain_id: 3, branch_id: 4, table_definition_id: 5 };

describe('the sources of a permission', () => {
  it('are the groups and permissions of every level that give it', async () => {
    const ann = await newUser();
    const stewards = await join(ann, 'Stewards', { action: 'edit', resource_type: 'domain', resource_id: 3 });
    const tables = await join(ann, 'Tables', { action: 'develop', resource_type: 'table_definition', resource_id: 5 });
    await join(ann, 'Elsewhere', { action: 'edit', resource_type: 'table_definition', resource_id: 6 });
    const { allowed, sources, holders, administrators } = await explain(ann, 'edit', onTable);
    expect(allowed).toBe(true);
    expect(sources).toMatchObject([
      { user_group_id: stewards, user_group_name: 'Stewards', action: 'edit', resource_type: 'domain', resource_id: 3 },
      { user_group_id: tables, action: 'develop', resource_type: 'table_definition', resource_id: 5, ignored_for: '' },
    ]);
    expect(namesOf(holders)).toEqual([account.admin_user_id, ann]);
    expect([namesOf(administrators), administrators?.total]).toEqual([[account.admin_user_id], 1]);
    expect(JSON.stringify([holders, administrators])).not.toContain('@');
  });

  it('are none where nothing gives it, with those who have it', async () => {
    const [ann, ben] = [await newUser(), await newUser()];
    await join(ben, 'Judges', { action: 'approve', resource_type: 'branch', resource_id: 4 });
    const answer = await explain(ann, 'approve', { branch_id: 4 });
    expect([answer.allowed, answer.sources, namesOf(answer.holders)]).toEqual([
      false,
      [],
      [account.admin_user_id, ben],
    ]);
  });

  it('are ignored for the licence', async () => {
    const guest = await newUser({ license_type: 'end_user' });
    await join(guest, 'Builders', { action: 'develop', resource_type: 'account' });
    expect(await explain(guest, 'develop', onTable)).toMatchObject({
      allowed: false,
      license_type: 'end_user',
      sources: [{ user_group_name: 'Builders', ignored_for: 'license' }],
    });
    expect(await explain(guest, 'edit', onTable)).toMatchObject({ allowed: true, sources: [{ ignored_for: '' }] });
  });

  it('are ignored on a private branch when they are from outside, and its owner views it without a group', async () => {
    const [owner, other] = [await newUser(), await newUser()];
    await open('branch', 9, 'Secret', { is_private: true, owner_id: owner });
    await join(other, 'Builders', { action: 'develop', resource_type: 'account' });
    expect(await explain(other, 'edit', { branch_id: 9 })).toMatchObject({
      allowed: false,
      sources: [{ user_group_name: 'Builders', ignored_for: 'private_branch' }],
    });
    const { allowed, sources, holders } = await explain(owner, 'view', { branch_id: 9 });
    expect(allowed).toBe(true);
    expect(sources).toMatchObject([{ permission_id: 0, action: 'view', resource_type: 'branch', resource_id: 9 }]);
    expect(namesOf(holders)).toEqual([account.admin_user_id, owner]);
  });

  it('on a private branch that is hidden from the caller are left out', async () => {
    const [insider, asker] = [await newUser(), await newUser()];
    await open('branch', 9, 'Secret', { is_private: true, owner_id: 0 });
    await join(insider, 'Insiders', { action: 'edit', resource_type: 'branch', resource_id: 9 });
    const onSecret = { ...onTable, branch_id: 9 };
    expect((await explain(insider, 'edit', onSecret)).sources).toHaveLength(1);
    const { allowed, sources, holders } = await explain(insider, 'edit', onSecret, asker);
    expect([allowed, sources, namesOf(holders)]).toEqual([true, [], [account.admin_user_id]]);
  });

  it('say nothing of a suspended user, who may do nothing', async () => {
    const out = await newUser();
    await join(out, 'Stewards', { action: 'edit', resource_type: 'domain', resource_id: 3 });
    await account.admin('PATCH', `/users/${out}`, { status: 'suspended' });
    expect(await explain(out, 'edit', onTable)).toMatchObject({ allowed: false, status: 'suspended' });
    expect(namesOf((await explain(out, 'edit', onTable)).holders)).toEqual([account.admin_user_id]);
  });

  it('are of users and groups of the account alone', async () => {
    const outsider = (await identity.account()).admin_user_id;
    await expect(explain(outsider, 'view')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(explain(account.admin_user_id, 'rule')).rejects.toMatchObject({ kind: 'bad_request' });
  });

  it('list twenty names and count the rest', async () => {
    const group = await join(await newUser(), 'Everybody', { action: 'view', resource_type: 'account' });
    const users = await identity.context.prisma.user.createManyAndReturn({
      data: Array.from({ length: 25 }, (_, i) => ({
        account_id: account.account_id,
        email: `many${i}@example.com`,
        email_key: `many${i}@example.com`,
        status: 'active',
      })),
    });
    await identity.context.prisma.user_group_assignment.createMany({
      data: users.map(({ id }) => ({ account_id: account.account_id, user_id: id, user_group_id: group })),
    });
    const { holders } = await explain(account.admin_user_id, 'view');
    expect([holders?.users.length, holders?.total]).toEqual([20, 27]);
  });
});

// The holders are one statement over sets; every other check compiles the rights of one user.
describe('the holders of an action', () => {
  const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
  const actions: Action[] = ['view', 'edit', 'develop', 'admin', 'approve'];

  it(`are the users whose rights allow it, whatever the permissions (TEST_SEED=${seed})`, async () => {
    const below = randomOf(seed);
    const pick = <T>(list: readonly T[]) => list[below(list.length)] as T;
    const accountId = account.account_id;
    await open('branch', 9, 'Secret', { is_private: true, owner_id: 0 });
    const users: number[] = [];
    for (let number = 0; number < 12; number += 1)
      users.push(await newUser({ license_type: pick(['developer', 'end_user']) }));
    await identity.context.prisma.branch_sight.updateMany({
      where: { account_id: accountId, branch_id: 9 },
      data: { owner_id: pick(users) },
    });
    const resources: [string, number[]][] = [
      ['account', [accountId]],
      ['domain', [3, 7]],
      ['branch', [4, 9]],
      ['table_definition', [5, 6]],
    ];
    for (const user of users)
      for (let number = 0; number < below(4); number += 1) {
        const [resource_type, ids] = pick(resources);
        const permission: Permission = { action: pick(actions), resource_type, resource_id: pick(ids) };
        const { id } = await identity.context.prisma.user_group.create({
          data: {
            account_id: accountId,
            name: 'Random',
            permissions: { create: { account_id: accountId, ...permission } },
          },
        });
        await identity.context.prisma.user_group_assignment.create({
          data: { account_id: accountId, user_id: user, user_group_id: id },
        });
      }
    const rights = new Map(
      await Promise.all(
        [account.admin_user_id, ...users].map(
          async (id) =>
            [id, compileRights(await getEffectivePermissions(identity.context.prisma, accountId, id))] as const,
        ),
      ),
    );
    for (const branchId of [undefined, 4, 9])
      for (const domainId of [undefined, 3])
        for (const tableDefinitionId of [undefined, 5])
          for (const action of actions) {
            const where: Where = {
              ...(domainId && { domainId }),
              ...(branchId && { branchId }),
              ...(tableDefinitionId && { tableDefinitionId }),
            };
            const request = { domain_id: domainId, branch_id: branchId, table_definition_id: tableDefinitionId };
            const { holders, allowed, sources } = await explain(users[0] as number, action, request);
            const expected = [...rights].filter(([, held]) => allows(held, action, where)).map(([id]) => id);
            expect({ action, where, holders: namesOf(holders) }).toEqual({ action, where, holders: expected });
            const counted = sources.some(({ ignored_for }) => ignored_for === '');
            expect({ action, where, allowed, counted }).toEqual({ action, where, allowed, counted: allowed });
          }
  });
});
