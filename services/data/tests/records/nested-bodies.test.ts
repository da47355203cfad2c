// Bodies of /table_data, nested and with bracket keys: the same as flat ones.
import { dataRoutes } from '../../src/http.ts';
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});
afterAll(() => net.stop());

const columns: TableInput['columns'] = [
  { name: 'code', length: 5, is_primary_key: true },
  { name: 'table_data', length: 5 },
];
const forms: Record<string, (body: object) => object> = {
  flat: (body) => body,
  nested: (body) => ({ table_data: body }),
  bracketed: (body) => Object.fromEntries(Object.entries(body).map(([name, value]) => [`table_data[${name}]`, value])),
  'nested but for the table': ({ table_definition_id, ...body }: { table_definition_id?: number }) => ({
    table_definition_id,
    table_data: body,
  }),
};

describe.each(Object.entries(forms))('a body that is %s', (form, written) => {
  const table_definition_id = 900 + Object.keys(forms).indexOf(form);
  const send = async (method: string, path: string, body: object) =>
    net.call(method, `/api/v1/table_data${path}`, written({ table_definition_id, ...body }));

  it('is accepted by every route that writes or reads rows', async () => {
    await deploy(net, [{ id: table_definition_id, columns }]);
    const made = await send('POST', '', { record: { code: 'a', table_data: 'x' } });
    expect([made.status, made.body.record]).toMatchObject([201, { code: 'a', table_data: 'x' }]);
    const id = made.body.record.svc_sk;
    const changed = await send('PATCH', `/${id}`, { record: { table_data: 'y' } });
    expect([changed.status, changed.body]).toMatchObject([200, { code: 'a', table_data: 'y' }]);
    const grid = await send('POST', '/grid', { startRow: 0, endRow: 10, sortModel: [{ colId: 'code', sort: 'asc' }] });
    expect(grid.body).toMatchObject({ rowCount: 1, rows: [{ svc_sk: id }] });
    const batch = await send('POST', '/batch', { operations: [{ operation: 'create', record: { code: 'b' } }] });
    expect(batch).toMatchObject({ status: 200, body: { created: [{ code: 'b' }] } });
    const upsert = await send('PUT', '/by_key', { record: { code: 'c', table_data: 'z' } });
    expect(upsert).toMatchObject({ status: 201, body: { code: 'c', table_data: 'z' } });
    expect((await send('POST', `/${id}/revert`, { version: 1 })).body).toMatchObject({ table_data: 'x' });
    expect((await send('POST', '/delete_records', { ids: [id] })).body).toMatchObject({ deleted_count: 1 });
    expect((await send('POST', '/restore_records', { ids: [id] })).body).toMatchObject({ restored_count: 1 });
  });
});

it('a property that is given twice, or that is unknown, is refused in each form', async () => {
  await deploy(net, [{ id: 950, columns }]);
  const errorsOf = async (body: object) => {
    const answer = await net.call('POST', '/api/v1/table_data', body);
    return [answer.status, answer.body.errors];
  };
  const twice = { table_definition_id: 950, record: { code: 'a' }, table_data: { record: { code: 'b' } } };
  expect(await errorsOf(twice)).toEqual([400, ['record is given twice.']]);
  const unknown = { table_data: { table_definition_id: 950, record: { code: 'a' }, more: 1 } };
  expect(await errorsOf(unknown)).toEqual([400, ['more is not a known property.']]);
  expect(await errorsOf({ table_data: 5 })).toEqual([400, ['table_data must be an object.']]);
  expect((await create(net, 950, { code: 'c', table_data: 'z' })).table_data).toBe('z');
});

it('every body of rows may be nested', () => {
  const bodies = dataRoutes(net.context).filter(
    ({ body, path }) => body !== undefined && path.startsWith('/table_data'),
  );
  expect(bodies.filter(({ resource }) => resource !== 'table_data')).toEqual([]);
  expect(bodies.length).toBeGreaterThan(8);
});
