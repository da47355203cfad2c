// Rows that exceed an answer, though each cell is within the rules: every way to read or write them
// refuses, and a write changes no row. Without the limit PostgreSQL fails at 1 GB, and Node at 512
// MB with the whole process.
import { ExactNumber } from '@almanac/service-kit/api/json-body';
import { limits } from '@almanac/service-kit/limits';
import { mayOverflow, withinAnswerSql } from '../../src/rows/answer-size.ts';
import { type DataNet, deploy, givenData } from '../given.ts';

let net: DataNet;
const cellBytes = 1_000_000;
const fitting = Math.floor(limits.answerBytes / (cellBytes + 1_000));
const rows = fitting + 5;
const smallRows = 1_500;
const path = '/api/v1/table_data';

// PostgreSQL writes each of these numbers with a thousand digits.
const numbers = (count: number) => Array(Math.ceil(count)).fill(new ExactNumber('1e999'));
const tooManyNumbers = Math.ceil(limits.answerBytes / 1_000);

beforeAll(async () => {
  net = await givenData();
  const key = { name: 'n', data_type: 'integer', is_primary_key: true };
  await deploy(net, [
    { id: 1, columns: [key, { name: 'large', data_type: 'text' }] },
    { id: 2, columns: [key, { name: 'of', data_type: 'integer', foreign_key_table_id: 1 }] },
    { id: 3, columns: [key, { name: 'json', data_type: 'json' }] },
  ]);
  await net.query(
    `insert into b_1.t_1 (svc_created_at, svc_updated_at, c_1001, c_1002)
     select now(), now(), n, case when n <= $1 then repeat('x', $2) else 'small' end from generate_series(1, $3::int) n`,
    [rows, cellBytes, rows + smallRows],
  );
  await net.query(
    'insert into b_1.t_2 (svc_created_at, svc_updated_at, c_2001, c_2002) select now(), now(), n, n from generate_series(1, $1::int) n',
    [rows],
  );
  await net.query(
    `insert into b_1.t_3 (svc_created_at, svc_updated_at, c_3001, c_3002) values (now(), now(), 1, $1::jsonb)`,
    [JSON.stringify(numbers(tooManyNumbers))],
  );
  for (let version = 2; version <= rows; version += 1)
    await net.query(
      `update b_1.t_1 set svc_version = $1::int, svc_updated_at = now(), c_1002 = $2 || repeat('y', $3) where svc_sk = 1`,
      [version, String(version), cellBytes],
    );
});

afterAll(() => net.stop());

const grid = (startRow: number, count: number, more: Record<string, unknown> = {}) =>
  net.call('POST', `${path}/grid`, { table_definition_id: 1, startRow, endRow: startRow + count, ...more });
const get = (address: string) => net.call('GET', `${path}${address}`);

const full = {
  status: 400,
  body: {
    error: 'Bad request',
    errors: [expect.stringMatching(/^An answer holds at most 32 MB: ask for fewer rows/)],
    problems: [expect.objectContaining({ code: 'too_large' })],
  },
};
const byNumber = (sort: 'asc' | 'desc') => ({ sortModel: [{ colId: 'n', sort }] });

describe('rows that exceed an answer', () => {
  it('are refused in a page of the grid; as many as fit are answered', async () => {
    const page = await grid(0, fitting, byNumber('asc'));
    expect({ status: page.status, rows: page.body.rows.length }).toEqual({ status: 200, rows: fitting });
    expect(page.body.rows.map(({ n }: { n: number }) => n)).toEqual(Array.from({ length: fitting }, (_, i) => i + 1));
    expect(await grid(0, rows, byNumber('asc'))).toMatchObject(full);
    expect(await grid(0, limits.gridRows)).toMatchObject(full);
  });

  it('are refused in a far page, which keeps its order where it fits', async () => {
    const near = await grid(smallRows - 3, 6, byNumber('desc'));
    expect(near.body.rows.map(({ n }: { n: number }) => n)).toEqual([3, 2, 1, 0, -1, -2].map((n) => rows + n));
    expect(await grid(smallRows, rows, byNumber('desc'))).toMatchObject(full);
  });

  it('are refused in a list, in lookups and as of an instant', async () => {
    const now = new Date().toISOString();
    expect(await get(`?table_definition_id=1&per_page=${rows}`)).toMatchObject(full);
    expect(await get(`?table_definition_id=1&per_page=${rows}&as_of=${now}`)).toMatchObject(full);
    expect(await grid(0, rows, { as_of: now })).toMatchObject(full);
    const referring = await grid(0, rows, { table_definition_id: 2 });
    expect(referring.body.rows).toHaveLength(rows);
    expect(await grid(0, rows, { table_definition_id: 2, include_lookups: true })).toMatchObject(full);
  });

  it('are refused in a history', async () => {
    const history = (perPage: number) => get(`/1/history?table_definition_id=1&per_page=${perPage}`);
    const page = await history(5);
    const versions = page.body.data.map(({ svc_version }: { svc_version: number }) => svc_version);
    expect(versions).toEqual([0, 1, 2, 3, 4].map((n) => rows - n));
    expect(await history(rows)).toMatchObject(full);
  });

  it('are refused as one record, which can still be made smaller', async () => {
    expect(await get('/1?table_definition_id=3')).toMatchObject(full);
    const patch = (record: Record<string, unknown>) =>
      net.call('PATCH', `${path}/1`, { table_definition_id: 3, record });
    expect(await patch({ n: 5 })).toMatchObject(full);
    const smaller = await patch({ json: null });
    expect({ status: smaller.status, version: smaller.body.svc_version }).toEqual({ status: 200, version: 2 });
  });
});

it('are refused from the first byte too many', async () => {
  const answer = (bytes: number) => net.query(`select ${withinAnswerSql("'whole'", `${bytes}::bigint`)} as json`);
  expect(await answer(limits.answerBytes)).toEqual([{ json: 'whole' }]);
  await expect(answer(limits.answerBytes + 1)).rejects.toMatchObject({ code: '54000' });
  expect([mayOverflow(1, limits.answerBytes), mayOverflow(1, limits.answerBytes + 1)]).toEqual([false, true]);
});

describe('a write whose answer would be too large', () => {
  const record = (n: number, count: number) => ({ n, json: numbers(count) });

  it('changes nothing', async () => {
    const created = { table_definition_id: 3, record: record(10, tooManyNumbers) };
    expect(await net.call('POST', path, created)).toMatchObject(full);
    // Each of these is small enough.
    const create = (n: number) => ({ operation: 'create', record: record(n, tooManyNumbers / 2) });
    const batch = { table_definition_id: 3, operations: [create(11), create(12), create(13)] };
    expect(await net.call('POST', `${path}/batch`, batch)).toMatchObject(full);
    const found = await grid(0, 1, { table_definition_id: 3 });
    expect(found.body.rowCount).toBe(1);
  });
});
