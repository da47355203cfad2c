// Changes of rights: who may make them with which token, and the revision that orders them.
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, givenIdentity, type Identity } from '../given.ts';

let identity: Identity;
let account: Account;

beforeAll(async () => {
  identity = await givenIdentity();
});
afterAll(() => identity.close());
beforeEach(async () => {
  account = await identity.account();
});

let count = 0;
const newUser = async () => {
  count += 1;
  return (await account.machine('POST', '/users', { email: `rights${count}@example.com` })).body.id as number;
};
const groupNamed = async (name: string) =>
  (await account.machine('GET', `/user_groups?q=name:eq:${name}`)).body.data[0].id as number;
const newGroup = async (...permissions: object[]) => {
  count += 1;
  const { body } = await account.machine('POST', '/user_groups', { name: `Group ${count}`, permissions });
  return body.id as number;
};
const rightsOf = (user_id: number) =>
  identity.rpc('metadata').GetEffectivePermissions({ accountId: account.account_id }, { user_id });
const administratorWith = (...scopes: string[]) =>
  identity.as({ accountId: account.account_id, userId: account.admin_user_id, scopes });

describe('the revision of rights', () => {
  const changesHeard = () =>
    identity.events
      .filter(({ type, payload }) => type.endsWith('permission.changed') && payload.account_id === account.account_id)
      .map(({ payload }) => ({ userId: payload.user_id, revision: payload.revision }));

  it('rises with each change, and is in its event and in every later answer', async () => {
    const user_id = await newUser();
    const group = await newGroup({ action: 'view', resource_type: 'account' });
    expect(await rightsOf(user_id)).toMatchObject({ revision: 0, permissions: [] });
    const developers = await groupNamed('Developers');
    const assign = (user_group_id: number) =>
      account.admin('POST', '/user_group_assignments', { user_id, user_group_id });
    const metadata = identity.rpc('metadata');
    const caller = { accountId: account.account_id };
    const changes: [concerns: number | null, change: () => Promise<unknown>][] = [
      [user_id, () => assign(group)],
      [null, () => account.admin('PATCH', `/user_groups/${group}`, { permissions: [] })],
      [user_id, async () => account.admin('DELETE', `/user_group_assignments/${(await assign(developers)).body.id}`)],
      [user_id, () => account.admin('PATCH', `/users/${user_id}`, { license_type: 'end_user' })],
      [
        user_id,
        () =>
          metadata.EnsureResourceGroups(caller, {
            resource_type: 'branch',
            resource_id: 5,
            name: 'work',
            creator_id: user_id,
          }),
      ],
      [
        null,
        () => identity.publish('metadata.branch.deleted', { ...caller, account_id: account.account_id, branch_id: 5 }),
      ],
      [null, () => account.admin('DELETE', `/user_groups/${group}`)],
    ];
    let before = 0;
    for (const [concerns, change] of changes) {
      await change();
      await eventually(async () => {
        const heard = changesHeard().at(-1);
        expect(heard).toEqual({ userId: concerns, revision: (await rightsOf(user_id)).revision });
        expect(heard?.revision).toBeGreaterThan(before);
      });
      before = (await rightsOf(user_id)).revision;
    }
    const revisions = changesHeard().map(({ revision }) => revision);
    expect(revisions).toEqual(revisions.map((_, index) => index + 1));
    await account.admin('DELETE', `/users/${user_id}`);
    await eventually(() => expect(changesHeard().at(-1)).toEqual({ userId: user_id, revision: before + 1 }));
  });

  it('stays where nothing changed, and where a change was refused', async () => {
    const { revision } = await rightsOf(account.admin_user_id);
    const assignments = await account.admin('GET', `/user_group_assignments?q=user_id:eq:${account.admin_user_id}`);
    expect((await account.machine('DELETE', `/user_group_assignments/${assignments.body.data[0].id}`)).status).toBe(
      422,
    );
    const demote = { license_type: 'end_user' };
    expect((await account.machine('PATCH', `/users/${account.admin_user_id}`, demote)).status).toBe(422);
    await account.machine('PATCH', `/users/${account.admin_user_id}`, { first_name: 'Ada' });
    expect((await rightsOf(account.admin_user_id)).revision).toBe(revision);
  });

  it('is announced once for each of many concurrent changes, none twice', async () => {
    const developers = await groupNamed('Developers');
    const users = await Promise.all(Array.from({ length: 8 }, newUser));
    await Promise.all(
      users.map((user_id) => account.admin('POST', '/user_group_assignments', { user_id, user_group_id: developers })),
    );
    await eventually(() =>
      expect(
        changesHeard()
          .map(({ revision }) => Number(revision))
          .toSorted((a, b) => a - b),
      ).toEqual([1, 2, 3, 4, 5, 6, 7, 8]),
    );
  });
});

