// GET /search: tables, columns, domains, branches and changes by a text, as the lists show them.
import { limits } from '@almanac/service-kit/limits';
import { givenWorld, type World } from './changes/change-requests/change-request-given.ts';
import {
  type Account,
  type Api,
  callingAs,
  givenAccount,
  givenAdmin,
  givenTable,
  givenUser,
  keyColumn,
  type Metadata,
  startMetadata,
} from './given.ts';

let metadata: Metadata;
let account: Account;
let admin: Api & { id: number };

beforeAll(async () => {
  metadata = await startMetadata();
});
beforeEach(async () => {
  account = await givenAccount(metadata);
  admin = givenAdmin(metadata, account.id);
});
afterAll(() => metadata.stop());

const nothing = {
  tables: [],
  columns: [],
  domains: [],
  branches: [],
  change_requests: [],
  deployments: [],
  promotions: [],
};
const search = (by: Api, q: string, branchId?: number) =>
  by.get(`/search?${new URLSearchParams({ q, ...(branchId ? { branch_id: String(branchId) } : {}) })}`);
const named = (items: { name: string }[]) => items.map(({ name }) => name);

async function deploy(tableIds: number[], branch_id = account.mainId, comment = 'Deploy'): Promise<number> {
  const { id } = await admin.post('/deployments', { branch_id, table_definition_ids: tableIds });
  await admin.post(`/deployments/${id}/send_request`, { comment });
  await admin.post(`/deployments/${id}/deploy`);
  return id;
}

describe('a search', () => {
  it('finds tables by key, name and description, the very text first', async () => {
    const described = await givenTable(account, 'Others');
    await admin.send('PATCH', `/table_definitions/${described.id}`, { description: 'Like a city' });
    const within = await givenTable(account, 'Twin city');
    const start = await givenTable(account, 'City codes');
    const exact = await givenTable(account, 'City');
    await deploy([exact.id]);
    const { tables } = await search(admin, 'cITY');
    expect(tables.map(({ id }: { id: number }) => id)).toEqual([exact.id, start.id, within.id, described.id]);
    expect(tables[0]).toEqual({
      id: exact.id,
      key: exact.key,
      name: 'City',
      domain_id: account.domainId,
      branch_id: account.mainId,
      branch_name: 'main',
      is_deployed: true,
    });
    expect(tables[1].is_deployed).toBe(false);
  });

  it('finds a table by its draft and by what is in service, once', async () => {
    const table = await givenTable(account, 'Old title');
    await deploy([table.id]);
    await admin.send('PATCH', `/table_definitions/${table.id}`, { name: 'New title' });
    for (const q of ['old title', 'new title', 'title'])
      expect((await search(admin, q)).tables).toMatchObject([{ id: table.id, is_deployed: true }]);
    expect((await search(admin, 'old title')).tables[0].name).toBe('Old title');
  });

  it('finds columns, domains and branches', async () => {
    const table = await givenTable(account, 'Places', [keyColumn, { name: 'geo_point', data_type: 'text' }]);
    const branch = await admin.post('/branches', { name: 'my-geo' });
    const found = await search(admin, 'geo');
    expect(found.columns).toEqual([
      {
        id: table.column_definitions[1].id,
        name: 'geo_point',
        table_definition_id: table.id,
        table_definition_name: 'Places',
        branch_id: account.mainId,
        branch_name: 'main',
      },
    ]);
    expect(found.domains).toEqual([{ id: account.domainId, name: 'Geography', abbreviation: 'GEO' }]);
    expect(found.branches).toEqual([{ id: branch.id, name: 'my-geo' }]);
  });

  it('finds changes by number and by their words, the latest first', async () => {
    const table = await givenTable(account, 'Codes');
    const first = await admin.post('/change_requests', { branch_id: account.mainId, title: 'Spring correction' });
    const second = await admin.post('/change_requests', { branch_id: account.mainId, title: 'Autumn correction' });
    const deployment = await deploy([table.id], account.mainId, 'The correction of types');
    const ids = (items: { id: number }[]) => items.map(({ id }) => id);
    const found = await search(admin, 'CORRECTION');
    expect(ids(found.change_requests)).toEqual([second.id, first.id]);
    expect(found.change_requests[0]).toMatchObject({ title: 'Autumn correction', status: 'draft' });
    expect(found.deployments).toMatchObject([{ id: deployment, status: 'deployed', branch_id: account.mainId }]);
    expect(ids((await search(admin, `#${first.id}`)).change_requests)).toEqual([first.id]);
    expect(ids((await search(admin, `#${deployment}`)).deployments)).toContain(deployment);
    expect((await search(admin, '#9999999999')).change_requests).toEqual([]);
  });

  it('finds on one branch when it is asked to', async () => {
    const table = await givenTable(account, 'Codes');
    const branch = await admin.post('/branches', { name: 'feature' });
    const clone = await admin.post(`/table_definitions/${table.id}/clone`, { target_branch_id: branch.id });
    const promotion = await admin.post('/promotions', {
      from_branch_id: branch.id,
      to_branch_id: account.mainId,
      table_definition_ids: [clone.id],
    });
    await admin.post('/change_requests', { branch_id: account.mainId, title: 'Codes' });
    const counts = async (branchId?: number) => {
      const { tables, columns, change_requests, promotions } = await search(admin, 'code', branchId);
      const { promotions: numbered } = await search(admin, `#${promotion.id}`, branchId);
      expect(promotions).toEqual([]);
      return [tables.length, columns.length, change_requests.length, numbered.length];
    };
    expect(await counts()).toEqual([2, 2, 1, 1]);
    expect(await counts(account.mainId)).toEqual([1, 1, 1, 1]);
    expect(await counts(branch.id)).toEqual([1, 1, 0, 0]);
    expect(await counts(1_999_999_999)).toEqual([0, 0, 0, 0]);
  });

  it('takes the metacharacters of patterns literally', async () => {
    await givenTable(account, 'Rates 10% off');
    await givenTable(account, 'Rates 10x off');
    await admin.post('/branches', { name: 'a_b' });
    await admin.post('/branches', { name: 'axb' });
    await admin.post('/change_requests', { branch_id: account.mainId, title: '100 rows' });
    expect(named((await search(admin, '0% off')).tables)).toEqual(['Rates 10% off']);
    expect(named((await search(admin, 'a_b')).branches)).toEqual(['a_b']);
    expect(await search(admin, '%%')).toEqual(nothing);
    expect(await search(admin, "'--")).toEqual(nothing);
  });

  it('answers ten of a kind and no more, and still the very text', async () => {
    for (let i = 0; i < limits.itemsFoundPerKind; i += 1)
      await account.api.post('/domains', { domain: { name: `Area ${i}` } });
    expect((await search(admin, 'area')).domains).toHaveLength(limits.itemsFoundPerKind);
    await account.api.post('/domains', { domain: { name: 'Zone', abbreviation: 'AREA' } });
    const { domains } = await search(admin, 'area');
    expect(domains).toHaveLength(limits.itemsFoundPerKind);
    expect(domains[0].name).toBe('Zone');
  });

  it('takes 2 to 100 characters', async () => {
    const ask = (q: string) => admin.send('GET', `/search?q=${encodeURIComponent(q)}`);
    for (const length of [limits.searchMinimum, limits.searchMaximum])
      expect((await ask('é'.repeat(length))).status).toBe(200);
    expect(await ask('é'.repeat(limits.searchMinimum - 1))).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'too_short', field: 'q', params: { minimum: 2 } }] },
    });
    expect(await ask('é'.repeat(limits.searchMaximum + 1))).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'too_long', field: 'q', params: { maximum: 100 } }] },
    });
    expect((await ask(' a ')).status).toBe(422);
    expect((await ask('a\u0000b')).status).toBe(400);
    expect((await admin.send('GET', '/search')).status).toBe(400);
  });
});

