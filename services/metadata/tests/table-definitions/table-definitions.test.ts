// Table and column definitions over HTTP: handles, rules, references.
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
} from '../given.ts';

let metadata: Metadata;
let account: Account;
let api: Api;

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  account = await givenAccount(metadata);
  api = account.api;
});

const draft = (name: unknown, more: Record<string, unknown> = {}) =>
  api.send('POST', '/table_definitions', {
    branch_id: account.mainId,
    table_definition: { name, domain_id: account.domainId, ...more },
  });
const addColumn = (tableId: number, column: Record<string, unknown>) =>
  api.send('POST', '/column_definitions', { table_definition_id: tableId, column_definition: column });

describe('table definitions', () => {
  it('are found by id, uuid, and key with branch', async () => {
    const { body: table } = await draft('Country Codes');
    expect(table).toMatchObject({
      key: 'country_codes',
      version: 1,
      deployed_version: null,
      needs_deployment: true,
      load_type: 'manual',
      domain: { id: account.domainId, name: 'Geography' },
      branch: { id: account.mainId, name: 'main' },
    });
    const shown = await api.get(`/table_definitions/${table.id}`);
    for (const handle of [table.uuid, table.uuid.toUpperCase(), `country_codes?branch_id=${account.mainId}`])
      expect(await api.get(`/table_definitions/${handle}`)).toEqual(shown);
    expect((await api.send('GET', '/table_definitions/country_codes')).status).toBe(400);
    for (const handle of ['0', '-1', '1.5', '1e3', '99999999999999999'])
      expect((await api.send('GET', `/table_definitions/${handle}`)).status).toBe(400);
    for (const noSegment of ['%20', "'"])
      expect((await api.send('GET', `/table_definitions/${noSegment}`)).body.errors).toEqual([
        'There is nothing at this address.',
      ]);
    const unknown = await api.send('GET', '/table_definitions/2147483647');
    expect(unknown.status).toBe(404);
    for (const handle of [
      '99999999999',
      '00000000-0000-4000-8000-000000000000',
      `other?branch_id=${account.mainId}`,
      'country_codes?branch_id=999999',
      `${table.id}?branch_id=999999`,
    ])
      expect(await api.send('GET', `/table_definitions/${handle}`)).toEqual(unknown);
    expect((await api.send('PATCH', `/table_definitions/${table.uuid}`, { description: 'by uuid' })).status).toBe(200);
  });

  it('refuse broken attributes with every problem', async () => {
    expect((await draft('1st', { load_type: 'magic', domain_id: -1 })).body.errors).toEqual([
      'Name must start with a letter or _',
      expect.stringMatching(/^Domain id/),
      'Load type must be one of manual, source',
    ]);
    expect((await draft(undefined)).body.errors).toEqual(["Name can't be blank"]);
    expect((await draft('x', { domain_id: 999_999, lookup_display_column_id: 1 })).body.errors).toEqual([
      "Domain doesn't exist",
      'Lookup display column must be a column of this table',
    ]);
    expect((await draft('x'.repeat(256))).status).toBe(422);
    expect((await draft('x'.repeat(255))).status).toBe(201);
    expect((await draft('😀')).status).toBe(422);
    expect((await draft({ a: 1 })).status).toBe(400);
    expect((await api.send('POST', '/table_definitions', { name: 'x', domain_id: account.domainId })).status).toBe(400);
    const noBranch = { branch_id: 999_999, name: 'x', domain_id: account.domainId };
    expect((await api.send('POST', '/table_definitions', noBranch)).status).toBe(404);
    const { body: table } = await draft('Fine');
    for (const property of [
      'id',
      'uuid',
      'key',
      'account_id',
      'branch_id',
      'version',
      'needs_deployment',
      'created_at',
    ])
      expect((await api.send('PATCH', `/table_definitions/${table.id}`, { [property]: 1 })).status).toBe(400);
  });

  it('have names and keys that are unique on their branch, also under concurrency', async () => {
    const answers = await Promise.all(['Codes', 'codes', 'CODES', 'Co\u200bdes'].map((name) => draft(name)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422]);
    expect(answers.find(({ status }) => status === 422)?.body.errors).toEqual(['Name has already been taken']);
    expect((await draft('codes!')).status).toBe(422);
    const { body: other } = await draft('Other');
    expect((await api.send('PATCH', `/table_definitions/${other.id}`, { name: 'Codes' })).status).toBe(422);
    const renamed = await api.send('PATCH', `/table_definitions/${other.id}`, { name: 'Renamed' });
    expect(renamed.body).toMatchObject({ key: 'other', name: 'Renamed', version: 2, needs_deployment: true });
    const long = 'y'.repeat(64);
    expect((await draft(`${long}a`)).status).toBe(201);
    expect((await draft(`${long}b`)).status).toBe(201);
  });

  it('refuse a taken name or key, naming which of the two it is', async () => {
    const { body: lands } = await draft('Countries');
    await api.send('PATCH', `/table_definitions/${lands.id}`, { name: 'Lands' });
    const keyTaken = 'The key countries, which is made from this name, has already been taken';
    expect(await draft('Countries')).toMatchObject({ status: 422, body: { errors: [keyTaken] } });
    expect(await draft('Countries!')).toMatchObject({ status: 422, body: { errors: [keyTaken] } });
    expect(await draft('lands')).toMatchObject({ status: 422, body: { errors: ['Name has already been taken'] } });
    expect((await draft('Lands of old')).status).toBe(201);
  });

  it('rise in version with each change, and only then', async () => {
    const { body: table } = await draft('Codes');
    const path = `/table_definitions/${table.id}`;
    expect((await api.send('PATCH', path, { name: 'Codes', description: null })).body.version).toBe(1);
    expect((await api.send('PATCH', path, { description: 'all' })).body.version).toBe(2);
    const { body: column } = await addColumn(table.id, keyColumn);
    expect((await api.get(path)).version).toBe(3);
    await api.send('PATCH', `/column_definitions/${column.id}`, { length: 10 });
    expect((await api.get(path)).version).toBe(3);
    await api.send('PATCH', `/column_definitions/${column.id}`, { length: 11 });
    expect((await api.get(path)).version).toBe(4);
  });

  it('are named by key and branch for their columns as well', async () => {
    const { body: table } = await draft('Codes');
    const { body: other } = await draft('Others');
    const named = { table_definition_key: 'codes', branch_id: account.mainId };
    const both = { ...named, table_definition_id: table.id };
    const add = (given: object, column: object, caller = api) =>
      caller.send('POST', '/column_definitions', { ...given, column_definition: column });
    const list = (given: object, caller = api) =>
      caller.send('GET', `/column_definitions?${new URLSearchParams(given as never)}`);
    const text = { data_type: 'text' };
    expect((await add(named, { name: 'a', ...text })).body.table_definition_id).toBe(table.id);
    expect((await add(both, { name: 'b', ...text })).status).toBe(201);
    await add({ table_definition_id: other.id }, { name: 'c', ...text });
    for (const given of [named, both, { table_definition_id: table.id }])
      expect((await list(given)).body.data).toMatchObject([{ name: 'a' }, { name: 'b' }]);
    const foreign = await givenAccount(metadata);
    for (const unknown of [
      { ...named, branch_id: foreign.mainId },
      { ...named, table_definition_key: 'never' },
      { ...named, table_definition_key: String(table.id) },
    ]) {
      expect((await list(unknown)).body.data).toEqual([]);
      const refused = await add(unknown, { name: 'x', ...text });
      expect(refused.status).toBe(404);
      expect(refused.body).toEqual((await add({ table_definition_id: 2_000_000_000 }, {})).body);
    }
    for (const wrong of [
      { table_definition_key: 'codes' },
      { ...both, table_definition_key: 'others' },
      { branch_id: 1 },
    ]) {
      expect((await list(wrong)).status).toBe(400);
      expect((await add(wrong, { name: 'x', ...text })).status).toBe(400);
    }
    // The key of a table is shown with the right to it.
    expect((await list({ ...both, branch_id: 999 }, foreign.api)).body.data).toEqual([]);
    expect((await add({ ...both, branch_id: 999 }, {}, foreign.api)).status).toBe(404);
  });

  it('are listed by branch and domain, with foreign and unknown ones empty', async () => {
    await draft('Codes');
    const { data } = await api.get(
      `/table_definitions?branch_id=${account.mainId}&domain_id=${account.domainId}&q=cod`,
    );
    expect(data).toMatchObject([{ name: 'Codes', domain: { name: 'Geography' }, branch: { name: 'main' } }]);
    for (const query of ['branch_id=999999', 'domain_id=999999', 'branch_id=99999999999', 'q=zzz'])
      expect((await api.get(`/table_definitions?${query}`)).meta.total_count).toBe(0);
    for (const query of ['branch_id=x', 'branch_id=1;drop', 'q=uuid:eq:x', 'q=lineage_id:eq:1', 'domain_id='])
      expect((await api.send('GET', `/table_definitions?${query}`)).status).toBe(400);
  });

  it('are written by their developers, and a missing right is reported before other problems', async () => {
    const table = await givenTable(account, 'Codes');
    const viewer = givenUser(metadata, account.id, [['edit', 'account', account.id]]);
    const broken = { branch_id: account.mainId, table_definition: { name: '' } };
    expect((await viewer.send('POST', '/table_definitions', broken)).status).toBe(403);
    expect((await viewer.send('PATCH', `/table_definitions/${table.id}`, { nonsense: 1 })).status).toBe(403);
    expect((await viewer.send('DELETE', `/table_definitions/${table.id}`)).status).toBe(403);
    expect((await viewer.send('POST', `/table_definitions/${table.id}/remove`)).status).toBe(403);
    expect((await viewer.send('GET', `/table_definitions/${table.id}`)).status).toBe(200);
    const column = table.column_definitions[0];
    expect((await viewer.send('PATCH', `/column_definitions/${column.id}`, { nonsense: 1 })).status).toBe(403);
    expect((await viewer.send('DELETE', `/column_definitions/${column.id}`)).status).toBe(403);
    const inDomain = givenUser(metadata, account.id, [['develop', 'domain', account.domainId]]);
    const fine = { branch_id: account.mainId, name: 'Mine', domain_id: account.domainId };
    const { status, body: mine } = await inDomain.send('POST', '/table_definitions', fine);
    expect(status).toBe(201);
    expect(await inDomain.send('POST', '/table_definitions', broken)).toMatchObject({
      status: 422,
      body: { errors: expect.arrayContaining(["Name can't be blank"]) },
    });
    const elsewhere = await api.post('/domains', { name: 'Elsewhere' });
    expect((await inDomain.send('PATCH', `/table_definitions/${mine.id}`, { domain_id: elsewhere.id })).status).toBe(
      403,
    );
    expect((await inDomain.send('PATCH', `/table_definitions/${mine.id}`, { description: 'x' })).status).toBe(200);
  });

  it('are as many as the plan allows', async () => {
    const plain = callingAs(metadata, { accountId: account.id, branching: false });
    await metadata.pool.query(
      `insert into table_definition (account_id, key, name, name_key, domain_id, branch_id, lineage_id, updated_at)
       select $1, 'k' || n, 'n' || n, 'n' || n, $2, $3, -n, now() from generate_series(1, 999) n`,
      [account.id, account.domainId, account.mainId],
    );
    const body = (name: string) => ({ branch_id: account.mainId, name, domain_id: account.domainId });
    expect((await plain.send('POST', '/table_definitions', body('Last'))).status).toBe(201);
    expect(await plain.send('POST', '/table_definitions', body('Beyond'))).toMatchObject({
      status: 422,
      body: { errors: ['The plan allows at most 1000 table definitions'] },
    });
    expect((await api.send('POST', '/table_definitions', body('Beyond'))).status).toBe(201);
  });

  it('show the groups of their domain, branch and their own', async () => {
    const table = await givenTable(account, 'Codes');
    metadata.neighbours.identity.groups.push(
      { id: 21, name: 'D', resource_type: 'domain', resource_id: account.domainId, members: [] },
      { id: 22, name: 'B', resource_type: 'branch', resource_id: account.mainId, members: [] },
      { id: 23, name: 'T', resource_type: 'table_definition', resource_id: table.id, members: [] },
    );
    const { user_groups } = await api.get(`/table_definitions/${table.id}`);
    expect(user_groups.map(({ name }: { name: string }) => name)).toEqual(['D', 'B', 'T']);
  });
});