describe('who administers the account', () => {
  const message = 'Insufficient scope. Required: api:admin';
  const refused = refusal(message, 'insufficient_scope', message, { params: { scope: 'api:admin' } });

  it('is not changed by a token that may only write, even an administrator’s or a machine’s', async () => {
    const user_id = await newUser();
    const mine = await newGroup({ action: 'admin', resource_type: 'account' });
    const machine = identity.as({ accountId: account.account_id, scopes: ['api:write', 'api:delete'] });
    for (const user_group_id of [await groupNamed('Administrators'), mine])
      for (const call of [administratorWith('api:read', 'api:write', 'api:delete'), machine]) {
        const answer = await call('POST', '/user_group_assignments', { user_id, user_group_id });
        expect([answer.status, answer.body]).toEqual([403, refused]);
        expect(answer.headers.get('www-authenticate')).toContain('scope="api:admin"');
      }
    expect((await rightsOf(user_id)).permissions).toEqual([]);
    const listed = await account.machine('GET', `/user_group_assignments?q=user_id:eq:${account.admin_user_id}`);
    const [{ id }] = listed.body.data;
    const removed = await administratorWith('api:delete')('DELETE', `/user_group_assignments/${id}`);
    expect([removed.status, removed.body]).toEqual([403, refused]);
    expect((await rightsOf(account.admin_user_id)).permissions).toHaveLength(1);
  });

  it('is changed with api:admin beside the scope of the method, or with api', async () => {
    const user_group_id = await groupNamed('Administrators');
    for (const scopes of [['api'], ['api:write', 'api:delete', 'api:admin']]) {
      const user_id = await newUser();
      const call = administratorWith(...scopes);
      const made = await call('POST', '/user_group_assignments', { user_id, user_group_id });
      expect(made.status).toBe(201);
      expect((await rightsOf(user_id)).permissions).toMatchObject([{ action: 'admin', resource_type: 'account' }]);
      expect((await call('DELETE', `/user_group_assignments/${made.body.id}`)).status).toBe(204);
    }
  });

  it('is checked after existence and after the right', async () => {
    const user_group_id = await groupNamed('Administrators');
    const call = administratorWith('api:write');
    expect((await call('POST', '/user_group_assignments', { user_id: 2_147_483_647, user_group_id })).status).toBe(404);
    expect((await administratorWith('api:delete')('DELETE', '/user_group_assignments/2147483647')).status).toBe(404);
    const user_id = await newUser();
    const ordinary = identity.as({ accountId: account.account_id, userId: user_id, scopes: ['api:write'] });
    const answer = await ordinary('POST', '/user_group_assignments', { user_id, user_group_id });
    expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden']);
  });

  it('leaves the other groups to every token of an administrator that may write', async () => {
    const user_id = await newUser();
    const call = administratorWith('api:write', 'api:delete');
    for (const user_group_id of [
      await groupNamed('Developers'),
      await newGroup({ action: 'develop', resource_type: 'table_definition', resource_id: 3 }),
    ]) {
      const made = await call('POST', '/user_group_assignments', { user_id, user_group_id });
      expect(made.status).toBe(201);
      expect((await call('DELETE', `/user_group_assignments/${made.body.id}`)).status).toBe(204);
    }
  });
});

