// A write that changes nothing makes no version, and announces nothing.
import { eventually } from '@almanac/testkit/eventually';
import pg from 'pg';
import { read } from '../files.ts';
import { type ColumnInput, create, type DataNet, deploy, givenData } from '../given.ts';
import { gaps, passed, patch, remove, revert, versionsOf } from '../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
  net.rights.set(7, {
    license_type: 'developer',
    permissions: [{ action: 'edit', resource_type: 'account', resource_id: 1 }],
  });
});

afterAll(() => net.stop());

const code: ColumnInput = { name: 'code', length: 5, is_primary_key: true };
const usual: ColumnInput[] = [
  { name: 'name', length: 20 },
  { name: 'size', data_type: 'integer' },
];

async function givenTable(columns = usual): Promise<number> {
  last += 10;
  await deploy(net, [{ id: last, columns: [code, ...columns] }]);
  return last;
}

const batch = (table: number, operations: unknown[], call = net.call) =>
  call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations });
const changed = (id: number, record: Record<string, unknown>, version?: number) => ({
  operation: 'update',
  id,
  record,
  version,
});

/** All that is stored of a table and its history. */
const stateOf = (table: number) =>
  net.query(
    `select (select json_agg(v order by svc_sk) from b_1.t_${table} v) as now, (select json_agg(v) from b_1.h_${table} v) as h`,
  );

describe('a write that changes nothing', () => {
  it('answers the row as it is, whatever the types and however the values are written, and stores nothing', async () => {
    const table = await givenTable([
      { name: 'kind', valid_values: ['city', 'town'] },
      { name: 'area', data_type: 'decimal', length: 20, scale: 2 },
      { name: 'any', data_type: 'decimal' },
      { name: 'big', data_type: 'bigint' },
      { name: 'small', data_type: 'smallint' },
      { name: 'founded', data_type: 'date' },
      { name: 'seen_at', data_type: 'datetime' },
      { name: 'opens', data_type: 'time' },
      { name: 'open', data_type: 'boolean' },
      { name: 'tag', data_type: 'uuid' },
      { name: 'extra', data_type: 'json' },
      { name: 'single', data_type: 'real' },
      { name: 'ratio', data_type: 'double' },
      { name: 'note', data_type: 'text' },
      { name: 'none', data_type: 'text' },
    ]);
    const values = {
      code: 'A',
      kind: 'city',
      area: '12345678901234567.80',
      any: '1.50',
      big: '9223372036854775807',
      small: 3,
      founded: '2024-02-29',
      seen_at: '2024-01-01T00:00:00.500Z',
      opens: '07:30:00',
      open: true,
      tag: '0f8fad5b-d9cb-469f-a165-70867728950e',
      extra: { a: [1, 'x', null], b: 2 },
      single: 0.1,
      ratio: 0,
      note: 'line\n"two" 😀',
      none: null,
    };
    const otherwise = {
      area: '12345678901234567.8',
      any: 1.5,
      big: '09223372036854775807',
      small: '3',
      seen_at: '2024-01-01T02:00:00.5+02:00',
      opens: '07:30',
      tag: '0F8FAD5B-D9CB-469F-A165-70867728950E',
      extra: { b: 2.0, a: [1, 'x', null] },
      single: '1e-1',
      ratio: '-0',
    };
    const row = await create(net, table, values);
    const before = await stateOf(table);
    const by = net.as({ userId: 7 });
    const records = [{ note: values.note }, { none: null }, values, otherwise, { ...values, ...otherwise }];
    for (const record of records) {
      const { status, body, headers } = await patch(by, table, row.svc_sk, record);
      expect([status, body, headers.get('etag')]).toEqual([200, row, '"1"']);
      const whole = await batch(table, [changed(row.svc_sk, record)], by);
      expect(whole).toMatchObject({
        status: 200,
        body: { updated: [row], message: '0 records created, 0 records updated, 0 records deleted' },
      });
    }
    const { status, body, headers } = await revert(by, table, row.svc_sk, 1);
    expect([status, body, headers.get('etag')]).toEqual([200, row, '"1"']);
    expect(await stateOf(table)).toEqual(before);
  });

  it('is not in the next incremental export, beside a change that is', async () => {
    const table = await givenTable();
    const [a, b] = [await create(net, table, { code: 'A', size: 1 }), await create(net, table, { code: 'B', size: 1 })];
    await passed(net, b.svc_updated_at);
    await patch(net.call, table, a.svc_sk, { size: 1 });
    await batch(table, [changed(a.svc_sk, { size: 1 }), changed(b.svc_sk, { size: 2 })]);
    await revert(net.call, table, a.svc_sk, 1);
    const after = (await read(net, table, b.svc_updated_at)).text.trimEnd().split('\n').slice(1);
    expect(after.map((line) => line.split(',').slice(5))).toEqual([['B', '', '2']]);
  });

  it('must match versions, rules and presence like any other', async () => {
    const table = await givenTable();
    const { svc_sk: id } = await create(net, table, { code: 'A', size: 1 });
    const { svc_sk: other } = await create(net, table, { code: 'B', size: 1 });
    await patch(net.call, table, id, { size: 2 });
    const same = { size: 2 };
    expect((await patch(net.call, table, id, same, { 'if-match': '"1"' })).status).toBe(412);
    expect((await revert(net.call, table, id, 2, { 'if-match': '"1"' })).status).toBe(412);
    expect((await batch(table, [changed(id, same, 1)])).status).toBe(412);
    const match = { 'if-match': '"2"' };
    expect(await patch(net.call, table, id, same, match)).toMatchObject({ status: 200, body: { svc_version: 2 } });
    expect(await revert(net.call, table, id, 2, match)).toMatchObject({ status: 200, body: { svc_version: 2 } });
    expect(await batch(table, [changed(id, same, 2)])).toMatchObject({ status: 200 });
    expect((await patch(net.call, table, id, { ...same, code: 'TOO LONG' })).status).toBe(422);
    expect((await patch(net.call, table, 999_999, same)).status).toBe(404);
    await remove(net.call, table, [other]);
    expect((await patch(net.call, table, other, { size: 1 })).status).toBe(404);
    expect((await batch(table, [changed(other, { size: 1 })])).status).toBe(404);
    expect((await versionsOf(net.call, table, id)).map(({ action }) => action)).toEqual(['updated', 'created']);
  });

  it('differs from the same cell without a value, and from the same values of a deleted row', async () => {
    const table = await givenTable();
    const { svc_sk: id } = await create(net, table, { code: 'A', name: '', size: 0 });
    expect((await patch(net.call, table, id, { name: null })).body).toMatchObject({ svc_version: 2, name: null });
    expect((await patch(net.call, table, id, { size: 0, name: '' })).body).toMatchObject({ svc_version: 3, name: '' });
    expect((await batch(table, [changed(id, { size: null })])).body.updated).toMatchObject([{ svc_version: 4 }]);
    await remove(net.call, table, [id]);
    expect((await revert(net.call, table, id, 4)).body).toMatchObject({ svc_version: 6, svc_is_deleted: false });
    expect(await gaps(net, table)).toEqual([]);
  });

  it('does not affect the others of a batch, each with its own columns', async () => {
    const table = await givenTable();
    const ids = [];
    for (const each of ['A', 'B', 'C', 'D']) ids.push((await create(net, table, { code: each, size: 1 })).svc_sk);
    const [a, b, c, d] = ids as [number, number, number, number];
    const { status, body } = await batch(table, [
      changed(a, { size: 1 }),
      changed(b, { size: 2 }),
      { operation: 'create', record: { code: 'E' } },
      changed(c, { name: 'new' }),
      changed(d, { code: 'D', name: null }),
    ]);
    expect(status).toBe(200);
    expect(body.updated.map((row: { svc_sk: number; svc_version: number }) => [row.svc_sk, row.svc_version])).toEqual([
      [a, 1],
      [b, 2],
      [c, 2],
      [d, 1],
    ]);
    expect(body.message).toBe('1 record created, 2 records updated, 0 records deleted');
    expect(await gaps(net, table)).toEqual([]);
  });
});

