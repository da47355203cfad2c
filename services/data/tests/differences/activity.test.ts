import { load } from '../files.ts';
import { create, type DataNet, deploy, givenData } from '../given.ts';
import { codeColumn, edit, nextId } from '../merges/row-merges.ts';
import { passed, patch, remove, restore, revert } from '../versions.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
  net.rights.set(7, {
    license_type: 'end_user',
    permissions: [{ action: 'edit', resource_type: 'account', resource_id: 1 }],
  });
});

afterAll(() => net.stop());

const columns = [codeColumn, { name: 'name', length: 20 }, { name: 'size', data_type: 'integer' }];

async function givenTable(): Promise<number> {
  const id = nextId();
  await deploy(net, [{ id, columns }]);
  return id;
}

const ask = (table: number, what: string, query = '', call = net.call) =>
  call('GET', `/api/v1/table_data/${what}?table_definition_id=${table}&${query}`);

type Change = {
  svc_sk: number;
  svc_version: number;
  at: string;
  action: string;
  key: { code: string };
  cells: Record<string, unknown> | null;
};

describe('the changes of a table', () => {
  it('are the versions of all rows, newest first, with who, when, how and what', async () => {
    const table = await givenTable();
    const steward = net.as({ userId: 7, applicationId: 3 });
    const made = await create(net, table, { code: 'A', name: 'one' }, steward);
    await passed(net, made.svc_updated_at);
    const { svc_sk: other, svc_updated_at } = await create(net, table, { code: 'B', size: 2 });
    await passed(net, svc_updated_at);
    const changed = await patch(
      net.as({ applicationId: 3 }),
      table,
      made.svc_sk,
      { name: 'two', size: 5 },
      { 'x-request-id': 'request-77' },
    );
    await passed(net, changed.body.svc_updated_at);
    await remove(steward, table, [other]);

    const { status, body } = await ask(table, 'activity');
    expect(status).toBe(200);
    const by = { channel: 'api', request_id: expect.any(String) };
    expect(body.data).toMatchObject([
      {
        ...by,
        svc_sk: other,
        svc_version: 2,
        action: 'deleted',
        user_id: 7,
        application_id: null,
        key: { code: 'B' },
        cells: {},
      },
      {
        ...by,
        svc_sk: made.svc_sk,
        svc_version: 2,
        at: changed.body.svc_updated_at,
        action: 'updated',
        user_id: null,
        application_id: 3,
        key: { code: 'A' },
        cells: { name: { from: 'one', to: 'two' }, size: { from: null, to: 5 } },
      },
      {
        ...by,
        svc_version: 1,
        action: 'created',
        key: { code: 'B' },
        cells: { code: { from: null, to: 'B' }, size: { from: null, to: 2 } },
      },
      { ...by, svc_version: 1, action: 'created', user_id: 7, at: made.svc_updated_at, key: { code: 'A' } },
    ]);
    expect(body.meta).toEqual({ page: 1, per_page: 100, total_count: 4, total_pages: 1 });
    expect(Date.parse(body.as_of_from)).toBeLessThanOrEqual(Date.parse(made.svc_updated_at));

    const found = async (query: string) =>
      (await ask(table, 'activity', query)).body.data
        .map(({ key, svc_version }: Change) => key.code + svc_version)
        .join(' ');
    expect(await found('user_id=7')).toBe('B2 A1');
    expect(await found('application_id=3')).toBe('A2');
    expect(await found('action=created')).toBe('B1 A1');
    expect(await found('action=restored')).toBe('');
    expect(await found('channel=import')).toBe('');
    expect(await found('column=size')).toBe('A2 B1');
    expect(await found(`from=${changed.body.svc_updated_at}`)).toBe('B2 A2');
    expect(await found(`to=${changed.body.svc_updated_at}`)).toBe('B1 A1');
    expect(await found(`from=${svc_updated_at}&to=${changed.body.svc_updated_at}`)).toBe('B1');
    expect(await found('per_page=1&page=2')).toBe('A2');
    expect((await ask(table, 'activity', 'per_page=3&page=2')).body.meta).toMatchObject({
      total_count: 4,
      total_pages: 2,
    });
  });

  it('are those of imports, restorations and reversions too', async () => {
    const table = await givenTable();
    await load(net, table, 'A,one,1\nB,two,2\n', { file_columns: ['code', 'name', 'size'] });
    const { data } = (await ask(table, 'activity')).body;
    expect(data).toMatchObject([
      { action: 'created', channel: 'import', key: { code: 'B' }, request_id: expect.any(String) },
      { action: 'created', channel: 'import', key: { code: 'A' } },
    ]);
    const [{ svc_sk: id }] = data;
    await remove(net.call, table, [id]);
    await restore(net.call, table, [id]);
    await patch(net.call, table, id, { name: 'x' });
    await revert(net.call, table, id, 1);
    const later = (await ask(table, 'activity', 'per_page=4')).body.data;
    expect(later.map(({ action }: Change) => action)).toEqual(['reverted', 'updated', 'restored', 'deleted']);
    expect(later[0].cells).toEqual({ name: { from: 'x', to: 'two' } });
  });

  it('have no cells where the version before is no longer kept', async () => {
    const table = await givenTable();
    const { svc_sk: id } = await create(net, table, { code: 'A', name: 'one' });
    await patch(net.call, table, id, { name: 'two' });
    await patch(net.call, table, id, { name: 'three' });
    await net.query(`delete from b_1.h_${table} where svc_version = 1`);
    await net.query(`update deployed_table set history_since = '2026-03-01T00:00:00Z' where table_definition_id = $1`, [
      table,
    ]);
    const { body } = await ask(table, 'activity');
    expect(body.as_of_from).toBe('2026-03-01T00:00:00.000Z');
    expect(body.data.map(({ cells }: Change) => cells)).toEqual([{ name: { from: 'two', to: 'three' } }, null]);
  });
});

