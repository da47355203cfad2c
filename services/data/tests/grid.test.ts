import fc from 'fast-check';
import { create, type DataNet, deploy, givenData } from './given.ts';
import { badBodies } from './grid-bad-bodies.ts';
import { type Model, reference } from './grid-reference.ts';

let net: DataNet;
// biome-ignore lint/suspicious/noExplicitAny: records of any table
let rows: any[];

const kinds = {
  id: 'number',
  name: 'text',
  note: 'text',
  amount: 'number',
  ratio: 'number',
  share: 'number',
  day: 'date',
  at: 'instant',
  open: 'boolean',
} as const;
const texts = [
  null,
  '',
  ' ',
  'Alpha',
  'alpha',
  'ALPHABET',
  'beta',
  '100%',
  'a_b',
  'a\\b',
  'É',
  '\u212alm',
  'klm',
  'İ',
  'i',
  'é',
  'ß',
  '😀',
  'zeta',
  "o'hara",
  '"x"',
];
const days = [null, '2024-01-01', '2024-02-29', '2024-03-01', '1999-12-31'];
const instants = [
  null,
  '2024-01-01T00:00:00.000Z',
  '2024-01-01T23:59:59.999Z',
  '2024-01-02T00:00:00.000Z',
  '2024-02-29T12:00:00.500Z',
];
const numbers = [null, 0, 1, 2, 3, -1, 10, 0.5, 2.25];
const pick = <T>(list: readonly T[], i: number) => list[i % list.length] as T;

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [
    {
      id: 1,
      key: 'things',
      columns: [
        { name: 'id', data_type: 'integer', is_primary_key: true },
        { name: 'name', length: 50 },
        { name: 'note', data_type: 'text', is_required: false },
        { name: 'amount', data_type: 'decimal', length: 10, scale: 2 },
        { name: 'ratio', data_type: 'double' },
        { name: 'share', data_type: 'real' },
        { name: 'day', data_type: 'date' },
        { name: 'at', data_type: 'datetime' },
        { name: 'open', data_type: 'boolean' },
      ],
    },
  ]);
  rows = [];
  for (let i = 0; i < 150; i += 1)
    rows.push(
      await create(net, 1, {
        id: (i * 7) % 151,
        name: pick(texts, i * 5 + (i >> 3)),
        note: pick(texts, i * 3 + 1),
        amount: pick(numbers, i),
        ratio: pick(numbers, i * 2 + 1),
        share: pick([null, 0.1, 0.5, 3], i),
        day: pick(days, i),
        at: pick(instants, i + (i >> 2)),
        open: pick([true, false, null], i),
      }),
    );
});

afterAll(() => net.stop());

const grid = (body: Record<string, unknown>) =>
  net.call('POST', '/api/v1/table_data/grid', { table_definition_id: 1, startRow: 0, endRow: 1000, ...body });

const text = fc.record({
  filterType: fc.constant('text'),
  type: fc.constantFrom('contains', 'notContains', 'equals', 'notEqual', 'startsWith', 'endsWith', 'blank', 'notBlank'),
  filter: fc.oneof(
    fc.constantFrom(...texts.filter((each) => each !== null), 'a', 'ALPHA', '%', '_', '\\', "'"),
    fc.string({ maxLength: 2 }).filter((each) => !each.includes('\u0000') && each.isWellFormed()),
  ),
});
const number = fc.record({
  filterType: fc.constant('number'),
  type: fc.constantFrom(
    'equals',
    'notEqual',
    'lessThan',
    'lessThanOrEqual',
    'greaterThan',
    'greaterThanOrEqual',
    'inRange',
    'blank',
    'notBlank',
  ),
  filter: fc.constantFrom(...numbers.filter((each) => each !== null), 2.251, 9007199254740991),
  filterTo: fc.constantFrom(...numbers.filter((each) => each !== null), 100),
});
const date = fc.record({
  filterType: fc.constant('date'),
  type: fc.constantFrom('equals', 'notEqual', 'lessThan', 'greaterThan', 'inRange', 'blank', 'notBlank'),
  dateFrom: fc.constantFrom(...days.filter((each) => each !== null), '2024-01-02'),
  dateTo: fc.constantFrom(...days.filter((each) => each !== null), '2030-01-01'),
});
const setOf = (values: readonly unknown[]) =>
  fc.record({
    filterType: fc.constant('set'),
    values: fc.array(fc.constantFrom(...values.map((each) => (each === null ? null : String(each))), 'ALPHA'), {
      maxLength: 4,
    }),
  });
const combined = (simple: fc.Arbitrary<{ filterType: string }>) =>
  fc.oneof(
    simple,
    fc.record({
      filterType: simple.map((each) => each.filterType),
      operator: fc.constantFrom('AND', 'OR'),
      conditions: fc.array(simple, { minLength: 1, maxLength: 3 }),
    }),
  );