// Another session is changing the row and has not committed: the row as it is afterwards decides.
describe('a change that waits for another', () => {
  const writes = {
    PATCH: (table: number, id: number) => patch(net.call, table, id, { size: 2 }),
    batch: (table: number, id: number) => batch(table, [changed(id, { size: 2 })]),
    revert: (table: number, id: number) => revert(net.call, table, id, 2),
  };

  it.each(Object.entries(writes))('by %s is none when the other did the same', async (_name, write) => {
    const { table, id } = await givenRow(1);
    await whileChanging(table, id, 2, () => write(table, id));
    expect(await sizesOf(table, id)).toEqual([2, 1, 2, 1]);
  });

  it.each(Object.entries(writes))('by %s is one when the other undid it', async (_name, write) => {
    const { table, id } = await givenRow(2);
    await whileChanging(table, id, 1, () => write(table, id));
    expect(await sizesOf(table, id)).toEqual([2, 1, 2, 1, 2, 1]);
    expect(await gaps(net, table)).toEqual([]);
  });

  /** A row whose second version has the size 2, and that has this size now. */
  async function givenRow(size: number): Promise<{ table: number; id: number }> {
    const table = await givenTable();
    const { svc_sk: id } = await create(net, table, { code: 'A', size: 1 });
    for (const each of [2, 1, ...(size === 1 ? [] : [size])]) await patch(net.call, table, id, { size: each });
    return { table, id };
  }

  async function whileChanging(table: number, id: number, size: number, write: () => Promise<{ status: number }>) {
    const client = new pg.Client({ connectionString: net.database.url });
    await client.connect();
    try {
      await client.query('begin');
      await client.query(
        `update b_1.t_${table} set ${`c_${table * 1000 + 3}`} = $2, svc_version = svc_version + 1,
           svc_updated_at = date_trunc('milliseconds', clock_timestamp()) where svc_sk = $1`,
        [id, size],
      );
      const writing = write();
      await eventually(async () => {
        const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        expect(await net.query(waiting)).toHaveLength(1);
      });
      await client.query('commit');
      expect((await writing).status).toBe(200);
    } finally {
      await client.end();
    }
  }

  const sizesOf = async (table: number, id: number) =>
    (await versionsOf(net.call, table, id)).map(({ record }) => record.size);
});

it('rows that many change at once have a version for each change, and none for writes that changed nothing', async () => {
  const table = await givenTable();
  const { svc_sk: id } = await create(net, table, { code: 'A', size: 0 });
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => {
      const record = { size: i % 2 };
      return i % 3 === 0 ? batch(table, [changed(id, record)]) : patch(net.call, table, id, record);
    }),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const sizes = (await versionsOf(net.call, table, id)).map(({ record }) => record.size);
  expect(sizes).toEqual(sizes.map((_, i) => (sizes.length - 1 - i) % 2));
  expect(await gaps(net, table)).toEqual([]);
});
