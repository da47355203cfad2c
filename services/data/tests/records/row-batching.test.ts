// Many rows read, created and changed one by one at the same time: they share statements, and each
// caller gets the answer that they would have got alone.

import { ExactNumber } from '@almanac/service-kit/api/json-body';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { limits } from '@almanac/service-kit/limits';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool } from '@almanac/service-kit/postgres/database';
import { callHeaders } from '@almanac/testkit/calls/call';
import { eventually } from '@almanac/testkit/eventually';
import pg from 'pg';
import type { DataContext } from '../../src/context.ts';
import { createRecord, updateRecord } from '../../src/records/records.ts';
import { readRow } from '../../src/records/single-rows.ts';
import { dataTypes } from '../../src/values/value-types.ts';
import { create, type DataNet, deploy, givenData } from '../given.ts';

let net: DataNet;
const path = '/api/v1/table_data';
const rows = 120;
const key = { name: 'n', data_type: 'integer', is_primary_key: true };

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [
    { id: 1, columns: [key] },
    { id: 2, columns: [key, { name: 'json', data_type: 'json' }] },
    {
      id: 4,
      columns: [key, { name: 'text', length: 100 }, { name: 'of', data_type: 'integer', foreign_key_table_id: 1 }],
    },
    { id: 3, columns: [key, ...dataTypes.map((data_type) => ({ name: `x_${data_type}`, data_type, scale: 2 }))] },
  ]);
  await net.query(
    'insert into b_1.t_1 (svc_created_at, svc_updated_at, c_1001) select now(), now(), n from generate_series(1, $1::int) n',
    [rows],
  );
});

afterAll(() => net.stop());

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const read = async (id: number, table = 1) => net.call('GET', `${path}/${id}?table_definition_id=${table}`);

/** The result of `work` with a pool of its own, and the number of its statements. */
async function counted<T>(work: (context: DataContext) => Promise<T>): Promise<{ result: T; statements: number }> {
  const pool = createPool({ url: net.database.url, name: 'test', logger: createLogger('test', 'silent') });
  let statements = 0;
  pool.on('acquire', () => {
    statements += 1;
  });
  try {
    const result = await work({ ...net.context, pools: { ...net.context.pools, rows: pool } });
    return { result, statements };
  } finally {
    await pool.end();
  }
}

describe('rows that are read one by one at the same time', () => {
  it('are read by few statements, and each caller gets their row', async () => {
    const table = await net.context.catalogue.get(1, { id: 1 });
    const asked = [...ids(1, rows + 5), 7, 7].map(String);
    const { result, statements } = await counted((context) =>
      Promise.all(asked.map((id) => readRow(context.pools, table, id))),
    );
    const expected = asked.map((id) => (Number(id) > rows ? undefined : Number(id)));
    expect(result.map((row) => row?.svc_sk)).toEqual(expected);
    expect(result.map((row) => row && JSON.parse(row.record).n)).toEqual(expected);
    expect(statements).toBe(3);
  });

  it('are those of each table, and unknown ones are 404', async () => {
    await create(net, 2, { n: 1, json: ['two'] });
    const answers = await Promise.all([read(1), read(1, 2), read(rows + 1), read(2), read(99, 2), read(1, 99)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200, 404, 404]);
    expect(answers.map(({ body }) => body.json ?? body.n)).toEqual([1, ['two'], undefined, 2, undefined, undefined]);
  });

  it('show the writes that ended before the request', async () => {
    const writeAndRead = async (id: number) => {
      for (let version = 2; version < 7; version += 1) {
        await net.call('PATCH', `${path}/${id}`, { table_definition_id: 1, record: { n: id + version * 1_000 } });
        expect((await read(id)).body).toMatchObject({ svc_version: version, n: id + version * 1_000 });
      }
    };
    await Promise.all(ids(1, 5).map(writeAndRead));
  });

  it('fail alone when one exceeds an answer', async () => {
    const tooMany = Array(Math.ceil(limits.answerBytes / 1_000)).fill(new ExactNumber('1e999'));
    const [added] = await net.query(
      'insert into b_1.t_2 (svc_created_at, svc_updated_at, c_2001, c_2002) values (now(), now(), 2, $1::jsonb) returning svc_sk',
      [JSON.stringify(tooMany)],
    );
    const table = await net.context.catalogue.get(1, { id: 2 });
    const asked = ['1', String(added?.svc_sk), '1'].map((id) => readRow(net.context.pools, table, id));
    const answers = await Promise.allSettled(asked);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await read(Number(added?.svc_sk), 2)).status).toBe(400);
  });

  it('are the same text as in a page, whatever their types', async () => {
    const values = {
      ...{ string: 'x"\\\n\u2028é', text: '😀\t', integer: -1, bigint: '9223372036854775807', smallint: 3 },
      ...{ decimal: '1.10', real: 0.1, double: 1e300, boolean: false, date: '0001-01-01', time: '07:30' },
      ...{ datetime: '2024-01-01T00:00:00Z', timestamptz: '2024-12-31T23:59:59.120Z' },
      ...{ uuid: '0f8fad5b-d9cb-469f-a165-70867728950e', json: { b: [1.0, null], a: 'ü' } },
    };
    const named = Object.entries(values).map(([type, value]) => [`x_${type}`, value]);
    await create(net, 3, { n: 1, ...Object.fromEntries(named) });
    await create(net, 3, { n: 2 });
    const text = async (address: string) => {
      const url = `${net.baseUrl}${path}${address}table_definition_id=3`;
      return (await fetch(url, { headers: await callHeaders(net.keys) })).text();
    };
    const alone = [await text('/1?'), await text('/2?')];
    expect(await text('?sort=svc_sk&')).toContain(`{"data":[${alone.join(',')}],"meta"`);
  });
});

