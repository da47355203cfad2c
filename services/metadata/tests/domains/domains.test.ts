// Domains over HTTP: rules, rights, groups, events.
import {
  type Account,
  givenAccount,
  givenAdmin,
  givenUser,
  type Metadata,
  outboxEmpty,
  startMetadata,
} from '../given.ts';

let metadata: Metadata;
let account: Account;

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  account = await givenAccount(metadata);
});

describe('domains', () => {
  it('are created nested, flat and with bracket keys, and shown with groups and members', async () => {
    const { api } = account;
    const flat = await api.post('/domains', { name: 'Flat' });
    expect(flat).toMatchObject({ name: 'Flat', abbreviation: null, description: null });
    await api.post('/domains', { 'domain[name]': 'Bracket', 'domain[abbreviation]': '_b' });
    const user = givenUser(metadata, account.id);
    metadata.neighbours.identity.groups.push({
      id: 5,
      name: 'Flat Developers',
      resource_type: 'domain',
      resource_id: flat.id,
      members: [user.id],
    });
    const shown = await api.get(`/domains/${flat.id}`);
    expect(shown.user_groups).toMatchObject([{ id: 5, resource_type: 'domain', members: [{ id: user.id }] }]);
  });

  it('refuse broken attributes with every problem', async () => {
    const bad = await account.api.send('POST', '/domains', { domain: { name: ' ', abbreviation: '1toolong' } });
    expect(bad.status).toBe(422);
    expect(bad.body.errors).toEqual([
      "Name can't be blank",
      'Abbreviation is too long (maximum is 4 characters)',
      'Abbreviation must start with a letter or _',
    ]);
    expect((await account.api.send('POST', '/domains', { domain: {} })).status).toBe(422);
    expect((await account.api.send('POST', '/domains', { domain: { name: 7 } })).status).toBe(400);
    expect((await account.api.send('POST', '/domains', { domain: { name: 'x', colour: 'red' } })).status).toBe(400);
    for (const property of ['id', 'account_id', 'created_at', 'creator_id', 'name_key']) {
      const answer = await account.api.send('PATCH', `/domains/${account.domainId}`, { domain: { [property]: 1 } });
      expect(answer.status).toBe(400);
    }
  });

  it('have names that are unique in the account on their normalised form, also under concurrency', async () => {
    const answers = await Promise.all(
      ['Café', 'café', 'CAFE\u0301', 'ca\u200bfé '].map((name) => account.api.send('POST', '/domains', { name })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422]);
    expect(answers.find(({ status }) => status === 422)?.body.errors).toEqual(['Name has already been taken']);
    const other = await givenAccount(metadata);
    expect((await other.api.send('POST', '/domains', { name: 'Café' })).status).toBe(201);
    const second = await account.api.post('/domains', { name: 'Second' });
    expect((await account.api.send('PATCH', `/domains/${second.id}`, { name: 'CAFÉ' })).status).toBe(422);
    expect((await account.api.send('PATCH', `/domains/${second.id}`, { name: 'SECOND' })).body.name).toBe('SECOND');
  });

  it('change the named attributes; null clears', async () => {
    const path = `/domains/${account.domainId}`;
    const changed = await account.api.send('PATCH', path, { domain: { description: 'Places' } });
    expect(changed.body).toMatchObject({ name: 'Geography', abbreviation: 'GEO', description: 'Places' });
    const cleared = await account.api.send('PATCH', path, { abbreviation: null });
    expect(cleared.body).toMatchObject({ abbreviation: null, description: 'Places' });
  });

  it('are deleted only without definitions, and once', async () => {
    const { api, domainId, mainId } = account;
    const table = await api.post('/table_definitions', { branch_id: mainId, name: 'Countries', domain_id: domainId });
    const refused = await api.send('DELETE', `/domains/${domainId}`);
    expect(refused).toMatchObject({ status: 422, body: { errors: ['Domain still has table definitions: Countries'] } });
    await api.send('DELETE', `/table_definitions/${table.id}`);
    const answers = await Promise.all([1, 2, 3].map(() => api.send('DELETE', `/domains/${domainId}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });

  it('are written by administrators only, and read by every user', async () => {
    const developer = givenUser(metadata, account.id, [['develop', 'account', account.id]]);
    const endUser = givenUser(metadata, account.id, [['admin', 'account', account.id]], { license: 'end_user' });
    const admin = givenAdmin(metadata, account.id);
    for (const api of [developer, endUser]) {
      expect((await api.send('POST', '/domains', { name: 'Mine' })).status).toBe(403);
      expect((await api.send('PATCH', `/domains/${account.domainId}`, { nonsense: 1 })).status).toBe(403);
      expect((await api.send('DELETE', `/domains/${account.domainId}`)).status).toBe(403);
      expect((await api.get('/domains')).data).toHaveLength(1);
    }
    const made = await admin.post('/domains', { name: 'Mine' });
    expect(metadata.neighbours.identity.ensured.at(-1)).toMatchObject({
      resource_type: 'domain',
      resource_id: made.id,
      name: 'Mine',
      creator_id: admin.id,
      accountId: account.id,
    });
    await admin.send('PATCH', `/domains/${made.id}`, { name: 'Ours' });
    expect(metadata.neighbours.identity.ensured.at(-1)).toMatchObject({ resource_id: made.id, name: 'Ours' });
  });

  it('are created even while identity is unavailable; the event creates the groups', async () => {
    metadata.neighbours.identity.isAway = true;
    try {
      expect((await account.api.send('POST', '/domains', { name: 'Lonely' })).status).toBe(201);
      await outboxEmpty(metadata);
    } finally {
      metadata.neighbours.identity.isAway = false;
    }
  });
});

describe('lists', () => {
  it('page, search and sort, and refuse unknown parameters', async () => {
    const { api } = account;
    for (const name of ['Alpha', 'Beta 100%', 'Gamma_x']) await api.post('/domains', { name });
    const names = async (query: string) =>
      (await api.get(`/domains?${query}`)).data.map(({ name }: { name: string }) => name);
    expect(await names('sort=-name')).toEqual(['Geography', 'Gamma_x', 'Beta 100%', 'Alpha']);
    expect(await names('q=name:contains:A&q=name:not_eq:Gamma_x&sort=name')).toEqual([
      'Alpha',
      'Beta 100%',
      'Geography',
    ]);
    expect(await names('q=%25')).toEqual(['Beta 100%']);
    expect(await names('q=name:contains:_')).toEqual(['Gamma_x']);
    expect(await names('q=abbreviation:null&sort=name')).toEqual(['Alpha', 'Beta 100%', 'Gamma_x']);
    expect(await names("q=name:contains:';--")).toEqual([]);
    const second = await api.get('/domains?page=2&per_page=3');
    expect(second.meta).toEqual({ page: 2, per_page: 3, total_count: 4, total_pages: 2 });
    expect(second.data).toHaveLength(1);
    expect((await api.get('/domains?per_page=1001')).meta.per_page).toBe(1000);
    for (const query of [
      'page=0',
      'per_page=1.5',
      'page=x',
      'colour=red',
      'q=account_id:eq:1',
      'q=name_key:eq:x',
      'q=name:regex:x',
      'sort=creator_id',
    ])
      expect((await api.send('GET', `/domains?${query}`)).status).toBe(400);
  });
});
