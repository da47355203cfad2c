import { load } from '../../files.ts';
import { caller, create, type DataNet, deploy, givenData, type TableInput } from '../../given.ts';
import { gaps, kept, passed, patch, remove, restore, revert, rowsAsOf, versionsOf } from '../../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const columns: TableInput['columns'] = [
  { name: 'code', length: 10, is_primary_key: true },
  { name: 'name', length: 20, is_required: true },
  { name: 'size', data_type: 'integer' },
];

async function givenTable(more: Partial<TableInput> = {}): Promise<number> {
  last += 10;
  await deploy(net, [{ id: last, columns, ...more }]);
  return last;
}

const file_columns = ['code', 'name', 'size'];
const path = '/api/v1/table_data';

describe('the history of a row', () => {
  it('has each version with its time, caller, channel, request and changed columns', async () => {
    const table = await givenTable();
    const steward = net.as({ userId: 7, applicationId: 3 });
    net.rights.set(7, {
      license_type: 'end_user',
      permissions: [{ action: 'edit', resource_type: 'account', resource_id: 1 }],
    });
    const made = await create(net, table, { code: 'A', name: 'one' }, steward);
    const id = made.svc_sk;
    const changed = await patch(net.as({ applicationId: 3 }), table, id, { name: 'two', size: 5 }, requested(2));
    await remove(steward, table, [id]);
    await restore(steward, table, [id]);
    const reverted = await revert(steward, table, id, 1);
    expect(reverted).toMatchObject({ status: 200, body: { name: 'one', size: null, svc_version: 5 } });
    expect(reverted.headers.get('etag')).toBe('"5"');

    const versions = await versionsOf(net.call, table, id);
    expect(versions.map(({ svc_version, action, channel }) => [svc_version, action, channel])).toEqual([
      [5, 'reverted', 'revert'],
      [4, 'restored', 'restore'],
      [3, 'deleted', 'api'],
      [2, 'updated', 'api'],
      [1, 'created', 'api'],
    ]);
    expect(versions.map(({ changed_columns }) => changed_columns)).toEqual([
      ['name', 'size'],
      [],
      [],
      ['name', 'size'],
      ['code', 'name'],
    ]);
    expect(versions.map(({ user_id, application_id }) => [user_id, application_id])).toEqual([
      [7, null],
      [7, null],
      [7, null],
      [null, 3],
      [7, null],
    ]);
    expect(versions[3]).toMatchObject({ request_id: 'request-0002', record: changed.body });
    expect(versions[4]?.record).toEqual(made);
    expect(versions[0]?.record).toEqual(reverted.body);
    expect(versions.map((version) => version.valid_to)).toEqual([
      null,
      ...versions.slice(0, -1).map((version) => version.valid_from),
    ]);
  });

  it('has pages, newest first, of deleted rows too', async () => {
    const table = await givenTable();
    const { svc_sk: id } = await create(net, table, { code: 'A', name: 'n1' });
    for (let n = 2; n <= 5; n += 1) await patch(net.call, table, id, { name: `n${n}` });
    await remove(net.call, table, [id]);
    const page = async (query: string) =>
      (await net.call('GET', `${path}/${id}/history?table_definition_id=${table}&${query}`)).body;
    const second = await page('page=2&per_page=4');
    expect(second.meta).toEqual({ page: 2, per_page: 4, total_count: 6, total_pages: 2 });
    expect(second.data.map((version: { svc_version: number }) => version.svc_version)).toEqual([2, 1]);
    // The version before is on another page; the changed columns are there all the same.
    expect((await page('page=1&per_page=2')).data[1].changed_columns).toEqual(['name']);
    expect(await page('page=9')).toMatchObject({ data: [], meta: { total_count: 6 } });
    for (const far of [2_147_483_647, 2_147_483_648, '9'.repeat(400)])
      expect(await page(`page=${far}&per_page=1000`)).toMatchObject({ data: [], meta: { page: 2_147_483_647 } });
    expect((await net.call('GET', `${path}/${id}/history?table_definition_id=${table}&page=0`)).status).toBe(400);
  });

  it('requires the right to view the table, and is 404 where there is no such row or table', async () => {
    const table = await givenTable();
    const { svc_sk: id } = await create(net, table, { code: 'A', name: 'n' });
    const history = (call = net.call, row = id, of = table) =>
      call('GET', `${path}/${row}/history?table_definition_id=${of}`);
    net.rights.set(8, { license_type: 'developer', permissions: [] });
    expect((await history(net.as({ userId: 8 }))).status).toBe(403);
    expect(await history(net.call, 999_999)).toMatchObject({ status: 404, body: { errors: ['Record not found'] } });
    expect((await history(net.call, id, 987_654)).status).toBe(404);
    expect(await history(net.as({ accountId: 2 }))).toMatchObject({
      status: 404,
      body: { errors: ['Deployed table definition not found'] },
    });
  });

  it('has no version of a write that was refused or changed no row', async () => {
    const table = await givenTable();
    const { svc_sk: id } = await create(net, table, { code: 'A', name: 'n' });
    await create(net, table, { code: 'B', name: 'n' });
    expect((await patch(net.call, table, id, { code: 'B' })).status).toBe(422);
    expect((await patch(net.call, table, id, { name: 'x' }, { 'if-match': '"9"' })).status).toBe(412);
    expect((await remove(net.call, table, [id, 999_999])).status).toBe(404);
    expect((await restore(net.call, table, [id])).body).toEqual({ message: '0 records restored', restored_count: 0 });
    expect(await kept(net, table)).toBe(0);
  });
});