describe('an ordinary user', () => {
  it('can raise neither their own rights nor any others, whatever their token', async () => {
    const user_id = await newUser();
    const group = await newGroup({ action: 'view', resource_type: 'account' });
    await account.admin('POST', '/user_group_assignments', { user_id, user_group_id: group });
    const ordinary = identity.as({ accountId: account.account_id, userId: user_id, scopes: ['api'] });
    const [{ id: membership }] = (await ordinary('GET', `/user_group_assignments?user_group_id=${group}`)).body.data;
    const raised = [{ action: 'admin', resource_type: 'account' }];
    const before = await rightsOf(user_id);
    const tries: [string, string, unknown?][] = [
      ['GET', '/users'],
      ['POST', '/users', { email: 'friend@example.com' }],
      ['GET', `/users/${user_id}`],
      ['PATCH', `/users/${user_id}`, { license_type: 'developer' }],
      ['PATCH', `/users/${account.admin_user_id}`, { password: 'known to another person' }],
      ['DELETE', `/users/${account.admin_user_id}`],
      ['POST', '/user_groups', { name: 'Mine', permissions: raised }],
      ['PATCH', `/user_groups/${group}`, { permissions: raised }],
      ['DELETE', `/user_groups/${group}`],
      ['POST', '/user_group_assignments', { user_id, user_group_id: await groupNamed('Developers') }],
      ['DELETE', `/user_group_assignments/${membership}`],
      ['PATCH', '/account', { overage_enabled: true }],
      ['POST', '/oauth_applications', { name: 'Mine', scopes: 'api' }],
    ];
    for (const [method, path, body] of tries) {
      const answer = await ordinary(method, path, body);
      expect([method, path, answer.status, answer.body]).toEqual([
        method,
        path,
        403,
        refusal('Forbidden', 'missing_right', 'You need the right "admin" on the account.', {
          params: { right: 'admin' },
        }),
      ]);
    }
    expect(await rightsOf(user_id)).toEqual(before);
  });

  it('is no administrator as an end user, even in the group Administrators', async () => {
    const user_id = await newUser();
    await account.admin('POST', '/user_group_assignments', {
      user_id,
      user_group_id: await groupNamed('Administrators'),
    });
    const call = identity.as({ accountId: account.account_id, userId: user_id, scopes: ['api'] });
    expect((await call('GET', '/users')).status).toBe(200);
    await account.admin('PATCH', `/users/${user_id}`, { license_type: 'end_user' });
    expect((await call('GET', '/users')).status).toBe(403);
    expect((await call('PATCH', `/users/${user_id}`, { license_type: 'developer' })).status).toBe(403);
  });
});

describe('what a token that may only write changes', () => {
  const message = 'Insufficient scope. Required: api:admin';
  const refused = refusal(message, 'insufficient_scope', message, { params: { scope: 'api:admin' } });
  const machineWith = (...scopes: string[]) => identity.as({ accountId: account.account_id, scopes });

  it('is not who approves or administers anywhere', async () => {
    const user_id = await newUser();
    const groups = [
      await newGroup({ action: 'approve', resource_type: 'account' }),
      await newGroup({ action: 'approve', resource_type: 'table_definition', resource_id: 7 }),
      await newGroup({ action: 'admin', resource_type: 'table_definition', resource_id: 7 }),
    ];
    for (const user_group_id of groups) {
      const body = { user_id, user_group_id };
      for (const call of [administratorWith('api:write', 'api:delete'), machineWith('api:write', 'api:delete')]) {
        const answer = await call('POST', '/user_group_assignments', body);
        expect([answer.status, answer.body]).toEqual([403, refused]);
      }
      const made = await machineWith('api')('POST', '/user_group_assignments', body);
      expect(made.status).toBe(201);
      const removed = await machineWith('api:delete')('DELETE', `/user_group_assignments/${made.body.id}`);
      expect([removed.status, removed.body]).toEqual([403, refused]);
    }
  });

  it('is who develops, within what it may itself', async () => {
    const body = { user_id: await newUser(), user_group_id: await groupNamed('Developers') };
    const made = await machineWith('api:write')('POST', '/user_group_assignments', body);
    expect(made.status).toBe(201);
    expect((await machineWith('api:delete')('DELETE', `/user_group_assignments/${made.body.id}`)).status).toBe(204);
  });

  it('is the name of the account, but not whether calls beyond the allowance are accepted', async () => {
    for (const call of [administratorWith('api:write'), machineWith('api:write')]) {
      const answer = await call('PATCH', '/account', { account: { overage_enabled: true } });
      expect([answer.status, answer.body]).toEqual([403, refused]);
      expect((await call('PATCH', '/account', { account: { name: 'Renamed' } })).status).toBe(200);
    }
    const allowed = await machineWith('api:write', 'api:admin')('PATCH', '/account', { overage_enabled: false });
    expect(allowed.status).toBe(200);
  });
});