describe('the timeline of a table', () => {
  it('counts versions by hour, day, week and month, in UTC', async () => {
    const table = await givenTable();
    await edit(net, table, { A: { name: 'a' }, B: { name: 'b' }, C: { name: 'c' } });
    await edit(net, table, { A: { name: 'x' }, B: null });
    // A year ago, in the night from Sunday to Monday.
    await net.query(`update b_1.h_${table} set svc_updated_at = '2025-11-30T23:30:00Z' where c_${table}001 = 'A'`);
    await net.query(`update b_1.h_${table} set svc_updated_at = '2025-12-01T00:10:00Z' where c_${table}001 = 'B'`);
    const buckets = async (query: string) => (await ask(table, 'timeline', query)).body.buckets;
    const [today] = (await buckets('from=2026-01-01T00:00:00Z')) as { at: string }[];
    expect(today).toEqual({ at: expect.stringMatching(/T00:00:00\.000Z$/), created: 1, updated: 1, deleted: 1 });
    const one = { created: 1, updated: 0, deleted: 0 };
    const past = '&to=2026-01-01T00:00:00Z';
    expect(await buckets(`bucket=hour${past}`)).toEqual([
      { at: '2025-11-30T23:00:00.000Z', ...one },
      { at: '2025-12-01T00:00:00.000Z', ...one },
    ]);
    expect(await buckets(past)).toEqual([
      { at: '2025-11-30T00:00:00.000Z', ...one },
      { at: '2025-12-01T00:00:00.000Z', ...one },
    ]);
    expect(await buckets(`bucket=week${past}`)).toEqual([
      { at: '2025-11-24T00:00:00.000Z', ...one },
      { at: '2025-12-01T00:00:00.000Z', ...one },
    ]);
    expect(await buckets(`bucket=month${past}`)).toEqual([
      { at: '2025-11-01T00:00:00.000Z', ...one },
      { at: '2025-12-01T00:00:00.000Z', ...one },
    ]);
  });

  it('counts a thousand buckets and no more', async () => {
    const table = await givenTable();
    const rows = (from: number, to: number) =>
      net.query(
        `insert into b_1.t_${table} (c_${table}001, svc_created_at, svc_updated_at, svc_channel) select n, now(), '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 hour', 'a' from generate_series($1::int, $2::int) n`,
        [from, to],
      );
    await rows(1, 1000);
    expect((await ask(table, 'timeline', 'bucket=hour')).body.buckets).toHaveLength(1000);
    await rows(1001, 1001);
    expect(await ask(table, 'timeline', 'bucket=hour')).toMatchObject({
      status: 400,
      body: { problems: [{ code: 'out_of_range', field: 'bucket', params: { maximum: 1000 } }] },
    });
    expect((await ask(table, 'timeline', 'bucket=day')).status).toBe(200);
  });
});

describe.each(['activity', 'timeline'])('GET /table_data/%s', (what) => {
  it('requires the right to view the table, of the account', async () => {
    const table = await givenTable();
    net.rights.set(8, { license_type: 'developer', permissions: [] });
    expect((await ask(table, what, '', net.as({ userId: 8 }))).status).toBe(403);
    expect((await ask(table, what, '', net.as({ accountId: 2 }))).status).toBe(404);
    expect((await ask(table, what, '', net.as({ userId: 7 }))).status).toBe(200);
  });

  it.each([
    ['from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z', 'to'],
    ['from=2026-01-02', 'from'],
    [what === 'activity' ? 'column=nowhere' : 'bucket=minute', what === 'activity' ? 'column' : 'bucket'],
    [what === 'activity' ? 'channel=fax' : 'bucket=', what === 'activity' ? 'channel' : 'bucket'],
  ])('is 400 with %s', async (query, field) => {
    const table = await givenTable();
    expect(await ask(table, what, query)).toMatchObject({ status: 400, body: { problems: [{ field }] } });
  });
});
