// /me: what the caller learns about themselves, and the changes they make to their own user.
import { type Call, callHeaders } from '@almanac/testkit/calls/call';
import { refusal } from '@almanac/testkit/calls/refusal';
import { type Account, actsOf, givenIdentity, type Identity } from '../given.ts';

let identity: Identity;
let account: Account;
let other: Account;

beforeAll(async () => {
  identity = await givenIdentity();
  account = await identity.account();
  other = await identity.account();
});
afterAll(() => identity.close());

let count = 0;
type Person = { id: number; email: string; call: Call };
const newPerson = async (more: Record<string, unknown> = {}, of = account): Promise<Person> => {
  count += 1;
  const user = { email: `me${count}@example.com`, password: 'correct horse battery', ...more };
  const { body } = await of.admin('POST', '/users', { user });
  return { id: body.id, email: body.email, call: identity.as({ accountId: of.account_id, userId: body.id }) };
};
const newServiceUser = async (): Promise<Person> => {
  const user = { user_type: 'service', first_name: 'Pipeline' };
  const { body } = await account.admin('POST', '/users', { user });
  return { id: body.id, email: '', call: identity.as({ accountId: account.account_id, userId: body.id }) };
};
const nowhere = { everywhere: false, domain_ids: [], branch_ids: [], table_definition_ids: [] };
const everywhere = { ...nowhere, everywhere: true };
const join = async ({ id }: Person, name: string, permissions: object[]) => {
  const { body: group } = await account.admin('POST', '/user_groups', { user_group: { name, permissions } });
  await account.admin('POST', '/user_group_assignments', { user_id: id, user_group_id: group.id });
  return { id: group.id, name };
};

