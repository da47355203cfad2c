import fc from 'fast-check';
import { create, type DataNet, deploy, givenData } from '../given.ts';
import { type AgGrid, loadAgGrid } from './ag-grid.ts';
import { anyModel, columns, communityModel, kinds, makeRecords } from './grid-models.ts';
import { type Kind, type Model, reference } from './grid-reference.ts';

let net: DataNet;
// biome-ignore lint/suspicious/noExplicitAny: records of any table
let rows: any[];
let agGrid: AgGrid;
let shown: (model: Model) => { id: number }[];

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [{ id: 1, key: 'things', columns }]);
  rows = [];
  for (const record of makeRecords(200)) {
    const big = record.big === null ? null : BigInt(record.big as string);
    rows.push({ ...(await create(net, 1, record)), big });
  }
  agGrid = await loadAgGrid();
  shown = agGrid.open(rows, kinds);
});

afterAll(async () => {
  await agGrid?.close();
  await net.stop();
});

async function expectEqual(model: Model, expected: { id: number }[], start: number, length: number) {
  const body = { table_definition_id: 1, startRow: start, endRow: start + length, ...model };
  const answer = await net.call('POST', '/api/v1/table_data/grid', body);
  expect([answer.status, answer.body.errors ?? []]).toEqual([200, []]);
  expect(answer.body.rowCount).toBe(expected.length);
  expect(answer.body.rows.map((row: { id: number }) => row.id)).toEqual(
    expected.slice(start, start + length).map(({ id }) => id),
  );
}

// A busy machine tries fewer models.
const interruptAfterTimeLimit = 100_000;
const start = fc.constantFrom(0, 0, 0, 5, 40);
const length = fc.constantFrom(1, 20, 200);

describe('the grid', () => {
  it('returns for any model the rows that AG Grid itself shows, in its order', async () => {
    await fc.assert(
      fc.asyncProperty(communityModel, start, length, (model, from, count) =>
        expectEqual(model, shown(model), from, count),
      ),
      { numRuns: 2500, interruptAfterTimeLimit },
    );
  });

  it('returns for sets the rows of a plain implementation of the rules', async () => {
    await fc.assert(
      fc.asyncProperty(anyModel, start, length, (model, from, count) =>
        expectEqual(model, reference(rows, kinds, model), from, count),
      ),
      { numRuns: 500, interruptAfterTimeLimit },
    );
  });
});

// The table of docs/how-to/grid.md, line by line: the places in `values` that each of the two
// shows, in order.
describe('the grid differs from AG Grid on purpose', () => {
  const text = (type: string, filter: string) => ({ x: { filterType: 'text', type, filter } });
  const equals = (filter: string) => ({ x: { filterType: 'number', type: 'equals', filter } });
  const day = (type: string, dateFrom: string) => ({ x: { filterType: 'date', type, dateFrom } });
  const ascending = [{ colId: 'x', sort: 'asc' as const }];
  const noon = ['2024-01-01T12:00:00.000Z', '2024-01-02T00:00:00.000Z'];

  type Difference = {
    column: { data_type: string; length?: number; scale?: number };
    kind: Kind;
    values: string[];
    model: Partial<Model>;
    ours: number[];
    agGrid: number[];
  };
  const differences: Record<string, Difference> = {
    'folds the dotted capital I to one letter': {
      column: { data_type: 'text' },
      kind: 'text',
      values: ['İstanbul'],
      model: { filterModel: text('contains', 'istanbul') },
      ours: [0],
      agGrid: [],
    },
    'folds the capital sigma to the same letter wherever it stands': {
      column: { data_type: 'text' },
      kind: 'text',
      values: ['ΟΔΟΣ', 'οδος', 'οδοσ'],
      model: { filterModel: text('equals', 'ΟΔΟΣ') },
      ours: [0, 2],
      agGrid: [0, 1],
    },
    'sorts texts by code point, not by UTF-16': {
      column: { data_type: 'text' },
      kind: 'text',
      values: ['😀', 'ﬁ'],
      model: { sortModel: ascending },
      ours: [1, 0],
      agGrid: [0, 1],
    },
    'compares whole numbers exactly, whatever their size': {
      column: { data_type: 'bigint' },
      kind: 'number',
      values: ['9007199254740992', '9007199254740993'],
      model: { filterModel: equals('9007199254740993') },
      ours: [1],
      agGrid: [0, 1],
    },
    'compares decimals exactly': {
      column: { data_type: 'decimal', length: 20, scale: 18 },
      kind: 'number',
      values: ['0.3', '0.300000000000000001'],
      model: { filterModel: equals('0.300000000000000001') },
      ours: [1],
      agGrid: [0, 1],
    },
    'takes the text of a decimal with all its places': {
      column: { data_type: 'decimal', length: 10, scale: 2 },
      kind: 'number',
      values: ['2.5'],
      model: { filterModel: text('equals', '2.5') },
      ours: [],
      agGrid: [0],
    },
    'takes instants by their day in UTC': {
      column: { data_type: 'datetime' },
      kind: 'moment',
      values: noon,
      model: { filterModel: day('equals', '2024-01-01') },
      ours: [0],
      agGrid: [],
    },
    'takes the time of day in a date filter for nothing': {
      column: { data_type: 'datetime' },
      kind: 'moment',
      values: noon,
      model: { filterModel: day('lessThan', '2024-01-02 18:00:00') },
      ours: [0],
      agGrid: [0, 1],
    },
  };

  let id = 1;
  it.each(Object.entries(differences))('%s', async (_, { column, kind, values, model, ours, agGrid: theirs }) => {
    id += 1;
    await deploy(net, [{ id, columns: [{ name: 'x', ...column }] }]);
    for (const x of values) await create(net, id, { x });
    const whole = { filterModel: {}, sortModel: [], ...model };
    const body = { table_definition_id: id, startRow: 0, endRow: 10, ...whole };
    const answer = await net.call('POST', '/api/v1/table_data/grid', body);
    expect(answer.body.rows.map((row: { svc_sk: number }) => row.svc_sk - 1)).toEqual(ours);

    const cells = values.map((value, place) => ({ place, x: kind === 'number' ? Number(value) : value }));
    expect(
      agGrid
        .open(cells, { x: kind })(asJavaScriptReads(whole))
        .map(({ place }) => place),
    ).toEqual(theirs);
  });

  // Numbers beyond what JavaScript can hold are strings above.
  function asJavaScriptReads(model: Model): Model {
    const { x } = model.filterModel;
    return x?.filterType === 'number' ? { ...model, filterModel: { x: { ...x, filter: Number(x.filter) } } } : model;
  }
});
