// /user_groups, /user_group_assignments, /permissions: system groups, custom groups and
// memberships.
import { eventually } from '@almanac/testkit/eventually';
import { type Account, givenIdentity, type Identity } from '../given.ts';

type Named = { id: number; name: string };

describe('groups', () => {
  let identity: Identity;
  let account: Account;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
  });
  afterAll(() => identity.close());

  let count = 0;
  const newUser = async (more: Record<string, unknown> = {}, of = account) => {
    count += 1;
    const body = { email: `member${count}@example.com`, password: 'correct horse battery', ...more };
    return (await of.machine('POST', '/users', body)).body as { id: number; email: string };
  };
  const groupsOf = async (of: Account, q = '') =>
    (await of.machine('GET', `/user_groups?${q}`)).body.data as (Named & {
      members: Named[];
      permissions: unknown[];
    })[];
  const rightsOf = (user_id: number, of = account) =>
    identity.rpc('metadata').GetEffectivePermissions({ accountId: of.account_id }, { user_id });

  it('of an account are Administrators and Developers at first', async () => {
    const groups = await groupsOf(account);
    expect(groups.map(({ name }) => name)).toEqual(['Administrators', 'Developers']);
    expect(groups[0]).toMatchObject({
      system: true,
      permissions: [{ action: 'admin', resource_type: 'account', resource_id: account.account_id }],
      members: [{ id: account.admin_user_id, email: account.admin_email }],
    });
    expect(await rightsOf(account.admin_user_id)).toEqual({
      user_id: account.admin_user_id,
      license_type: 'developer',
      private_branch_ids: [],
      permissions: [{ action: 'admin', resource_type: 'account', resource_id: account.account_id }],
      revision: 0,
    });
  });

  it('of the system can not be changed or deleted', async () => {
    const [group] = await groupsOf(account);
    for (const [method, body] of [['PATCH', { name: 'X' }], ['DELETE']] as [string, unknown?][])
      expect((await account.admin(method, `/user_groups/${group?.id}`, body)).status).toBe(422);
  });

  it('can be created by administrators, with permissions', async () => {
    await identity
      .rpc('metadata')
      .EnsureResourceGroups(
        { accountId: account.account_id },
        { resource_type: 'domain', resource_id: 71, name: 'Sales' },
      );
    const made = await account.admin('POST', '/user_groups', {
      user_group: {
        name: 'Auditors',
        permissions: [
          { action: 'view', resource_type: 'account' },
          { action: 'edit', resource_type: 'domain', resource_id: 71 },
        ],
      },
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ name: 'Auditors', system: false, members: [] });
    expect(made.body.permissions).toMatchObject([
      { action: 'view', resource_type: 'account', resource_id: account.account_id },
      { action: 'edit', resource_type: 'domain', resource_id: 71 },
    ]);
    const { id: user_id } = await newUser();
    await account.admin('POST', '/user_group_assignments', { user_id, user_group_id: made.body.id });
    expect((await rightsOf(user_id)).permissions).toHaveLength(2);
    const permissions = [{ action: 'develop', resource_type: 'domain', resource_id: 71 }];
    const changed = await account.admin('PATCH', `/user_groups/${made.body.id}`, { permissions, description: 'All' });
    expect(changed.body).toMatchObject({
      name: 'Auditors',
      description: 'All',
      permissions,
      members: [{ id: user_id }],
    });
    expect((await rightsOf(user_id)).permissions).toEqual(permissions);
    expect((await account.admin('DELETE', `/user_groups/${made.body.id}`)).status).toBe(204);
    expect((await rightsOf(user_id)).permissions).toEqual([]);
    await eventually(() =>
      expect(identity.events).toContainEqual(
        expect.objectContaining({
          type: 'identity.permission.changed',
          payload: { account_id: account.account_id, user_id: null, revision: expect.any(Number) },
        }),
      ),
    );
  });

  it('set updated_at when their permissions change', async () => {
    const past = new Date('2026-01-02T03:04:05.678Z');
    const { id } = (await account.admin('POST', '/user_groups', { name: 'Timed' })).body;
    const changed = async (body: unknown) => {
      await identity.context.prisma.user_group.update({ where: { id }, data: { updated_at: past } });
      return (await account.admin('PATCH', `/user_groups/${id}`, body)).body.updated_at !== past.toISOString();
    };
    expect(await changed({ permissions: [{ action: 'view', resource_type: 'account' }] })).toBe(true);
    expect(await changed({ description: 'Changed' })).toBe(true);
    expect(await changed({})).toBe(false);
  });

  it('report every problem', async () => {
    const make = (body: unknown) => account.admin('POST', '/user_groups', body);
    expect((await make({ name: 'Twins' })).status).toBe(201);
    expect((await make({ name: ' TWINS ' })).body.errors).toEqual(['Name has already been taken']);
    for (const name of ['Tw\u200bins', '\u202eTWINS', 'Twi\ufe0fns'])
      expect((await make({ name })).body.errors).toEqual(['Name has already been taken']);
    for (const name of ['', '\u200b\u200d'])
      expect((await make({ name })).body.errors).toEqual(["Name can't be blank"]);
    expect((await make({ name: 'A', permissions: [{ action: 'rule', resource_type: 'account' }] })).status).toBe(422);
    expect((await make({ name: 'A', permissions: [{ action: 'view', resource_type: 'domain' }] })).status).toBe(422);
    expect((await make({ name: 'A', permissions: 'all' })).status).toBe(400);
    expect((await make({ name: 'A', system: true })).status).toBe(400);
    const otherAccount = await identity.account();
    for (const permission of [
      { action: 'view', resource_type: 'domain', resource_id: 4_000 },
      { action: 'view', resource_type: 'account', resource_id: otherAccount.account_id },
    ])
      expect((await make({ name: 'A', permissions: [permission] })).status).toBe(422);
  });

  it('get and lose members', async () => {
    const [, developers] = await groupsOf(account);
    const { id: user_id } = await newUser();
    const user_group_id = developers?.id as number;
    const made = await account.admin('POST', '/user_group_assignments', {
      user_group_assignment: { user_id, user_group_id },
    });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({ id: expect.any(Number), user_id, user_group_id, created_at: expect.any(String) });
    const again = await account.admin('POST', '/user_group_assignments', { user_id, user_group_id });
    expect([again.status, again.body.errors]).toEqual([422, ['User is already in this group']]);
    const listed = await account.admin('GET', `/user_group_assignments?user_group_id=${user_group_id}`);
    expect(listed.body.data).toEqual([made.body]);
    expect((await account.admin('DELETE', `/user_group_assignments/${made.body.id}`)).status).toBe(204);
    expect((await account.admin('DELETE', `/user_group_assignments/${made.body.id}`)).status).toBe(404);
    expect((await rightsOf(user_id)).permissions).toEqual([]);
  });

  it('get a member once, also by concurrent requests', async () => {
    const [, developers] = await groupsOf(account);
    const body = { user_id: (await newUser()).id, user_group_id: developers?.id };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => account.admin('POST', '/user_group_assignments', body)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(422)]);
  });

  it('keep the last administrator', async () => {
    const listed = await account.admin('GET', `/user_group_assignments?q=user_id:eq:${account.admin_user_id}`);
    const answer = await account.machine('DELETE', `/user_group_assignments/${listed.body.data[0].id}`);
    expect([answer.status, answer.body.errors]).toEqual([422, ['The account must keep at least one administrator.']]);
  });

  it('need both ids, of the right kind and of this account', async () => {
    const [, developers] = await groupsOf(account);
    const otherAccount = await identity.account();
    const [theirs] = await groupsOf(otherAccount);
    const { id } = await newUser();
    const assign = (body: unknown) => account.admin('POST', '/user_group_assignments', body);
    for (const body of [{}, { user_id: id }, { user_id: 'x', user_group_id: 1 }, { user_id: id, user_group_id: null }])
      expect((await assign(body)).status).toBe(400);
    const unknownUser = await assign({ user_id: 2_147_483_647, user_group_id: developers?.id });
    const foreignUser = await assign({ user_id: otherAccount.admin_user_id, user_group_id: developers?.id });
    expect([foreignUser.status, foreignUser.body]).toEqual([404, unknownUser.body]);
    const unknownGroup = await assign({ user_id: id, user_group_id: 2_147_483_647 });
    const foreignGroup = await assign({ user_id: id, user_group_id: theirs?.id });
    expect([foreignGroup.status, foreignGroup.body]).toEqual([404, unknownGroup.body]);
  });

  it('of another account are not found', async () => {
    const otherAccount = await identity.account();
    const [group] = await groupsOf(account);
    const { body } = await account.admin('GET', '/user_group_assignments');
    expect((await otherAccount.admin('GET', `/user_groups/${group?.id}`)).status).toBe(404);
    expect((await otherAccount.admin('DELETE', `/user_groups/${group?.id}`)).status).toBe(404);
    expect((await otherAccount.admin('DELETE', `/user_group_assignments/${body.data[0].id}`)).status).toBe(404);
    const filtered = await otherAccount.admin('GET', `/user_group_assignments?user_group_id=${group?.id}`);
    expect(filtered.body.meta.total_count).toBe(0);
    const permissions = await otherAccount.admin('GET', '/permissions');
    expect(permissions.body.meta.total_count).toBe(2);
  });

  it('are visible to every user of the account and changed by administrators', async () => {
    const { id } = await newUser();
    const ordinary = identity.as({ accountId: account.account_id, userId: id });
    const [group] = await groupsOf(account);
    expect((await ordinary('GET', `/user_groups/${group?.id}`)).status).toBe(200);
    expect((await ordinary('GET', '/permissions?q=action:eq:admin')).body.data).toHaveLength(1);
    const assign = await ordinary('POST', '/user_group_assignments', { user_id: id, user_group_id: group?.id });
    expect([assign.status, assign.body.error]).toEqual([403, 'Forbidden']);
    expect((await ordinary('POST', '/user_groups', { name: 'Mine' })).status).toBe(403);
    expect((await ordinary('POST', '/permissions', {})).status).toBe(404);
  });
});
