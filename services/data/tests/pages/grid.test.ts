import { create, type DataNet, deploy, givenData } from '../given.ts';
import { badBodies } from './grid-bad-bodies.ts';
import { columns, makeRecords } from './grid-models.ts';

let net: DataNet;
// biome-ignore lint/suspicious/noExplicitAny: records of any table
let rows: any[];

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [{ id: 1, key: 'things', columns }]);
  rows = [];
  for (const record of makeRecords(150)) rows.push(await create(net, 1, record));
});

afterAll(() => net.stop());

const grid = (body: Record<string, unknown>) =>
  net.call('POST', '/api/v1/table_data/grid', { table_definition_id: 1, startRow: 0, endRow: 1000, ...body });

describe('the grid', () => {
  it('shows rows as they were answered when they were created', async () => {
    const { body } = await grid({ sortModel: [{ colId: 'svc_sk', sort: 'asc' }] });
    expect(body.rows).toEqual(rows);
  });

  it('takes the table by id, by key and branch, or both when they agree', async () => {
    const ask = (named: Record<string, unknown>) =>
      net.call('POST', '/api/v1/table_data/grid', { startRow: 0, endRow: 1, ...named });
    expect((await ask({ table_definition_key: 'things', branch_id: 1 })).body.rowCount).toBe(150);
    expect((await ask({ table_definition_id: 1, table_definition_key: 'things', branch_id: 1 })).status).toBe(200);
    expect((await ask({ table_definition_id: 1, table_definition_key: 'other', branch_id: 1 })).status).toBe(400);
    expect((await ask({ table_definition_id: 1, table_definition_key: 'things', branch_id: 2 })).status).toBe(400);
    expect((await ask({ table_definition_id: 1, branch_id: 1 })).status).toBe(200);
    expect((await ask({ table_definition_id: 1, branch_id: 2 })).status).toBe(400);
    expect((await ask({ table_definition_key: 'things' })).status).toBe(400);
    expect((await ask({})).status).toBe(400);
    expect((await ask({ table_definition_key: 'things', branch_id: 2 })).status).toBe(404);
    expect((await ask({ table_definition_key: "things' or 1=1 --", branch_id: 1 })).status).toBe(404);
  });

  it('leaves deleted rows out unless they are requested', async () => {
    const row = await create(net, 1, { id: 5000 });
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: 1, ids: [row.svc_sk] });
    const filterModel = { id: { filterType: 'number', type: 'equals', filter: 5000 } };
    expect((await grid({ filterModel })).body).toEqual({ rows: [], rowCount: 0 });
    const { body } = await grid({ filterModel, include_deleted: true });
    expect([body.rowCount, body.rows[0].svc_is_deleted]).toEqual([1, true]);
  });

  it('sorts deleted rows that lack a value required now before all others', async () => {
    const key = { name: 'id', data_type: 'integer', is_primary_key: true };
    const table = (is_required: boolean) => ({ id: 2, columns: [key, { name: 'x', is_required }] });
    await deploy(net, [table(false)]);
    const lacking = await create(net, 2, { id: 1 });
    await create(net, 2, { id: 2, x: 'b' });
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: 2, ids: [lacking.svc_sk] });
    await deploy(net, [{ ...table(true), version: 2 }]);
    const ids = async (sort: string) => {
      const body = { table_definition_id: 2, include_deleted: true, sortModel: [{ colId: 'x', sort }] };
      return (await grid(body)).body.rows.map((row: { id: number }) => row.id);
    };
    expect([await ids('asc'), await ids('desc')]).toEqual([
      [1, 2],
      [2, 1],
    ]);
  });

  it('filters and sorts by system columns', async () => {
    const filterModel = {
      svc_sk: { filterType: 'number', type: 'lessThanOrEqual', filter: 3 },
      svc_created_at: { filterType: 'date', type: 'notBlank' },
    };
    const { body } = await grid({ filterModel, sortModel: [{ colId: 'svc_sk', sort: 'desc' }] });
    expect(body.rows.map((row: { svc_sk: number }) => row.svc_sk)).toEqual([3, 2, 1]);
  });

  it('finds floating point numbers of any size, by number and in a set of texts', async () => {
    await deploy(net, [
      {
        id: 3,
        columns: [
          { name: 'id', data_type: 'integer', is_primary_key: true },
          { name: 'r', data_type: 'real' },
          { name: 'd', data_type: 'double' },
        ],
      },
    ]);
    const pairs = [
      [1234567, 1e15],
      [0.00001, 5e-324],
      [3.4e38, 1e308],
      [-3.4e38, -1e308],
    ];
    for (const [i, [r, d]] of pairs.entries()) await create(net, 3, { id: i, r, d });
    const found = async (column: string, model: Record<string, unknown>) => {
      const { status, body } = await grid({ table_definition_id: 3, filterModel: { [column]: model } });
      return status === 200 ? body.rows.map((row: { id: number }) => row.id) : status;
    };
    for (const [i, [r, d]] of pairs.entries())
      for (const [column, value] of [
        ['r', r],
        ['d', d],
      ] as const) {
        const equals = { filterType: 'number', type: 'equals' };
        expect([column, value, await found(column, { ...equals, filter: value })]).toEqual([column, value, [i]]);
        expect(await found(column, { ...equals, filter: String(value) })).toEqual([i]);
        expect(await found(column, { filterType: 'set', values: [String(value), 'no number'] })).toEqual([i]);
      }
    const range = { filterType: 'number', type: 'inRange', filter: 1e300, filterTo: '1.1e308' };
    expect(await found('d', range)).toEqual([2]);
    for (const filter of ['1e400', '1e-400', 'Infinity', '1e', `1${'0'.repeat(500)}`])
      expect([filter, await found('d', { filterType: 'number', type: 'lessThan', filter })]).toEqual([filter, 400]);
    expect(await found('id', { filterType: 'number', type: 'lessThan', filter: 1e40 })).toBe(400);
  });

  it('gives a thousand rows and no more, from anywhere', async () => {
    expect((await grid({ endRow: 1000 })).body.rows.length).toBe(150);
    expect((await grid({ endRow: 1001 })).status).toBe(400);
    expect((await grid({ startRow: 2_000_000_000, endRow: 2_000_000_100 })).body).toEqual({ rows: [], rowCount: 150 });
  });

  it.each(badBodies.map((body) => [body]))('answers 400 to %j', async (body) => {
    const answer = await grid(body);
    expect([answer.status, answer.body.error]).toEqual([400, 'Bad request']);
  });

  it('takes the whole request of the server-side row model as long as it groups nothing', async () => {
    const ungrouped = { rowGroupCols: [], valueCols: [], pivotCols: [], pivotMode: false, groupKeys: [] };
    expect((await grid(ungrouped)).body.rowCount).toBe(150);
    const grouped = { rowGroupCols: [{ id: 'name' }], pivotMode: true };
    const { status, body } = await grid({ ...ungrouped, ...grouped });
    expect([status, body.errors]).toEqual([
      400,
      ['rowGroupCols must be empty: rows are not grouped', 'pivotMode must be false: rows are not pivoted'],
    ]);
  });

  it('takes a hundred conditions and no more', async () => {
    const conditions = (length: number) => ({
      filterModel: {
        name: {
          filterType: 'text',
          operator: 'OR',
          conditions: Array.from({ length }, (_, i) => ({ filterType: 'text', type: 'equals', filter: `x${i}` })),
        },
      },
    });
    expect((await grid(conditions(100))).status).toBe(200);
    expect((await grid(conditions(101))).status).toBe(400);
  });

  it.each(columns.map(({ name }) => name))('finds by a long set what it finds by a short one: %s', async (colId) => {
    const some = rows.filter((_, i) => i % 20 === 0).map((row) => (row[colId] === null ? null : String(row[colId])));
    const values = some.map((text, i) => (i % 2 === 0 ? text : (text?.toUpperCase() ?? text)));
    const found = (more: string[]) =>
      grid({ filterModel: { [colId]: { filterType: 'set', values: [...values, ...more] } } });
    const [short, long] = [await found([]), await found(Array.from({ length: 60_000 }, (_, i) => `ß${i}`))];
    expect([short.status, long.status]).toEqual([200, 200]);
    expect(long.body).toEqual(short.body);
  });

  it('takes the older form of two conditions and the times that AG Grid sends', async () => {
    const condition = (filter: string) => ({ filterType: 'text', type: 'equals', filter });
    const older = await grid({
      filterModel: {
        name: { filterType: 'text', operator: 'OR', condition1: condition('beta'), condition2: condition('zeta') },
      },
    });
    expect(older.body.rowCount).toBe(rows.filter((row) => ['beta', 'zeta'].includes(row.name)).length);
    const timed = await grid({
      filterModel: { day: { filterType: 'date', type: 'equals', dateFrom: '2024-02-29 00:00:00', dateTo: null } },
    });
    expect(timed.body.rowCount).toBe(rows.filter((row) => row.day === '2024-02-29').length);
  });

  it('takes the sorts of AG Grid as it sends them', async () => {
    const sortModel = [{ sort: 'desc', type: 'default', colId: 'id' }];
    expect((await grid({ sortModel })).body).toEqual((await grid({ sortModel: [{ colId: 'id', sort: 'desc' }] })).body);
  });

  it('treats hostile text as text', async () => {
    for (const filter of ["'; drop schema b_1 cascade; --", "\\'; select 1 --", '$1', '$$x$$', '%', "' or '1'='1"]) {
      const { status, body } = await grid({ filterModel: { name: { filterType: 'text', type: 'equals', filter } } });
      expect([status, body.rowCount]).toEqual([200, rows.filter((row) => row.name === filter).length]);
    }
    expect((await grid({})).body.rowCount).toBe(150);
  });
});