describe('GET /me', () => {
  it('tells a person who they are, where they are, and what they may do', async () => {
    const ada = await newPerson({ first_name: 'Ada', last_name: 'Lovelace', license_type: 'developer' });
    const resources = [
      { resource_type: 'domain', resource_id: 3, name: 'Sales' },
      { resource_type: 'branch', resource_id: 4, name: 'main' },
    ];
    for (const resource of resources)
      await identity.rpc('metadata').EnsureResourceGroups({ accountId: account.account_id }, resource);
    const stewards = await join(ada, 'Stewards', [
      { action: 'edit', resource_type: 'domain', resource_id: 3 },
      { action: 'approve', resource_type: 'branch', resource_id: 4 },
      { action: 'develop', resource_type: 'table_definition', resource_id: 5 },
    ]);
    const applications = (await account.admin('GET', '/oauth_applications')).body.data;
    const call = identity.as({
      accountId: account.account_id,
      userId: ada.id,
      applicationId: applications[0].id,
      scopes: ['api:read'],
      branching: false,
      storageBytes: 1_000,
    });
    const { status, body } = await call('GET', '/me');
    expect(status).toBe(200);
    expect(body).toEqual({
      user: {
        id: ada.id,
        first_name: 'Ada',
        last_name: 'Lovelace',
        name: 'Ada Lovelace',
        initials: 'AL',
        email: ada.email,
        user_type: 'person',
        license_type: 'developer',
        status: 'active',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
      oauth_application: { id: applications[0].id, name: applications[0].name },
      account: { id: account.account_id, name: expect.stringContaining('Account'), date_style: 'ISO' },
      abilities: { branching: false, storage_bytes: 1_000 },
      scopes: ['api:read'],
      user_groups: [stewards],
      rights: {
        view: { everywhere: false, domain_ids: [3], branch_ids: [], table_definition_ids: [5] },
        edit: { everywhere: false, domain_ids: [3], branch_ids: [], table_definition_ids: [5] },
        develop: { ...nowhere, table_definition_ids: [5] },
        admin: nowhere,
        approve: { ...nowhere, branch_ids: [4] },
      },
      preferences: {},
    });
  });

  it('caps the rights by the licence', async () => {
    const guest = await newPerson({ license_type: 'end_user' });
    await join(guest, 'Guests', [{ action: 'develop', resource_type: 'account' }]);
    expect((await guest.call('GET', '/me')).body.rights).toEqual({
      view: everywhere,
      edit: everywhere,
      develop: nowhere,
      admin: nowhere,
      approve: nowhere,
    });
  });

  it('names private branches only to those who have a right on them', async () => {
    const publish = (branch_id: number, owner_id: number) =>
      identity.rpc('metadata').EnsureResourceGroups(
        { accountId: account.account_id },
        {
          resource_type: 'branch',
          resource_id: branch_id,
          name: `Private ${branch_id}`,
          creator_id: owner_id,
          branch: { is_private: true, owner_id, revision: 1 },
        },
      );
    const [owner, outsider] = [await newPerson(), await newPerson()];
    await publish(4_711, owner.id);
    expect((await owner.call('GET', '/me')).body.rights.develop.branch_ids).toContain(4_711);
    expect(JSON.stringify((await outsider.call('GET', '/me')).body)).not.toContain('4711');
  });

  it('tells an application about itself, without a user', async () => {
    const [application] = (await account.admin('GET', '/oauth_applications')).body.data;
    const call = identity.as({ accountId: account.account_id, applicationId: application.id });
    expect((await call('GET', '/me')).body).toMatchObject({
      user: null,
      oauth_application: { id: application.id, name: application.name },
      account: { id: account.account_id },
      scopes: ['api'],
      user_groups: [],
      rights: { view: everywhere, admin: everywhere, approve: nowhere },
      preferences: {},
    });
    const foreign = identity.as({ accountId: other.account_id, applicationId: application.id });
    expect((await foreign('GET', '/me')).body.oauth_application).toBeNull();
  });

  it('is a 401 for a user who was deleted, is suspended, or is of another account', async () => {
    const [deleted, out] = [await newPerson(), await newPerson()];
    await account.admin('DELETE', `/users/${deleted.id}`);
    await account.admin('PATCH', `/users/${out.id}`, { status: 'suspended' });
    const elsewhere = identity.as({ accountId: other.account_id, userId: account.admin_user_id });
    for (const call of [deleted.call, out.call, elsewhere])
      expect(await call('GET', '/me')).toMatchObject({ status: 401, body: { error: 'Invalid resource owner' } });
  });
});

describe('PATCH /me', () => {
  it('changes the own name, and leaves what is not given', async () => {
    const person = await newPerson({ first_name: 'Grace', last_name: 'Murray' });
    const { status, body } = await person.call('PATCH', '/me', { last_name: 'Hopper' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: person.id, first_name: 'Grace', name: 'Grace Hopper', initials: 'GH' });
    expect((await account.admin('GET', `/users/${person.id}`)).body.last_name).toBe('Hopper');
    const [act] = (await actsOf(identity, account, 'user.updated')).slice(-1);
    expect(act).toMatchObject({ user_id: person.id, resource_id: person.id });
    expect([act?.before, act?.after]).toEqual([{ last_name: 'Murray' }, { last_name: 'Hopper' }]);
  });

  it('refuses everything else about a user', async () => {
    const person = await newPerson();
    for (const field of ['email', 'password', 'license_type', 'status', 'user_type', 'id', 'account_id'])
      expect(await person.call('PATCH', '/me', { [field]: 'x' })).toMatchObject({
        status: 400,
        body: { problems: [{ code: 'unknown_property', field }] },
      });
    expect(await person.call('PATCH', '/me', { first_name: 'a\nb', last_name: 'x'.repeat(256) })).toMatchObject({
      status: 422,
      body: {
        problems: [
          { code: 'wrong_format', field: 'first_name' },
          { code: 'too_long', field: 'last_name', params: { maximum: 255 } },
        ],
      },
    });
  });

  it('leaves a service user a name', async () => {
    const robot = await newServiceUser();
    expect(await robot.call('PATCH', '/me', { first_name: ' ' })).toMatchObject({
      status: 422,
      body: refusal('Validation failed', 'blank', "First name can't be blank", { field: 'first_name' }),
    });
    expect((await robot.call('PATCH', '/me', { first_name: 'Robot' })).body.name).toBe('Robot');
  });

  it('takes a user', async () => {
    expect((await account.machine('PATCH', '/me', { first_name: 'Ada' })).status).toBe(401);
  });
});

describe('preferences', () => {
  const limit = 16 * 1024;

  it('are stored as a whole, for each user alone, and are shown by /me too', async () => {
    const [one, two] = [await newPerson(), await newPerson()];
    const preferences = { density: 'compact', columns: { '7': ['code', null, 1.5] } };
    expect(await one.call('GET', '/me/preferences')).toMatchObject({ status: 200, body: { preferences: {} } });
    expect(await one.call('PUT', '/me/preferences', { preferences })).toMatchObject({
      status: 200,
      body: { preferences },
    });
    expect((await one.call('GET', '/me')).body.preferences).toEqual(preferences);
    expect((await two.call('GET', '/me/preferences')).body).toEqual({ preferences: {} });
    await one.call('PUT', '/me/preferences', { preferences: { theme: 'dark' } });
    expect((await one.call('GET', '/me/preferences')).body).toEqual({ preferences: { theme: 'dark' } });
  });

  it('keep numbers that no double holds', async () => {
    const person = await newPerson();
    const exact = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('9007199254740993');
    await person.call('PUT', '/me/preferences', { preferences: { last: exact } });
    const [row] = await identity.context.prisma.$queryRaw<{ text: string }[]>`
      select preferences::text as text from user_preference where user_id = ${person.id}`;
    expect(row?.text).toBe('{"last":9007199254740993}');
    // Read and sent as text, because this process would round it too.
    const claims = { accountId: account.account_id, userId: person.id };
    const answer = await fetch(`${identity.url}/api/v1/me/preferences`, {
      headers: await callHeaders(identity.keys, claims),
    });
    expect(await answer.text()).toBe('{"preferences":{"last":9007199254740993}}');
  });

  // {"text":""} is 11 bytes; é has two.
  it('take 16 kB of JSON and not a byte more', async () => {
    const person = await newPerson();
    const ofBytes = (bytes: number) => ({ preferences: { text: `a${'é'.repeat((bytes - 12) / 2)}` } });
    expect((await person.call('PUT', '/me/preferences', ofBytes(limit))).status).toBe(200);
    expect(
      await person.call('PUT', '/me/preferences', { preferences: { text: `ab${'é'.repeat((limit - 12) / 2)}` } }),
    ).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'too_long', field: 'preferences', params: { maximum: limit } }] },
    });
    expect((await person.call('GET', '/me/preferences')).body.preferences.text).toHaveLength(1 + (limit - 12) / 2);
  });

  it('are an object', async () => {
    const person = await newPerson();
    for (const preferences of [[], 'dark', 7, true])
      expect(await person.call('PUT', '/me/preferences', { preferences })).toMatchObject({
        status: 400,
        body: { problems: [{ code: 'wrong_type', field: 'preferences' }] },
      });
    expect((await person.call('PUT', '/me/preferences', {})).status).toBe(422);
    expect((await account.machine('GET', '/me/preferences')).status).toBe(401);
  });

  it('end with their user', async () => {
    const person = await newPerson();
    await person.call('PUT', '/me/preferences', { preferences: { theme: 'dark' } });
    await account.admin('DELETE', `/users/${person.id}`);
    expect(await identity.context.prisma.user_preference.count({ where: { user_id: person.id } })).toBe(0);
    expect((await person.call('PUT', '/me/preferences', { preferences: {} })).status).toBe(401);
  });
});
