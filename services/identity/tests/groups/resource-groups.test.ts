// System groups of domains and branches: created by metadata's call or its event, whichever is
// first, and deleted with them.
import { eventually } from '@almanac/testkit/eventually';
import { type Account, givenIdentity, type Identity } from '../given.ts';

type Named = { id: number; name: string };

describe('groups of domains and branches', () => {
  let identity: Identity;
  let account: Account;
  let creator: number;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
    creator = (await account.machine('POST', '/users', { email: 'creator@example.com' })).body.id;
    await identity.context.prisma.user.update({ where: { id: creator }, data: { status: 'active' } });
  });
  afterAll(() => identity.close());

  type Shown = { name: string; permissions: { action: string }[]; members: { id: number }[] };
  const groupsOf = async (type: string, id: number): Promise<Shown[]> =>
    (await account.machine('GET', `/user_groups?q=resource_type:eq:${type}&q=resource_id:eq:${id}`)).body.data;
  const call = () => ({ accountId: account.account_id });
  const ensure = (resource_type: string, resource_id: number, name: string, creator_id?: number) =>
    identity.rpc('metadata').EnsureResourceGroups(call(), { resource_type, resource_id, name, creator_id });

  it('are three for a domain and three for a branch, and its creator is a developer there', async () => {
    await ensure('domain', 1, 'Finance', creator);
    await ensure('branch', 1, 'main', creator);
    const facts = async (type: string) =>
      (await groupsOf(type, 1)).map(({ name, permissions, members }) => [
        name,
        permissions[0]?.action,
        members.map(({ id }) => id),
      ]);
    expect(await facts('domain')).toEqual([
      ['Finance Developers', 'develop', [creator]],
      ['Finance Data Managers', 'edit', []],
      ['Finance Viewers', 'view', []],
    ]);
    expect(await facts('branch')).toEqual([
      ['main Developers', 'develop', [creator]],
      ['main Approvers', 'approve', []],
      ['main Editors', 'edit', []],
    ]);
    const held = await identity.rpc('metadata').GetEffectivePermissions(call(), { user_id: creator });
    expect(held.permissions).toHaveLength(2);
  });

  it('are created once by calls and events, also concurrent ones', async () => {
    const payload = { account_id: account.account_id, domain_id: 2, name: 'Twice', creator_id: creator };
    await Promise.all([
      ...Array.from({ length: 5 }, () => ensure('domain', 2, 'Twice', creator)),
      ...Array.from({ length: 5 }, () => identity.publish('metadata.domain.created', payload)),
    ]);
    await eventually(async () => {
      expect(await identity.context.prisma.inbox.count()).toBeGreaterThanOrEqual(5);
    });
    expect(await groupsOf('domain', 2)).toHaveLength(3);
  });

  it('don’t add the creator again when the event arrives after their removal', async () => {
    await ensure('domain', 3, 'Late', creator);
    const [developers] = await groupsOf('domain', 3);
    const { body } = await account.machine('GET', `/user_group_assignments?q=user_id:eq:${creator}&sort=-id`);
    await account.machine('DELETE', `/user_group_assignments/${body.data[0].id}`);
    const payload = { account_id: account.account_id, domain_id: 3, name: 'Late', creator_id: creator };
    const before = await identity.context.prisma.inbox.count();
    await identity.publish('metadata.domain.created', payload);
    await eventually(async () => expect(await identity.context.prisma.inbox.count()).toBe(before + 1));
    expect(developers?.members).toHaveLength(1);
    expect((await groupsOf('domain', 3))[0]?.members).toEqual([]);
  });

  it('are renamed with their resource', async () => {
    await ensure('branch', 4, 'Old');
    await identity.publish('metadata.branch.updated', { account_id: account.account_id, branch_id: 4, name: 'New' });
    await eventually(async () =>
      expect((await groupsOf('branch', 4)).map(({ name }) => name)).toEqual([
        'New Developers',
        'New Approvers',
        'New Editors',
      ]),
    );
  });

  it('are deleted with their resource, and a late message does not bring them back', async () => {
    const payload = { account_id: account.account_id, domain_id: 5, name: 'Removed', creator_id: creator };
    await ensure('domain', 5, 'Removed', creator);
    await account.machine('POST', '/user_groups', {
      name: 'Custom on Removed',
      permissions: [{ action: 'edit', resource_type: 'domain', resource_id: 5 }],
    });
    await identity.publish('metadata.domain.deleted', payload);
    await eventually(async () => expect(await groupsOf('domain', 5)).toEqual([]));
    const permissions = await account.machine('GET', '/permissions?q=resource_type:eq:domain&q=resource_id:eq:5');
    expect(permissions.body.meta.total_count).toBe(0);
    await ensure('domain', 5, 'Removed', creator);
    expect(await groupsOf('domain', 5)).toEqual([]);
  });

  it('determine who may approve: approvers of the branch and administrators, if they can log in', async () => {
    await ensure('branch', 6, 'release');
    const approvers = (await groupsOf('branch', 6)).find(({ name }) => name.endsWith('Approvers')) as unknown as {
      id: number;
    };
    const invited = await account.machine('POST', '/users', { email: 'invited@example.com' });
    for (const user_id of [creator, invited.body.id])
      await account.machine('POST', '/user_group_assignments', { user_id, user_group_id: approvers.id });
    const { users } = await identity.rpc('jobs').ListApprovers(call(), { branch_id: 6 });
    expect(users.map(({ id }) => id)).toEqual([account.admin_user_id, creator]);
    const elsewhere = await identity.rpc('jobs').ListApprovers(call(), { branch_id: 7 });
    expect(elsewhere.users.map(({ id }) => id)).toEqual([account.admin_user_id]);
  });

  it('determine who administers the account: no other user, and none of another account', async () => {
    const { users } = await identity.rpc('jobs').ListAdministrators(call(), {});
    expect(users.map(({ id }) => id)).toEqual([account.admin_user_id]);
    await expect(identity.rpc('metadata').ListAdministrators(call(), {})).rejects.toMatchObject({ kind: 'forbidden' });
  });

  it('are listed for metadata with their members, without those of other accounts', async () => {
    const asked = { resource_type: 'domain', resource_ids: [1, 999] };
    const { user_groups } = await identity.rpc('metadata').ListResourceGroups(call(), asked);
    expect(user_groups.map(({ name, actions }) => [name, actions])).toEqual([
      ['Finance Developers', ['develop']],
      ['Finance Data Managers', ['edit']],
      ['Finance Viewers', ['view']],
    ]);
    expect(user_groups[0]?.members).toMatchObject([{ id: creator, email: 'creator@example.com' }]);
    const otherAccount = await identity.account();
    const other = { accountId: otherAccount.account_id };
    expect((await identity.rpc('metadata').ListResourceGroups(other, asked)).user_groups).toEqual([]);
    expect((await identity.rpc('metadata').ListUsers(other, { ids: [creator] })).users).toEqual([]);
    const foreign = identity.rpc('metadata').GetEffectivePermissions(other, { user_id: creator });
    await expect(foreign).rejects.toMatchObject({ kind: 'not_found', errors: ['User not found'] });
    expect((await identity.rpc('metadata').ListUsers(call(), { ids: [creator, 999] })).users).toMatchObject([
      { id: creator, first_name: '' },
    ]);
  });

  it('of a private branch are visible to its owner, users with rights on it, and administrators', async () => {
    const branch = (is_private: boolean, revision: number) => ({ is_private, owner_id: creator, revision });
    const tell = (revision: number, is_private = true) =>
      identity.rpc('metadata').EnsureResourceGroups(call(), {
        resource_type: 'branch',
        resource_id: 8,
        name: 'secret',
        branch: branch(is_private, revision),
      });
    const outsider = (await account.machine('POST', '/users', { email: 'outsider@example.com' })).body.id;
    await identity.context.prisma.user.update({ where: { id: outsider }, data: { status: 'active' } });
    const as = (userId: number) => identity.as({ accountId: account.account_id, userId, scopes: ['api'] });
    const [group] = await groupsOf('branch', 1);
    expect(await tell(1)).toEqual({ knows_sight: true });
    const { data } = (await account.machine('GET', '/user_groups?q=resource_id:eq:8&q=resource_type:eq:branch')).body;
    const id = data[0].id;
    await account.machine('POST', '/user_groups', {
      name: 'Custom on secret',
      permissions: [{ action: 'view', resource_type: 'branch', resource_id: 8 }],
    });
    const finds = async (userId: number) => {
      const groups = (await as(userId)('GET', '/user_groups?per_page=1000')).body;
      expect(groups.meta.total_count).toBe(groups.data.length);
      expect(groups.data).toContainEqual(expect.objectContaining({ name: group?.name }));
      const permissions = (await as(userId)('GET', '/permissions?q=resource_type:eq:branch&q=resource_id:eq:8')).body;
      const isNamed = JSON.stringify(groups).includes('secret ') && groups.data.some((each: Named) => each.id === id);
      const nested = groups.data.find(({ name }: Named) => name === 'Custom on secret').permissions.length;
      const { status } = await as(userId)('GET', `/user_groups/${id}`);
      return [isNamed, permissions.meta.total_count, nested, status];
    };
    const seen = [true, 4, 1, 200];
    const hidden = [false, 0, 0, 404];
    expect(await finds(outsider)).toEqual(hidden);
    expect(await finds(creator)).toEqual(seen);
    expect(await finds(account.admin_user_id)).toEqual(seen);
    const held = await identity.rpc('metadata').GetEffectivePermissions(call(), { user_id: creator });
    expect(held).toMatchObject({ private_branch_ids: [8] });
    expect(held.permissions).toContainEqual({ action: 'view', resource_type: 'branch', resource_id: 8 });

    // A late event changes nothing, a later revision does.
    await tell(1, false);
    expect(await finds(outsider)).toEqual(hidden);
    const { account_id } = account;
    const event = { account_id, branch_id: 8, name: 'secret', owner_id: creator, revision: 2 };
    await identity.publish('metadata.branch.updated', { ...event, branch_type: 'shared' });
    await eventually(async () => expect(await finds(outsider)).toEqual(seen));
    await tell(3);
    expect(await finds(outsider)).toEqual(hidden);
    // An earlier release sends no visibility.
    await ensure('branch', 8, 'secret');
    expect(await finds(outsider)).toEqual(hidden);
  });

  it('ignores messages about accounts that don’t exist', async () => {
    const before = await identity.context.prisma.inbox.count();
    await identity.publish('metadata.domain.created', {
      account_id: 999_999,
      domain_id: 1,
      name: 'X',
      creator_id: null,
    });
    await eventually(async () => expect(await identity.context.prisma.inbox.count()).toBe(before + 1));
  });
});