const requested = (n: number) => ({ 'x-request-id': `request-${String(n).padStart(4, '0')}` });

describe('imports', () => {
  it('leave a version behind for each row they change or delete, and for no other', async () => {
    const table = await givenTable();
    const as = (n: number) => ({ ...caller, userId: 7, requestId: `import-000${n}` });
    net.rights.set(7, {
      license_type: 'developer',
      permissions: [{ action: 'edit', resource_type: 'account', resource_id: 1 }],
    });
    const rows = Array.from({ length: 20 }, (_, i) => `C${i},name ${i},${i}\n`);
    await load(net, table, rows.join(''), { file_columns, pattern: 'full' }, as(1));
    expect(await kept(net, table)).toBe(0);
    await load(net, table, rows.join(''), { file_columns, pattern: 'full' }, as(2));
    expect(await kept(net, table)).toBe(0);
    const next = [...rows.slice(0, 15), 'C15,other,15\n', 'D1,new,\n'];
    const merged = await load(net, table, next.join(''), { file_columns, pattern: 'full' }, as(3));
    expect(merged).toMatchObject({ inserted: 1, updated: 1, deleted: 4, unchanged: 15 });
    expect(await kept(net, table)).toBe(5);
    expect(await gaps(net, table)).toEqual([]);
    const { data } = (await net.call('GET', `${path}?table_definition_id=${table}&q=code:in:C15|D1&sort=code`)).body;
    const [changed, added] = await Promise.all(
      data.map((row: { svc_sk: number }) => versionsOf(net.call, table, row.svc_sk)),
    );
    expect(changed).toMatchObject([
      { action: 'updated', channel: 'import', user_id: 7, request_id: 'import-0003', changed_columns: ['name'] },
      { action: 'created', channel: 'import', user_id: 7, request_id: 'import-0001' },
    ]);
    expect(added).toMatchObject([{ action: 'created', request_id: 'import-0003', changed_columns: ['code', 'name'] }]);
    const [deleted] = await net.query(`select svc_sk::int from b_1.t_${table} where svc_is_deleted limit 1`);
    expect((await versionsOf(net.call, table, deleted?.svc_sk as number))[0]).toMatchObject({
      action: 'deleted',
      channel: 'import',
      request_id: 'import-0003',
    });
  });

  it('that only add rows, or fill a new table, write no history', async () => {
    const table = await givenTable();
    const rows = (from: number, count: number) => Array.from({ length: count }, (_, i) => `${from + i},n,\n`).join('');
    expect(await load(net, table, rows(0, 3_000), { file_columns, pattern: 'full' })).toMatchObject({
      inserted: 3_000,
    });
    expect(await load(net, table, rows(3_000, 500), { file_columns })).toMatchObject({ inserted: 500 });
    expect(await kept(net, table)).toBe(0);
    // The new table keeps versions like the one it replaced.
    expect(await load(net, table, rows(0, 10).replaceAll('n', 'm'), { file_columns })).toMatchObject({ updated: 10 });
    expect(await kept(net, table)).toBe(10);
  });

  it('keep versions by sets: a change of many rows after one of a single row on the same connection', async () => {
    const table = await givenTable();
    const rows = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${i},${name},\n`).join('');
    await load(net, table, rows('a', 20_000), { file_columns });
    for (let n = 0; n < 6; n += 1) await load(net, table, rows(`one ${n}`, 1), { file_columns });
    expect(await load(net, table, rows('b', 20_000), { file_columns })).toMatchObject({ updated: 20_000 });
    expect(await kept(net, table)).toBe(20_006);
    expect(await gaps(net, table)).toEqual([]);
  });

  it('that are dry runs leave no version', async () => {
    const table = await givenTable();
    await create(net, table, { code: 'A', name: 'n' });
    expect(await load(net, table, 'A,m,\n', { file_columns, dry_run: true })).toMatchObject({ updated: 1 });
    expect(await kept(net, table)).toBe(0);
    expect(await net.query('select 1 from bulk_write where table_definition_id = $1', [table])).toEqual([]);
  });
});

describe('rows as of an instant', () => {
  it('are read, listed and shown in the grid as they were, deleted ones on request', async () => {
    const table = await givenTable();
    const a = await create(net, table, { code: 'A', name: 'one', size: 1 });
    const b = await create(net, table, { code: 'B', name: 'two', size: 2 });
    await passed(net, b.svc_updated_at);
    const changed = (await patch(net.call, table, a.svc_sk, { name: 'three', size: 9 })).body;
    await passed(net, changed.svc_updated_at);
    await remove(net.call, table, [b.svc_sk]);
    const [deletion] = await versionsOf(net.call, table, b.svc_sk);

    const show = async (id: number, asOf: string) =>
      net.call('GET', `${path}/${id}?table_definition_id=${table}&as_of=${asOf}`);
    expect(await show(a.svc_sk, b.svc_updated_at)).toMatchObject({ status: 200, body: a });
    expect((await show(a.svc_sk, b.svc_updated_at)).headers.get('etag')).toBe('"1"');
    expect((await show(a.svc_sk, changed.svc_updated_at)).body).toEqual(changed);
    expect((await show(b.svc_sk, deletion.valid_from)).body).toEqual(deletion.record);
    expect((await show(a.svc_sk, '2020-01-01T00:00:00Z')).status).toBe(404);

    const grid = async (asOf: string | undefined, more = {}) =>
      (
        await net.call('POST', `${path}/grid`, {
          table_definition_id: table,
          startRow: 0,
          endRow: 10,
          as_of: asOf,
          sortModel: [{ colId: 'size', sort: 'desc' }],
          ...more,
        })
      ).body;
    expect(await grid(b.svc_updated_at)).toEqual({ rows: [b, a], rowCount: 2 });
    expect(await grid(changed.svc_updated_at)).toEqual({ rows: [changed, b], rowCount: 2 });
    expect(await grid(deletion.valid_from)).toEqual({ rows: [changed], rowCount: 1 });
    expect(await grid(deletion.valid_from, { include_deleted: true })).toEqual({
      rows: [changed, deletion.record],
      rowCount: 2,
    });
    const filterModel = { name: { filterType: 'text', type: 'equals', filter: 'ONE' } };
    expect(await grid(b.svc_updated_at, { filterModel })).toEqual({ rows: [a], rowCount: 1 });
    expect(await grid(undefined, { filterModel })).toEqual({ rows: [], rowCount: 0 });
    expect(await rowsAsOf(net.call, table, b.svc_updated_at)).toEqual([a, b]);
    expect(await rowsAsOf(net.call, table, '2020-01-01T00:00:00Z')).toEqual([]);
    const offset = '2020-01-01T00:00:00%2B14:00';
    expect(await rowsAsOf(net.call, table, offset)).toEqual([]);
  });

  it('are the same in every form of the instant', async () => {
    const table = await givenTable();
    const made = await create(net, table, { code: 'A', name: 'one' });
    await passed(net, made.svc_updated_at);
    const { body: changed } = await patch(net.call, table, made.svc_sk, { name: 'two' });
    const then = made.svc_updated_at.slice(0, -1);
    const basic = made.svc_updated_at.replace(/[-:]/g, '');
    for (const at of [`${then}Z`, `${then}+0000`, `${then}999%2B00`, `${then.replace('.', ',')}-00:00`, basic])
      expect(await rowsAsOf(net.call, table, at.replace('+', '%2B'))).toEqual([made]);
    expect(await rowsAsOf(net.call, table, changed.svc_updated_at)).toEqual([changed]);
  });

  it('are found by the time in the answer to a write', async () => {
    const table = await givenTable();
    for (let n = 0; n < 30; n += 1) {
      const made = await create(net, table, { code: `C${n}`, name: 'n' });
      expect((await rowsAsOf(net.call, table, made.svc_updated_at)).at(-1)).toEqual(made);
      const { body: changed } = await patch(net.call, table, made.svc_sk, { size: n });
      expect((await rowsAsOf(net.call, table, changed.svc_updated_at)).at(-1)).toEqual(changed);
    }
  });

  it.each([
    '2999-01-01T00:00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01',
    '2026-01-01T00:00:00 02:00',
    '2026-02-30T00:00:00Z',
    'now',
    '',
    "2026-01-01T00:00:00Z'; drop table deployed_table; --",
  ])('are 400 for %j', async (asOf) => {
    const table = await givenTable();
    const query = `table_definition_id=${table}&as_of=${encodeURIComponent(asOf)}`;
    const grid = { table_definition_id: table, startRow: 0, endRow: 1, as_of: asOf };
    const answers = [
      await net.call('GET', `${path}?${query}`),
      await net.call('GET', `${path}/1?${query}`),
      await net.call('POST', `${path}/grid`, grid),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      expect(body.errors.join()).toContain('as_of');
    }
  });
});