describe('a search under rights', () => {
  it('finds what the lists show, for every kind of caller', async () => {
    const other = await account.api.post('/domains', { domain: { name: 'Other' } });
    const near = await givenTable(account, 'Findme near');
    const far = await givenTable({ ...account, domainId: other.id }, 'Findme far');
    const owner = givenUser(metadata, account.id, [['develop', 'account', account.id]]);
    const closed = await owner.post('/branches', { name: 'findme closed', branch_type: 'private' });
    const hidden = await givenTable({ ...account, api: owner, mainId: closed.id }, 'Findme hidden');
    await deploy([near.id, far.id], account.mainId, 'findme both');
    await deploy([far.id], account.mainId, 'findme far');
    await account.api.post('/change_requests', { branch_id: account.mainId, title: 'findme' });
    const people: Api[] = [
      admin,
      owner,
      givenUser(metadata, account.id, [['view', 'account', account.id]]),
      givenUser(metadata, account.id, [['view', 'domain', account.domainId]]),
      givenUser(metadata, account.id, [['view', 'branch', account.mainId]]),
      givenUser(metadata, account.id, [['approve', 'branch', account.mainId]]),
      givenUser(metadata, account.id, [['view', 'table_definition', hidden.id]]),
      givenUser(metadata, account.id, [['view', 'table_definition', far.id]]),
      givenUser(metadata, account.id),
    ];
    const idsOf = (items: { id: number }[]) => items.map(({ id }) => id).toSorted((a, b) => a - b);
    const sizes = new Set<number>();
    for (const person of people) {
      const found = await search(person, 'findme');
      const listed = async (path: string) =>
        idsOf(
          (
            await person.get(
              `${path}?q=${path === '/deployments' ? 'comment' : path === '/change_requests' ? 'title' : 'name'}:contains:findme`,
            )
          ).data,
        );
      expect(idsOf(found.tables)).toEqual(await listed('/table_definitions'));
      expect(idsOf(found.branches)).toEqual(await listed('/branches'));
      expect(idsOf(found.deployments)).toEqual(await listed('/deployments'));
      expect(idsOf(found.change_requests)).toEqual(await listed('/change_requests'));
      const { columns } = await search(person, 'code');
      expect(idsOf(columns)).toEqual(idsOf((await person.get('/column_definitions?q=code')).data));
      sizes.add(found.tables.length);
    }
    expect(sizes.size).toBeGreaterThanOrEqual(3);
  });

  it('finds no deployment for applications and on plans without branching, whose lists refuse', async () => {
    const table = await givenTable(account, 'Codes');
    const id = await deploy([table.id], account.mainId, 'findme');
    expect((await search(admin, 'findme')).deployments).toMatchObject([{ id }]);
    expect(await search(account.api, 'findme')).toEqual(nothing);
    const plain = callingAs(metadata, { accountId: account.id, userId: admin.id, branching: false });
    expect(await search(plain, 'findme')).toEqual(nothing);
  });

  it('finds nothing of another account', async () => {
    const world: World = await givenWorld(metadata);
    await world.sent();
    await admin.post('/branches', { name: 'codes' });
    const other = givenAdmin(metadata, (await givenAccount(metadata)).id);
    for (const q of ['codes', 'code', 'Corrections']) {
      const { domains: _, ...found } = await search(other, q, undefined);
      const { domains: __, ...none } = nothing;
      expect(found).toEqual(none);
    }
  });
});
