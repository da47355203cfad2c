import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { patch, remove } from '../versions.ts';

let net: DataNet;

const countries: TableInput = {
  id: 1,
  domain_id: 1,
  columns: [
    { name: 'code', length: 2, is_primary_key: true },
    { name: 'area', data_type: 'integer' },
    { name: 'name', length: 60 },
    { name: 'nickname', length: 60 },
  ],
};
const regions: TableInput = {
  id: 2,
  domain_id: 2,
  lookup_display_column_id: 2003,
  columns: [
    { name: 'country', length: 2, is_primary_key: true, foreign_key_table_id: 1 },
    { name: 'number', data_type: 'integer', is_primary_key: true },
    { name: 'name', length: 60 },
    { name: 'capital_since', data_type: 'date' },
  ],
};
const cities: TableInput = {
  id: 3,
  domain_id: 1,
  columns: [
    { name: 'id', data_type: 'integer', is_primary_key: true },
    { name: 'country_code', length: 2, foreign_key_table_id: 1 },
    { name: 'region_country', length: 2, foreign_key_table_id: 2 },
    { name: 'region_number', data_type: 'integer', foreign_key_table_id: 2 },
    { name: 'twin', data_type: 'integer', foreign_key_table_id: 3 },
  ],
};
const path = '/api/v1/table_data';
const ids: Record<string, number> = {};

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [countries, regions, cities]);
  const add = async (name: string, table: number, record: Record<string, unknown>) => {
    ids[name] = (await create(net, table, record)).svc_sk;
  };
  await add('FR', 1, { code: 'FR', area: 5, name: 'France', nickname: 'Hexagon' });
  await add('"x"', 1, { code: '"x', name: '"quoted"' });
  await add('nameless', 1, { code: 'NN' });
  await add('region', 2, { country: 'FR', number: 11, name: 'Île-de-France', capital_since: '0987-07-03' });
  await add('Paris', 3, { id: 1, country_code: 'FR', region_country: 'FR', region_number: 11 });
  await add('Rome', 3, { id: 2, country_code: 'NN', twin: 1 });
  await add('Nowhere', 3, { id: 3, country_code: '"x' });
});

afterAll(() => net.stop());

const lookups = async (call = net.call, more: Record<string, unknown> = {}) => {
  const body = { table_definition_id: 3, startRow: 0, endRow: 10, sortModel: [{ colId: 'id', sort: 'asc' }], ...more };
  const answer = await call('POST', `${path}/grid`, { ...body, include_lookups: true });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.rows.map((row: { svc_lookups: unknown }) => row.svc_lookups);
};

const none = { country_code: null, region_country: null, region_number: null, twin: null };
const paris = { country_code: 'France', region_country: '0987-07-03', region_number: '0987-07-03', twin: null };

describe('lookups', () => {
  it('show for each foreign key column the display value of the record it refers to', async () => {
    expect(await lookups()).toEqual([paris, { ...none, twin: 1 }, { ...none, country_code: '"quoted"' }]);
  });

  it('are in the list and in one row, too, and only on request', async () => {
    const query = 'table_definition_id=3&sort=id&include_lookups=true';
    const list = await net.call('GET', `${path}?${query}`);
    expect(list.body.data[0].svc_lookups).toEqual(paris);
    const show = (more: string) => net.call('GET', `${path}/${ids.Paris}?table_definition_id=3${more}`);
    const shown = (await show('&include_lookups=true')).body;
    expect(shown).toEqual(list.body.data[0]);
    const { svc_lookups: _, ...record } = shown;
    expect((await show('')).body).toEqual(record);
    expect((await show('&include_lookups=false')).body).toEqual(record);
    expect((await show('&include_lookups=1')).status).toBe(400);
    expect((await net.call('GET', `${path}/999?table_definition_id=3&include_lookups=true`)).status).toBe(404);
  });

  it('are an empty object where a table has no foreign keys', async () => {
    expect(await lookups(net.call, { table_definition_id: 1, sortModel: [] })).toEqual([{}, {}, {}]);
  });

  it('are null for a table that the caller may not view', async () => {
    const permission = (id: number) => ({ action: 'view', resource_type: 'domain', resource_id: id });
    net.rights.set(7, { license_type: 'end_user', permissions: [permission(1)] });
    expect((await lookups(net.as({ userId: 7 })))[0]).toEqual({ ...none, country_code: 'France' });
    net.rights.set(8, { license_type: 'end_user', permissions: [permission(1), permission(2)] });
    expect((await lookups(net.as({ userId: 8 })))[0]).toEqual(paris);
  });

  it('are null for a deleted record', async () => {
    await create(net, 1, { code: 'ZZ', name: 'Deleted' });
    const city = await create(net, 3, { id: 9, country_code: 'ZZ' });
    const filterModel = { id: { filterType: 'number', type: 'equals', filter: 9 } };
    expect(await lookups(net.call, { filterModel })).toEqual([{ ...none, country_code: 'Deleted' }]);
    await remove(net.call, 3, [city.svc_sk]);
    const query = 'table_definition_id=1&q=code:eq:ZZ';
    await remove(net.call, 1, [(await net.call('GET', `${path}?${query}`)).body.data[0].svc_sk]);
    expect(await lookups(net.call, { filterModel, include_deleted: true })).toEqual([none]);
  });

  it('are as of the same instant as the rows', async () => {
    const changed = await patch(net.call, 1, ids.FR as number, { name: 'France, renamed' });
    const before = new Date(Date.parse(changed.body.svc_updated_at) - 1).toISOString();
    expect((await lookups())[0].country_code).toBe('France, renamed');
    expect((await lookups(net.call, { as_of: before }))[0].country_code).toBe('France');
    await patch(net.call, 1, ids.FR as number, { name: 'France' });
  });

  it('follow a deployment of the referenced table alone, whether it adds or drops columns', async () => {
    await deploy(net, [{ ...countries, version: 2, lookup_display_column_id: 1003 }]);
    expect((await lookups())[0].country_code).toBe('Hexagon');
    const [code, area, name] = countries.columns;
    await deploy(net, [{ ...countries, version: 3, columns: [code, area, name] as TableInput['columns'] }]);
    expect((await lookups())[0].country_code).toBe('France');
    await deploy(net, [{ ...countries, version: 4, columns: [code, area] as TableInput['columns'] }]);
    const shown = await net.call('GET', `${path}/${ids.Paris}?table_definition_id=3&include_lookups=true`);
    expect(shown.body.svc_lookups.country_code).toBe('FR');
  });
});