const machine = { issuer: 'gateway' as const, accountId: 1, scopes: ['api'], branching: true };
/** The written record, or the errors. */
const recordsOf = (results: PromiseSettledResult<Answer>[]) =>
  results.map((each) => (each.status === 'fulfilled' ? JSON.parse(each.value.body) : each.reason.errors));

describe('rows that are created one by one at the same time', () => {
  const createAll = (context: DataContext, records: Record<string, unknown>[]) =>
    Promise.allSettled(
      records.map((record, i) =>
        createRecord(context, { ...machine, applicationId: i + 1, requestId: `request-${i}` }, { id: 4 }, record),
      ),
    );
  const stored = () =>
    net.query('select c_4001 as n, svc_updated_by as by, svc_request_id as request from b_1.t_4 order by c_4001');

  it('are written by few statements, each under the name of its caller', async () => {
    const records = ids(1, rows).map((n) => ({ n, text: n % 3 === 0 ? null : `{"${n}",NULL}` }));
    await net.context.catalogue.get(1, { id: 4 }); // cached from here on, so all arrive in one turn
    const { result, statements } = await counted((context) => createAll(context, records));
    expect(recordsOf(result)).toMatchObject(
      records.map((record, i) => ({
        ...record,
        svc_version: 1,
        svc_updated_by: `application:${i + 1}`,
      })),
    );
    expect(await stored()).toEqual(
      records.map(({ n }, i) => ({ n, by: `application:${i + 1}`, request: `request-${i}` })),
    );
    expect(statements).toBe(3);
  });

  it('are refused alone when they have a problem', async () => {
    const [one, two, three, four] = [rows + 1, rows + 2, rows + 2, rows + 3];
    const results = await createAll(net.context, [
      { n: one },
      { n: 1 },
      { n: two },
      { n: three },
      { n: 0, of: -1 },
      { n: four, of: 50 },
    ]);
    const taken = ['n must be unique: a record with this value exists'];
    const found = recordsOf(results);
    expect(found.filter((each) => !Array.isArray(each))).toMatchObject([{ n: one }, { n: two }, { n: four }]);
    expect(found[1]).toEqual(taken);
    expect([found[2], found[3]]).toContainEqual(taken);
    expect(found[4]).toEqual(['of must refer to a record of the referenced table']);
    expect((await stored()).slice(rows).map(({ n }) => n)).toEqual([one, two, four]);
  });
});

