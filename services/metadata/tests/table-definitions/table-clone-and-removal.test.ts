// Clones of tables on other branches, and removals of tables.
import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import {
  type Account,
  type Api,
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

const draft = (name: string) =>
  api.send('POST', '/table_definitions', { branch_id: account.mainId, name, domain_id: account.domainId });
const addColumn = (tableId: number, column: Record<string, unknown>) =>
  api.send('POST', '/column_definitions', { table_definition_id: tableId, column_definition: column });

describe('cloning', () => {
  let admin: Api & { id: number };
  let branchId: number;
  beforeEach(async () => {
    admin = givenAdmin(metadata, account.id);
    branchId = (await admin.post('/branches', { name: 'feature' })).id;
  });
  const clone = (id: number | string, target = branchId, query = '') =>
    admin.send('POST', `/table_definitions/${id}/clone${query}`, { target_branch_id: target });

  it('copies key, columns and lineage, and re-points foreign keys by key', async () => {
    const countries = await givenTable(account, 'Countries', [keyColumn, { name: 'name', data_type: 'text' }]);
    await api.send('PATCH', `/table_definitions/${countries.id}`, {
      lookup_display_column_id: countries.column_definitions[1].id,
    });
    const regions = await givenTable(account, 'Regions', [
      keyColumn,
      { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: countries.id },
    ]);
    await addColumn(regions.id, { name: 'parent', data_type: 'string', length: 10, foreign_key_table_id: regions.id });
    const early = await clone(regions.id);
    expect(early).toMatchObject({
      status: 422,
      body: {
        errors: ['Column country refers to the table countries, which is not on the branch feature; clone that first'],
      },
    });
    const { status, body: copy } = await clone(countries.id);
    expect(status).toBe(201);
    expect(copy).toMatchObject({
      key: 'countries',
      branch_id: branchId,
      cloned_from_id: countries.id,
      cloned_from_version: 4,
      version: 1,
      needs_deployment: true,
      column_definitions: [{ name: 'code' }, { name: 'name' }],
    });
    expect(copy.uuid).not.toBe(countries.uuid);
    expect(copy.lookup_display_column_id).toBe(copy.column_definitions[1].id);
    const { body: copied } = await clone('regions', branchId, `?branch_id=${account.mainId}`);
    expect(copied.column_definitions).toMatchObject([
      { foreign_key_table_id: null },
      { foreign_key_table_id: copy.id },
      { foreign_key_table_id: copied.id },
    ]);
    const stored = await metadata.context.prisma.table_definition.findUniqueOrThrow({
      where: { id: copied.id },
      include: { columns: { orderBy: { position: 'asc' } } },
    });
    const base = await metadata.context.prisma.clone_base.findFirstOrThrow({
      where: { table_definition_id: copied.id, source_id: regions.id },
    });
    expect(stored.lineage_id).toBe(regions.id);
    expect(stored.columns[0]?.lineage_id).toBe(regions.column_definitions[0].id);
    expect(base.structure).toMatchObject({
      key: 'regions',
      columns: [{ name: 'code' }, { foreign_key_table_key: 'countries' }, { foreign_key_table_key: 'regions' }],
    });
  });

  it('happens once per branch, and completely or not at all', async () => {
    const table = await givenTable(account, 'Codes');
    const answers = await Promise.all([1, 2, 3].map(() => clone(table.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    expect((await clone(table.id, account.mainId)).body.errors).toEqual([
      'A table with this key or name is already on the branch main',
    ]);
    const { data } = await api.get(`/table_definitions?branch_id=${branchId}`);
    expect(data).toHaveLength(1);
    expect((await api.get(`/table_definitions/${data[0].id}`)).column_definitions).toHaveLength(1);
  });

  it('needs a user, the right on the target, and a branch of the account', async () => {
    const table = await givenTable(account, 'Codes');
    const elsewhere = await givenAccount(metadata);
    const path = `/table_definitions/${table.id}/clone`;
    expect((await api.send('POST', path, { target_branch_id: branchId })).status).toBe(401);
    const unknown = await clone(table.id, 999_999);
    expect(unknown.status).toBe(404);
    expect(await clone(table.id, elsewhere.mainId)).toEqual(unknown);
    expect((await admin.send('POST', path, {})).status).toBe(400);
    const developer = givenUser(metadata, account.id, [['develop', 'branch', account.mainId]]);
    expect((await developer.send('POST', path, { target_branch_id: branchId })).status).toBe(403);
  });
});

describe('removing', () => {
  const deploy = async (...ids: number[]) => {
    const admin = givenAdmin(metadata, account.id);
    const body = { branch_id: account.mainId, table_definition_ids: ids };
    const { id } = await admin.post('/deployments', body);
    return admin.post(`/deployments/${id}/deploy`);
  };

  it('is refused while columns of other tables refer to it, which are named', async () => {
    const countries = await givenTable(account, 'Countries');
    const regions = await givenTable(account, 'Regions', [
      keyColumn,
      { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: countries.id },
    ]);
    await addColumn(countries.id, { name: 'up', data_type: 'string', length: 10, foreign_key_table_id: countries.id });
    const sentence = 'Table definition is referred to by columns of other tables: Regions.country';
    for (const [method, path] of [
      ['DELETE', `/table_definitions/${countries.id}`],
      ['POST', `/table_definitions/${countries.id}/remove`],
    ] as const)
      expect(await api.send(method, path)).toMatchObject({ status: 422, body: { errors: [sentence] } });
    await deploy(countries.id, regions.id);
    await api.send('DELETE', `/table_definitions/${regions.id}`);
    // Its draft was deleted, but it is still in service and refers to the table.
    expect((await api.send('POST', `/table_definitions/${countries.id}/remove`)).body.errors).toEqual([sentence]);
    expect((await api.send('DELETE', `/table_definitions/${countries.id}`)).status).toBe(204);
    expect((await api.get('/deployed_table_definitions')).data).toHaveLength(2);
    for (const { id } of [regions, countries])
      expect((await api.send('POST', `/table_definitions/${id}/remove`)).status).toBe(204);
    expect((await api.get('/deployed_table_definitions')).data).toHaveLength(0);
    expect([...metadata.neighbours.data.deployed.keys()]).not.toEqual(expect.arrayContaining([countries.id]));
  });

  it('happens once: one 204, then 404', async () => {
    const one = await givenTable(account, 'One');
    const two = await givenTable(account, 'Two');
    await deploy(two.id);
    const deletes = await Promise.all([1, 2, 3].map(() => api.send('DELETE', `/table_definitions/${one.id}`)));
    expect(deletes.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    const removes = await Promise.all([1, 2, 3].map(() => api.send('POST', `/table_definitions/${two.id}/remove`)));
    expect(removes.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    const kept = await metadata.context.prisma.table_removal.findUniqueOrThrow({
      where: { table_definition_id: two.id },
    });
    expect(kept).toMatchObject({
      definition: { name: 'Two', columns: [{ name: 'code' }] },
      deployed: { version: 2, columns: [{ name: 'code' }] },
    });
    expect((await draft('Two')).status).toBe(201);
  });

  it('a table that was never deployed does not call data', async () => {
    const table = await givenTable(account, 'Draft');
    metadata.neighbours.data.before.DropTable = () => {
      throw new Error('asked');
    };
    expect((await api.send('POST', `/table_definitions/${table.id}/remove`)).status).toBe(204);
    metadata.neighbours.data.before = {};
  });

  it('changes nothing when data refuses, and is finished later when data was unavailable', async () => {
    const table = await givenTable(account, 'Codes');
    await deploy(table.id);
    const path = `/table_definitions/${table.id}/remove`;
    metadata.neighbours.data.before.DropTable = () => {
      throw new ServiceError('wrong_state', { code: 'wrong_state', message: 'A load is running.' });
    };
    expect(await api.send('POST', path)).toMatchObject({ status: 422, body: { errors: ['A load is running.'] } });
    expect((await api.get(`/table_definitions/${table.id}`)).needs_deployment).toBe(false);
    metadata.neighbours.data.before.DropTable = () => {
      throw new ServiceError('unavailable', 'data is away');
    };
    expect((await api.send('POST', path)).status).toBe(503);
    // While it is being removed, nothing may start to refer to it.
    const other = await givenTable(account, 'Other');
    const refer = { name: 'ref', data_type: 'string', length: 10, foreign_key_table_id: table.id };
    expect((await addColumn(other.id, refer)).status).toBe(422);
    metadata.neighbours.data.before = {};
    await eventually(async () => expect((await api.send('GET', `/table_definitions/${table.id}`)).status).toBe(404));
    expect(metadata.neighbours.data.deployed.has(table.id)).toBe(false);
  });
});