const filterModel = fc.record(
  {
    id: combined(number),
    name: fc.oneof(combined(text), setOf(texts)),
    note: fc.oneof(combined(text), setOf(texts)),
    amount: combined(number),
    ratio: combined(number),
    share: combined(number),
    day: fc.oneof(combined(date), combined(text), setOf(days)),
    at: combined(date),
    open: fc.oneof(combined(text), setOf([true, false, null])),
  },
  { requiredKeys: [] },
);
const sortModel = fc.array(
  fc.record({
    colId: fc.constantFrom(...Object.keys(kinds), 'svc_sk'),
    sort: fc.constantFrom('asc' as const, 'desc' as const),
  }),
  { maxLength: 4 },
);

describe('the grid', () => {
  it('gives for any model the rows that AG Grid would, in its order, and counts them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ filterModel, sortModel }),
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 1, max: 40 }),
        async (model, start, length) => {
          const expected = reference(rows, kinds, model as Model);
          const { status, body } = await grid({ ...model, startRow: start, endRow: start + length });
          expect(status).toBe(200);
          expect(body.rowCount).toBe(expected.length);
          expect(body.rows.map((row: { id: number }) => row.id)).toEqual(
            expected.slice(start, start + length).map((row) => row.id),
          );
        },
      ),
      { numRuns: 400 },
    );
  });

  it('shows rows as they were answered when they were made', async () => {
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
    expect((await ask({ table_definition_key: 'things' })).status).toBe(400);
    expect((await ask({})).status).toBe(400);
    expect((await ask({ table_definition_key: 'things', branch_id: 2 })).status).toBe(404);
    expect((await ask({ table_definition_key: "things' or 1=1 --", branch_id: 1 })).status).toBe(404);
  });

  it('leaves deleted rows out unless they are asked for', async () => {
    const row = await create(net, 1, { id: 5000 });
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: 1, ids: [row.svc_sk] });
    const filterModel = { id: { filterType: 'number', type: 'equals', filter: 5000 } };
    expect((await grid({ filterModel })).body).toEqual({ rows: [], rowCount: 0 });
    const { body } = await grid({ filterModel, include_deleted: true });
    expect([body.rowCount, body.rows[0].svc_is_deleted]).toEqual([1, true]);
  });

  it('filters and sorts by system columns', async () => {
    const filterModel = {
      svc_sk: { filterType: 'number', type: 'lessThanOrEqual', filter: 3 },
      svc_created_at: { filterType: 'date', type: 'notBlank' },
    };
    const { body } = await grid({ filterModel, sortModel: [{ colId: 'svc_sk', sort: 'desc' }] });
    expect(body.rows.map((row: { svc_sk: number }) => row.svc_sk)).toEqual([3, 2, 1]);
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

  it('takes hostile text for text', async () => {
    for (const filter of ["'; drop schema b_1 cascade; --", "\\'; select 1 --", '$1', '$$x$$', '%', "' or '1'='1"]) {
      const { status, body } = await grid({ filterModel: { name: { filterType: 'text', type: 'equals', filter } } });
      expect([status, body.rowCount]).toEqual([200, 0]);
    }
    expect((await grid({})).body.rowCount).toBe(150);
  });
});

describe('the list of rows', () => {
  const list = (query: string) => net.call('GET', `/api/v1/table_data?table_definition_id=1${query}`);

  it('pages through everything once', async () => {
    const ids = new Set<number>();
    for (let page = 1; page <= 5; page += 1) {
      const { body } = await list(`&per_page=40&page=${page}&sort=-amount`);
      expect(body.meta).toEqual({ page, per_page: 40, total_count: 150, total_pages: 4 });
      for (const row of body.data) ids.add(row.svc_sk);
    }
    expect(ids.size).toBe(150);
  });

  it.each([
    ['name:eq:alpha', (row: { name: string }) => row.name === 'alpha'],
    ['name:contains:ALPHA', (row: { name: string | null }) => row.name?.toLowerCase().includes('alpha')],
    ['name:not_eq:alpha', (row: { name: string }) => row.name !== 'alpha'],
    ['name:in:alpha|beta', (row: { name: string }) => ['alpha', 'beta'].includes(row.name)],
    ['name:null', (row: { name: string | null }) => row.name === null],
    ['name:not_null:', (row: { name: string | null }) => row.name !== null],
    ['amount:gte:2.25', (row: { amount: number | null }) => row.amount !== null && row.amount >= 2.25],
    ['day:lt:2024-01-02', (row: { day: string | null }) => row.day !== null && row.day < '2024-01-02'],
    ['at:eq:2024-01-01T00:00:00Z', (row: { at: string }) => row.at === '2024-01-01T00:00:00.000Z'],
    ['open:eq:true', (row: { open: boolean }) => row.open === true],
    ['name:contains:%', (row: { name: string | null }) => row.name?.includes('%')],
  ])('understands q=%s', async (q, holds) => {
    const { status, body } = await list(`&per_page=1000&q=${encodeURIComponent(q)}`);
    expect([status, body.meta.total_count]).toEqual([200, rows.filter((row) => holds(row)).length]);
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