describe('the list of rows', () => {
  const list = (query: string) => net.call('GET', `/api/v1/table_data?table_definition_id=1${query}`);

  it('pages through all rows once', async () => {
    const ids = new Set<number>();
    for (let page = 1; page <= 5; page += 1) {
      const { body } = await list(`&per_page=40&page=${page}&sort=-amount`);
      expect(body.meta).toEqual({ page, per_page: 40, total_count: 150, total_pages: 4 });
      for (const row of body.data) ids.add(row.svc_sk);
    }
    expect(ids.size).toBe(150);
  });

  it.each(['2147483647', '2147483648', '9'.repeat(400)])('has nothing at page %s', async (page) => {
    const { status, body } = await list(`&per_page=1000&page=${page}`);
    const meta = { page: 2_147_483_647, per_page: 1_000, total_count: 150, total_pages: 1 };
    expect([status, body]).toEqual([200, { data: [], meta }]);
  });

  it.each([
    ['name:eq:alpha', (row: { name: string }) => row.name === 'alpha'],
    ['name:contains:ALPHA', (row: { name: string | null }) => row.name?.toLowerCase().includes('alpha')],
    ['name:not_eq:alpha', (row: { name: string }) => row.name !== 'alpha'],
    ['name:in:alpha|beta', (row: { name: string }) => ['alpha', 'beta'].includes(row.name)],
    ['name:in:alpha,beta|beta', (row: { name: string }) => row.name === 'beta'],
    ['name:null', (row: { name: string | null }) => row.name === null],
    ['name:not_null:', (row: { name: string | null }) => row.name !== null],
    ['amount:gte:2.25', (row: { amount: number | null }) => row.amount !== null && row.amount >= 2.25],
    ['day:lt:2024-01-02', (row: { day: string | null }) => row.day !== null && row.day < '2024-01-02'],
    ['at:gte:2024-01-01', (row: { at: string | null }) => row.at !== null && row.at >= '2024-01-01T00:00:00.000Z'],
    ['at:lt:2024-01-01', (row: { at: string | null }) => row.at !== null && row.at < '2024-01-01T00:00:00.000Z'],
    ['at:eq:2024-01-01T00:00:00Z', (row: { at: string }) => row.at === '2024-01-01T00:00:00.000Z'],
    ['open:eq:true', (row: { open: boolean }) => row.open === true],
    ['name:contains:%', (row: { name: string | null }) => row.name?.includes('%')],
  ])('understands q=%s', async (q, holds) => {
    const { status, body } = await list(`&per_page=1000&q=${encodeURIComponent(q)}`);
    expect([status, body.meta.total_count]).toEqual([200, rows.filter((row) => holds(row)).length]);
  });

  it.each([
    ['2026-11-22T13:04Z', 200],
    ['2026-11-22', 200],
    ['2026-11-22T13:04:02.123456+0000', 200],
    ['20261122T130402Z', 200],
    ['2026-11-22 13:04:02', 200],
    ['2026-02-29', 400],
    ['now', 400],
  ])('takes the time %s in q as lists of other resources do (%s)', async (time, status) => {
    expect((await list(`&q=svc_created_at:gte:${encodeURIComponent(time)}`)).status).toBe(status);
  });

  it('finds a row by a time between its own and the next millisecond', async () => {
    const [{ svc_sk, svc_created_at }] = (await list('&per_page=1')).body.data;
    const finer = svc_created_at.replace('Z', '4Z');
    const finds = async (operator: string) => {
      const q = [`svc_sk:eq:${svc_sk}`, `svc_created_at:${operator}:${finer}`];
      return (await list(q.map((each) => `&q=${encodeURIComponent(each)}`).join(''))).body.data.length;
    };
    expect([await finds('gt'), await finds('gte'), await finds('lt'), await finds('lte')]).toEqual([0, 0, 1, 1]);
  });

  it.each([
    'q=name',
    'q=nope:eq:1',
    'q=name:regex:x',
    'q=id:eq:x',
    'q=day:eq:today',
    'q=amount:gt:NaN',
    'q=:::',
    'sort=nope',
    'page=0',
    'per_page=-1',
    'page=1.5',
    'x=1',
    'include_deleted=1',
  ])('answers 400 to %s', async (query) => {
    expect((await list(`&${query}`)).status).toBe(400);
  });
});