describe('rows that are changed one by one at the same time', () => {
  type Change = { id: string; record: Record<string, unknown>; versions?: number[] };
  const changeAll = (context: DataContext, changes: Change[]) =>
    Promise.allSettled(
      changes.map(({ id, record, versions }, i) =>
        updateRecord(
          context,
          { ...machine, applicationId: i + 1, requestId: `request-${i}` },
          { id: 5 },
          { id, record, versions },
        ),
      ),
    );
  let own: string[];

  beforeAll(async () => {
    await deploy(net, [
      {
        id: 5,
        columns: [key, { name: 'text', length: 100 }, { name: 'of', data_type: 'integer', foreign_key_table_id: 1 }],
      },
    ]);
  });
  beforeEach(async () => {
    await net.query('truncate b_1.t_5, b_1.h_5');
    const made = await Promise.all(ids(1, rows).map((n) => create(net, 5, { n, text: `first ${n}` })));
    own = made.map(({ svc_sk }) => String(svc_sk));
  });

  it('are written by few statements, each under the name of its caller, and leave a version each', async () => {
    const changes = own.map((id, i) => ({
      id,
      record: i % 2 === 0 ? { text: `{"${i}",NULL}` } : { of: 7, text: null },
    }));
    const { result, statements } = await counted((context) => changeAll(context, changes));
    const expected = changes.map(({ id, record }, i) => ({
      ...{ svc_sk: Number(id), n: i + 1, svc_version: 2, svc_updated_by: `application:${i + 1}` },
      ...record,
    }));
    expect(recordsOf(result)).toMatchObject(expected);
    expect(statements).toBe(6); // three turns in, with two shapes each
    const stored = await net.query(
      'select svc_sk::int, c_5001 as n, c_5002 as text, svc_request_id as request from b_1.t_5 order by n',
    );
    expect(stored).toMatchObject(
      expected.map(({ svc_sk, n, text }, i) => ({ svc_sk, n, text, request: `request-${i}` })),
    );
    const kept = await net.query('select c_5002 as text, svc_version from b_1.h_5 order by c_5001');
    expect(kept).toEqual(ids(1, rows).map((n) => ({ text: `first ${n}`, svc_version: 1 })));
  });

  it('are refused alone when they have a problem', async () => {
    const [one, two, three, four, five, six] = own as [string, string, string, string, string, string];
    await net.call('POST', `${path}/delete_records`, { table_definition_id: 5, ids: [Number(two)] });
    const results = await changeAll(net.context, [
      { id: one, record: { text: 'a' }, versions: [4, 1] },
      { id: two, record: { text: 'b' } },
      { id: three, record: { text: 'c' }, versions: [2] },
      { id: '999999', record: { text: 'd' } },
      { id: four, record: { n: 1 } },
      { id: five, record: { of: -1 } },
      { id: six, record: { text: 'e' }, versions: [] },
      { id: own[6] as string, record: { text: 'f' } },
    ]);
    expect(recordsOf(results)).toMatchObject([
      { text: 'a', svc_version: 2 },
      ['Record not found'],
      [expect.stringContaining('If-Match')],
      ['Record not found'],
      ['n must be unique: a record with this value exists'],
      ['of must refer to a record of the referenced table'],
      [expect.stringContaining('If-Match')],
      { text: 'f', svc_version: 2 },
    ]);
  });

  it('are all done when they are of the same row, one after the other', async () => {
    const [first, second] = own as [string, string];
    const changes = ids(1, 24).map((n) => ({ id: n % 3 === 0 ? second : first, record: { text: `change ${n}` } }));
    const records = recordsOf(await changeAll(net.context, changes));
    const versionsOf = (id: string) =>
      records
        .filter(({ svc_sk }) => String(svc_sk) === id)
        .map(({ svc_version }) => svc_version)
        .toSorted((a, b) => a - b);
    expect(versionsOf(first)).toEqual(ids(2, 17));
    expect(versionsOf(second)).toEqual(ids(2, 9));
    expect(records.map(({ text }) => text)).toEqual(changes.map(({ record }) => record.text));
  });

  it('do not wait for a transaction that has locked the row of another call', async () => {
    const [busy, ...free] = own.slice(0, 10) as [string, ...string[]];
    const client = new pg.Client({ connectionString: net.database.url });
    await client.connect();
    await client.query('begin');
    await client.query('select from b_1.t_5 where svc_sk = $1 for no key update', [busy]);
    const { result, statements } = await counted(async (patient) => {
      const all = changeAll(
        patient,
        [busy, ...free].map((id) => ({ id, record: { text: 'now' } })),
      );
      await eventually(async () => {
        expect(await net.query("select from b_1.t_5 where c_5002 = 'now'")).toHaveLength(free.length);
      });
      await client.query('commit');
      return all;
    });
    await client.end();
    expect(recordsOf(result).map(({ text }) => text)).toEqual(Array(10).fill('now'));
    expect(statements).toBe(2);
  });
});
