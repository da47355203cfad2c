// Idempotency-Key: whatever a POST does, it does once for a key, and its answer can be had again.
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { patch, remove, versionsOf } from '../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const columns: TableInput['columns'] = [
  { name: 'code', length: 5, is_primary_key: true },
  { name: 'x', length: 20 },
];

async function givenRows(...codes: string[]): Promise<{ table: number; ids: number[] }> {
  last += 10;
  await deploy(net, [{ id: last, columns }]);
  const rows = [];
  for (const code of codes) rows.push(await create(net, last, { code, x: 'first' }));
  for (const { svc_sk } of rows) await patch(net.call, last, svc_sk, { x: 'second' });
  return { table: last, ids: rows.map((row) => row.svc_sk) };
}

const post = (path: string, body: object, key: string, headers = {}) =>
  net.call('POST', `/api/v1/table_data${path}`, body, { 'idempotency-key': key, ...headers });

const versionsIn = async (table: number, id: number) => (await versionsOf(net.call, table, id)).length;

type Given = Awaited<ReturnType<typeof givenRows>>;

describe('a repeated request', () => {
  it.each<[string, (given: Given) => { path: string; body: object }]>([
    ['create', ({ table }) => ({ path: '', body: { table_definition_id: table, record: { code: 'NEW' } } })],
    ['delete', ({ table, ids }) => ({ path: '/delete_records', body: { table_definition_id: table, ids } })],
    ['restore', ({ table, ids }) => ({ path: '/restore_records', body: { table_definition_id: table, ids } })],
    ['revert', ({ table, ids }) => ({ path: `/${ids[0]}/revert`, body: { table_definition_id: table, version: 1 } })],
  ])('to %s has one effect and one answer, also when several come at once', async (name, requestOf) => {
    const given = await givenRows('A', 'B');
    const { table, ids } = given;
    if (name === 'restore') await remove(net.call, table, ids);
    const [{ path, body }, before] = [requestOf(given), await versionsIn(table, ids[0] as number)];
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(path, body, name)));
    answers.push(await post(path, body, name));
    for (const answer of answers) expect(answer).toMatchObject({ status: name === 'create' ? 201 : 200 });
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.headers.get('etag'))).size).toBe(1);
    expect((await versionsIn(table, ids[0] as number)) - before).toBe(name === 'create' ? 0 : 1);
    expect((await post(path, { ...body, table_definition_id: (await givenRows()).table }, name)).status).toBe(422);
  });

  it('gets the first answer though the row has changed since, or the rules have', async () => {
    const { table, ids } = await givenRows('A');
    const once = { table_definition_id: table, version: 1 };
    const first = await post(`/${ids[0]}/revert`, once, 'guarded', { 'if-match': '"2"' });
    const created = { table_definition_id: table, record: { code: 'B', x: 'b' } };
    const made = await post('', created, 'made');
    expect([first.status, made.status]).toEqual([200, 201]);
    await net.call('PATCH', `/api/v1/table_data/${ids[0]}`, { table_definition_id: table, record: { x: 'later' } });
    await deploy(net, [{ id: table, version: 2, columns: [columns[0] as TableInput['columns'][number]] }]);
    expect(await post(`/${ids[0]}/revert`, once, 'guarded', { 'if-match': '"2"' })).toMatchObject({ body: first.body });
    expect(await post('', created, 'made')).toMatchObject({ status: 201, body: made.body });
    expect((await post('', created, 'another')).status).toBe(422);
  });

  it('that failed first is done when the reason is removed', async () => {
    const { table, ids } = await givenRows('A');
    const body = { table_definition_id: table, ids: [...ids, 777_777] };
    expect((await post('/delete_records', body, 'early')).status).toBe(404);
    expect((await post('/delete_records', { ...body, ids }, 'early')).body).toMatchObject({ deleted_count: 1 });
  });

  it('belongs to its caller: two callers may use the same key', async () => {
    const { table } = await givenRows();
    const record = (code: string) => ({ table_definition_id: table, record: { code } });
    const other = net.as({ applicationId: 77 });
    expect((await post('', record('A'), 'shared')).status).toBe(201);
    const theirs = await other('POST', '/api/v1/table_data', record('B'), { 'idempotency-key': 'shared' });
    expect([theirs.status, theirs.body.record.code]).toEqual([201, 'B']);
  });

  it('takes a key of visible characters only', async () => {
    const { table, ids } = await givenRows('A');
    for (const key of ['', 'a b', 'x'.repeat(256)])
      expect((await post('/delete_records', { table_definition_id: table, ids }, key)).status).toBe(400);
  });
});
