import { limits } from '@almanac/service-kit/limits';
import fc from 'fast-check';
import { create, type DataNet, deploy, givenData } from '../given.ts';
import { compare } from '../pages/grid-reference.ts';
import { patch } from '../versions.ts';
import {
  anySelection,
  deployTitles,
  type Given,
  givenRows,
  kindsOfAll,
  type Row,
  type Selection,
  selected,
} from './given-rows.ts';

let net: DataNet;
let rows: Given[];
const seed = Number(process.env.GROUPS_SEED ?? Date.now());

beforeAll(async () => {
  net = await givenData();
  rows = await givenRows(net, 150);
});

afterAll(() => net.stop());

const window = { startRow: 0, endRow: 1000 };
const ask = (body: Row, call = net.call) =>
  call('POST', '/api/v1/table_data/groups?exact_numbers=true', { table_definition_id: 1, ...window, ...body });
const groups = async (body: Row, call = net.call) => {
  const answer = await ask(body, call);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

const numeric = ['id', 'twin', 'big', 'amount', 'ratio', 'share'];
type Sorts = { colId: string; sort: 'asc' | 'desc' }[];
type Aggregate = { column: string; function: string };
type Input = Selection & {
  columns: string[];
  aggregates: Aggregate[];
  sortModel: Sorts;
  startRow: number;
  endRow: number;
};

const blank = (value: unknown) => (value === '' ? null : value);

// Sums as fractions of 10,000, which all numbers of the model are.
const scaled = (value: number | bigint) =>
  typeof value === 'bigint' ? value * 10_000n : BigInt(Math.round(value * 10_000));

function aggregated(same: Given[], { column, function: name }: Aggregate): unknown {
  const found = same.filter(({ shown }) => shown[column] !== null);
  if (name === 'count') return found.length;
  if (found.length === 0) return null;
  const sum = found.reduce(
    (total, { typed }) => (name === 'min' || name === 'max' ? 0n : total + scaled(typed[column])),
    0n,
  );
  if (name === 'sum') return Number(sum) / 10_000;
  if (name === 'avg') return Number(sum) / 10_000 / found.length;
  const ordered = found.toSorted((a, b) => compare(a.typed[column], b.typed[column]));
  return ordered.at(name === 'min' ? 0 : -1)?.shown[column];
}

// What the answer should be, by a plain reading of the rules.
function expected({ columns, aggregates, sortModel, startRow, endRow, ...selection }: Input) {
  const keyOf = ({ shown }: Given) => JSON.stringify(columns.map((name) => blank(shown[name])));
  const all = [...Map.groupBy(selected(rows, selection), keyOf).values()].toSorted(([a], [b]) => {
    const rest = columns.filter((name) => !sortModel.some(({ colId }) => colId === name));
    for (const { colId, sort } of [...sortModel, ...rest.map((colId) => ({ colId, sort: 'asc' }))]) {
      const order = compare(blank(a?.typed[colId]), blank(b?.typed[colId]));
      if (order !== 0) return sort === 'asc' ? order : -order;
    }
    return 0;
  });
  const labelled = columns.filter((name) => name === 'owner' || name === 'twin');
  const shown = all.slice(startRow, endRow).map((same) => {
    const first = (same[0] as Given).shown;
    return {
      values: Object.fromEntries(columns.map((name) => [name, blank(first[name])])),
      ...(labelled.length > 0 && {
        labels: Object.fromEntries(labelled.map((name) => [name, first[`${name}.$label`]])),
      }),
      count: same.length,
      aggregates: aggregates.map((each) => aggregated(same, each)),
    };
  });
  return { groups: shown, groupCount: all.length };
}

// Sums and averages are strings of all digits.
function rounded({ groups: answered, groupCount }: Row, { aggregates }: Input) {
  const asNumbers = answered.map((group: Row) => ({
    ...group,
    aggregates: group.aggregates.map((value: unknown, i: number) =>
      ['sum', 'avg'].includes((aggregates[i] as Aggregate).function) && value !== null ? near(Number(value)) : value,
    ),
  }));
  return { groups: asNumbers, groupCount };
}
const near = (value: number) => Number(value.toPrecision(12));

const aggregate = fc.oneof(
  fc.record({ column: fc.constantFrom(...numeric), function: fc.constantFrom('sum', 'avg') }),
  fc.record({
    column: fc.constantFrom(...Object.keys(kindsOfAll).filter((name) => name !== 'open')),
    function: fc.constantFrom('count', 'min', 'max'),
  }),
);
const column = fc.constantFrom(...Object.keys(kindsOfAll).filter((name) => name !== 'svc_sk'));
const input: fc.Arbitrary<Input> = fc
  .tuple(
    fc.oneof(anySelection, fc.constant({})),
    fc.uniqueArray(column, { minLength: 1, maxLength: 3 }),
    fc.array(aggregate, { maxLength: 3 }),
    fc.array(fc.constantFrom('asc' as const, 'desc' as const), { maxLength: 2 }),
    fc.constantFrom([0, 1000], [0, 3], [2, 5]),
  )
  .map(([selection, columns, aggregates, directions, [startRow, endRow]]) => ({
    ...selection,
    columns,
    aggregates,
    sortModel: columns
      .toReversed()
      .slice(0, directions.length)
      .map((colId, i) => ({ colId, sort: directions[i] as 'asc' | 'desc' })),
    startRow: startRow as number,
    endRow: endRow as number,
  }));

describe('groups of rows', () => {
  it(`are those of a plain model, for any columns, aggregates and filter (GROUPS_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(input, async (each) => {
        const answer = expected(each);
        const asNumbers = rounded(answer, each);
        expect(rounded(await groups(each), each)).toEqual(asNumbers);
      }),
      { numRuns: 400, seed, interruptAfterTimeLimit: 60_000 },
    );
  });

  it('add numbers exactly, whatever their type and size', async () => {
    await deploy(net, [
      {
        id: 3,
        columns: [
          { name: 'kind', length: 5 },
          { name: 'big', data_type: 'bigint' },
          { name: 'amount', data_type: 'decimal', length: 20, scale: 4 },
          { name: 'ratio', data_type: 'double' },
          { name: 'share', data_type: 'real' },
        ],
      },
    ]);
    const row = { big: '9223372036854775807', amount: '0.0001', ratio: 0.1, share: 0.1 };
    await create(net, 3, { kind: 'a', ...row });
    await create(net, 3, { kind: 'a', ...row, ratio: 0.2, share: 0.2 });
    for (const ratio of [1.7e308, 1.7e308]) await create(net, 3, { kind: 'b', ratio });
    const names = ['big', 'amount', 'ratio', 'share'];
    const aggregates = names.map((name) => ({ column: name, function: 'sum' }));
    const body = { table_definition_id: 3, columns: ['kind'], aggregates };
    const [a, b] = (await groups(body)).groups;
    expect(a.aggregates).toEqual(['18446744073709551614', '0.0002', '0.3', '0.3']);
    expect(b.aggregates).toEqual([null, null, `34${'0'.repeat(307)}`, null]);
    const plain = await net.call('POST', '/api/v1/table_data/groups', { ...body, ...window });
    expect(plain.body.groups[0].aggregates).toEqual([18446744073709552000, 0.0002, 0.3, 0.3]);
  });

  it('have the labels of the same instant, and are as of it', async () => {
    await deployTitles(net);
    const target = await create(net, 5, { code: 'A', title: 'old' });
    const { svc_updated_at: as_of } = await create(net, 6, { ref: 'A' });
    await create(net, 6, { ref: 'A' });
    await patch(net.call, 5, target.svc_sk, { title: 'new' });
    const body = { table_definition_id: 6, columns: ['ref', 'ref.$label'] };
    const group = (title: string, count: number) => ({
      groups: [{ values: { ref: 'A', 'ref.$label': title }, labels: { ref: title }, count, aggregates: [] }],
      groupCount: 1,
    });
    expect(await groups(body)).toEqual(group('new', 2));
    expect(await groups({ ...body, as_of })).toEqual(group('old', 1));
  });

  it('have no label that the caller may not view', async () => {
    net.rights.set(7, {
      license_type: 'end_user',
      permissions: [{ action: 'view', resource_type: 'domain', resource_id: 1 }],
    });
    const aggregates = [{ column: 'owner.$label', function: 'max' }];
    const mine = await groups({ columns: ['owner'], aggregates }, net.as({ userId: 7 }));
    for (const group of mine.groups) expect([group.labels.owner, group.aggregates]).toEqual([null, [null]]);
  });

  it('are refused without the right to view rows, and of a table of another account', async () => {
    net.rights.set(8, { license_type: 'end_user', permissions: [] });
    expect((await ask({ columns: ['id'] }, net.as({ userId: 8 }))).status).toBe(403);
    expect((await ask({ columns: ['id'] }, net.as({ accountId: 2 }))).status).toBe(404);
  });

  it('take one to three columns and at most twenty aggregates', async () => {
    const names = ['id', 'name', 'note', 'big'];
    const status = async (body: Row) => (await ask(body)).status;
    expect(await status({ columns: names.slice(0, limits.groupColumns) })).toBe(200);
    expect([await status({ columns: names }), await status({ columns: [] })]).toEqual([400, 400]);
    const aggregates = (length: number) => Array.from({ length }, () => ({ column: 'id', function: 'sum' }));
    expect(await status({ columns: ['id'], aggregates: aggregates(limits.aggregates) })).toBe(200);
    expect(await status({ columns: ['id'], aggregates: aggregates(limits.aggregates + 1) })).toBe(400);
  });

  const sum = (name: unknown) => ({ columns: ['id'], aggregates: [{ column: name, function: 'sum' }] });
  const bad: Row[] = [
    {},
    { columns: 'id' },
    { columns: [5] },
    { columns: ['nope'] },
    { columns: ['constructor'] },
    { columns: ['c_1001'] },
    { columns: ['id', 'id'] },
    { columns: ['name.$label'] },
    { columns: ['x'.repeat(10_000)] },
    { columns: ['id); drop table x'] },
    sum('name'),
    sum('day'),
    sum('open'),
    sum('nope'),
    sum(5),
    { columns: ['id'], aggregates: {} },
    { columns: ['id'], aggregates: [{ column: 'id' }] },
    { columns: ['id'], aggregates: [{ column: 'id', function: 'pg_sleep' }] },
    { columns: ['id'], aggregates: [{ column: 'id', function: 'count', more: 1 }] },
    { columns: ['id'], aggregates: [{ column: 'open', function: 'max' }] },
    { columns: ['id'], sortModel: [{ colId: 'name', sort: 'asc' }] },
    { columns: ['id'], startRow: 5, endRow: 5 },
    { columns: ['id'], endRow: 1001 },
    { columns: ['id'], startRow: -1 },
    { columns: ['id'], filterModel: 5 },
    { columns: ['id'], rowGroupCols: [] },
  ];
  it.each(bad.map((body) => [body]))('answers 400 with problems to %j', async (body) => {
    const { status, body: answer } = await ask(body);
    expect([status, answer.error]).toEqual([400, 'Bad request']);
    expect(answer.problems[0].code).toEqual(expect.any(String));
  });
});