describe('column definitions', () => {
  it('are listed in their order for one table, or all of the account', async () => {
    const table = await givenTable(account, 'Codes', [keyColumn, { name: 'Name', data_type: 'varchar' }]);
    const { data } = await api.get(`/column_definitions?table_definition_id=${table.id}`);
    expect(data).toMatchObject([
      { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true, position: 1 },
      { name: 'Name', data_type: 'string', length: 255, is_primary_key: false, position: 2 },
    ]);
    expect(await api.get(`/column_definitions/${data[0].id}`)).toEqual(data[0]);
    const all = await api.get('/column_definitions?sort=-id&per_page=2');
    expect(all.data).toEqual([data[1], data[0]]);
    const { data: same } = await api.get(`/column_definitions?q=table_definition_id:eq:${table.id}`);
    expect(same).toEqual(data);
    expect((await api.get('/column_definitions?table_definition_id=999999')).data).toEqual([]);
    expect((await api.get(`/column_definitions?table_definition_id=${table.id}&sort=-name`)).data[0].name).toBe('code');
  });

  it('refuse broken attributes, in any combination', async () => {
    const { id } = await givenTable(account, 'Codes');
    expect((await addColumn(id, { name: '', data_type: 'nope' })).body.errors).toEqual([
      "Name can't be blank",
      expect.stringMatching(/^Data type must be one of/),
    ]);
    for (const data_type of ['integer; drop', 'text[]', 'xml', 'citext', 'oid', 'regclass', '__proto__', 'toString'])
      expect((await addColumn(id, { name: 'a', data_type })).status).toBe(422);
    for (const name of ['svc_sk', 'SVC_x', 'a b', 'é', '"', 'x'.repeat(64), '__proto__'])
      expect((await addColumn(id, { name, data_type: 'text' })).status).toBe(422);
    for (const attributes of [{ length: '5' }, { length: 1.5 }, { is_required: 'yes' }, { valid_values: 5 }, { x: 1 }])
      expect((await addColumn(id, { name: 'a', data_type: 'string', ...attributes })).status).toBe(400);
    for (const attributes of [{ length: 0 }, { length: 10_485_761 }, { scale: 2 }, { valid_values: 'a||b' }])
      expect((await addColumn(id, { name: 'a', data_type: 'string', ...attributes })).status).toBe(422);
    expect((await addColumn(999_999, { name: 'a', data_type: 'text' })).status).toBe(404);
    expect((await api.send('POST', '/column_definitions', { name: 'a', data_type: 'text' })).status).toBe(400);
    expect((await api.get(`/table_definitions/${id}`)).column_definitions).toHaveLength(1);
  });

  it('are hierarchies only while they refer to their own table', async () => {
    const { id } = await givenTable(account, 'Units', [keyColumn]);
    const other = await givenTable(account, 'Others', [keyColumn]);
    const parent = { name: 'parent', data_type: 'string', length: 10, foreign_key_table_id: id };
    const sentence = 'Is hierarchy is only for columns that refer to their own table';
    for (const foreign_key_table_id of [null, other.id]) {
      const refused = await addColumn(id, { ...parent, foreign_key_table_id, is_hierarchy: true });
      expect([refused.status, refused.body.errors]).toEqual([422, [sentence]]);
    }
    const { body: column } = await addColumn(id, parent);
    expect(column.is_hierarchy).toBe(false);
    const path = `/column_definitions/${column.id}`;
    const patch = (attributes: object) => api.send('PATCH', path, { column_definition: attributes });
    const { version } = await api.get(`/table_definitions/${id}`);
    expect((await patch({ is_hierarchy: true })).body.is_hierarchy).toBe(true);
    expect((await api.get(`/table_definitions/${id}`)).version).toBe(version + 1);
    expect((await api.get(`/column_definitions?table_definition_id=${id}&q=is_hierarchy:eq:true`)).data).toHaveLength(
      1,
    );
    const elsewhere = await patch({ is_hierarchy: true, foreign_key_table_id: other.id });
    expect([elsewhere.status, elsewhere.body.errors]).toEqual([422, [sentence]]);
    expect((await patch({ foreign_key_table_id: other.id })).body.is_hierarchy).toBe(false);
    expect((await patch({ is_hierarchy: 'yes' })).status).toBe(400);
  });

  it('have unique names in the table, without regard to case, also under concurrency', async () => {
    const { id } = await givenTable(account, 'Codes');
    const answers = await Promise.all(
      ['a', 'A', 'a', 'b', 'c'].map((name) => addColumn(id, { name, data_type: 'text' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422, 422]);
    const { column_definitions, version } = await api.get(`/table_definitions/${id}`);
    expect(column_definitions.map(({ position }: { position: number }) => position)).toEqual([1, 2, 3, 4]);
    expect(version).toBe(5);
  });

  it('keep attributes that a change does not name, and ignore read-only properties', async () => {
    const table = await givenTable(account, 'Codes', [{ ...keyColumn, valid_values: ['A', 'B'], description: 'x' }]);
    const column = table.column_definitions[0];
    const path = `/column_definitions/${column.id}`;
    const changed = await api.send('PATCH', path, { column_definition: { name: 'iso' } });
    expect(changed.body).toMatchObject({ name: 'iso', valid_values: 'A|B', description: 'x', length: 10, position: 1 });
    const cleared = await api.send('PATCH', path, { valid_values: null, description: null });
    expect(cleared.body).toMatchObject({ valid_values: null, description: null });
    for (const property of ['id', 'table_definition_id', 'lineage_id', 'account_id', 'created_at'])
      expect((await api.send('PATCH', path, { [property]: 1 })).status).toBe(400);
  });

  it('move to another place, and the others make room', async () => {
    const columns = ['b', 'c'].map((name) => ({ name, data_type: 'text' }));
    const table = await givenTable(account, 'Codes', [keyColumn, ...columns]);
    const [, , last] = table.column_definitions;
    const move = (position: number) => api.send('PATCH', `/column_definitions/${last.id}`, { position });
    expect((await move(1)).body).toMatchObject({ name: 'c', position: 1 });
    const moved = await api.get(`/table_definitions/${table.id}`);
    const places = moved.column_definitions.map(({ name, position }: { name: string; position: number }) => [
      name,
      position,
    ]);
    expect(places).toEqual([
      ['c', 1],
      ['code', 2],
      ['b', 3],
    ]);
    expect(moved.version).toBe(table.version + 1);
    await move(1);
    expect((await move(4)).body.errors).toEqual(['Position must be at most 3, the number of columns']);
    expect((await move(0)).status).toBe(422);
    expect((await api.get(`/table_definitions/${table.id}`)).version).toBe(moved.version);
  });

  it('are at most 200, with at most 31 in the key', async () => {
    const { id } = await givenTable(account, 'Wide', []);
    for (let i = 1; i <= 31; i += 1)
      expect((await addColumn(id, { name: `k${i}`, data_type: 'integer', is_primary_key: true })).status).toBe(201);
    const key32 = await addColumn(id, { name: 'k32', data_type: 'integer', is_primary_key: true });
    expect(key32.body.errors).toEqual(['Primary key can have at most 31 columns']);
    for (let i = 32; i <= 199; i += 1) await addColumn(id, { name: `c${i}`, data_type: 'integer' });
    const last = await Promise.all(['x', 'y', 'z'].map((name) => addColumn(id, { name, data_type: 'text' })));
    expect(last.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    expect(last.find(({ status }) => status === 422)?.body.errors).toEqual([
      'Table definition can have at most 200 columns',
    ]);
  });

  it('refer only to tables of the same branch', async () => {
    const { id } = await givenTable(account, 'Codes');
    const admin = givenAdmin(metadata, account.id);
    const branch = await admin.post('/branches', { name: 'feature' });
    const there = await givenTable({ ...account, mainId: branch.id }, 'There');
    const elsewhere = await givenAccount(metadata);
    const foreign = await givenTable(elsewhere, 'Foreign');
    const refer = (foreign_key_table_id: number) =>
      addColumn(id, { name: 'ref', data_type: 'string', foreign_key_table_id });
    const unknown = await refer(999_999);
    expect(unknown).toMatchObject({
      status: 422,
      body: { errors: ["Foreign key table doesn't exist on this branch"] },
    });
    expect(await refer(there.id)).toEqual(unknown);
    expect(await refer(foreign.id)).toEqual(unknown);
    expect((await refer(id)).status).toBe(201);
  });

  it('refer only to tables that the caller may see, since they reveal keys', async () => {
    const other = await api.post('/domains', { domain: { name: 'Salaries', abbreviation: 'SAL' } });
    const secret = await givenTable({ ...account, domainId: other.id }, 'Grades');
    const own = await givenTable(account, 'People');
    const link = { name: 'grade', data_type: 'string', length: 10, foreign_key_table_id: secret.id };
    const developer = givenUser(metadata, account.id, [['develop', 'domain', account.domainId]]);
    const added = { table_definition_id: own.id, column_definition: link };
    expect(await developer.send('POST', '/column_definitions', added)).toMatchObject({
      status: 403,
      body: { error: 'Forbidden', errors: [expect.stringContaining('"view"')] },
    });
    const [key] = own.column_definitions;
    const change = { column_definition: { foreign_key_table_id: secret.id } };
    expect((await developer.send('PATCH', `/column_definitions/${key.id}`, change)).status).toBe(403);

    const sighted = givenUser(metadata, account.id, [
      ['develop', 'domain', account.domainId],
      ['view', 'table_definition', secret.id],
    ]);
    const { body: column } = await sighted.send('POST', '/column_definitions', added);
    // A developer may still change a column that refers to it already.
    const renamed = { column_definition: { name: 'pay_grade', foreign_key_table_id: secret.id } };
    expect((await developer.send('PATCH', `/column_definitions/${column.id}`, renamed)).status).toBe(200);
  });

  it('are the lookup display column only of their own table, and until they are deleted', async () => {
    const table = await givenTable(account, 'Codes', [keyColumn, { name: 'name', data_type: 'text' }]);
    const other = await givenTable(account, 'Other');
    const path = `/table_definitions/${table.id}`;
    const shows = (lookup_display_column_id: number) => api.send('PATCH', path, { lookup_display_column_id });
    const name = table.column_definitions[1].id;
    const unknown = await shows(999_999);
    expect(unknown.status).toBe(422);
    expect(await shows(other.column_definitions[0].id)).toEqual(unknown);
    expect((await shows(name)).body.lookup_display_column_id).toBe(name);
    const answers = await Promise.all([1, 2, 3].map(() => api.send('DELETE', `/column_definitions/${name}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    expect((await api.get(path)).lookup_display_column_id).toBeNull();
  });
});
