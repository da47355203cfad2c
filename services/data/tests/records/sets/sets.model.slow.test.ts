// Random writes of sets, batches and undos, also applied to a plain list in memory: both agree on
// refusals and on the rows afterwards.
import fc from 'fast-check';
import { type DataNet, deploy, givenData } from '../../given.ts';
import { gaps } from '../../versions.ts';
import { batch, rowsOf, write } from './sets.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

type Values = { code: string; parent: string | null; n: number };
type Row = Values & { id: number; version: number; deleted: boolean };
type Test = (row: Row) => boolean;
/** The rows as a request found and left them, by its id. */
type Log = { request: string; before: Map<number, Row>; after: Map<number, Row> }[];

const code = fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H');
const number = fc.integer({ min: 0, max: 3 });

const filters = {
  n: (value: number): [object, Test] => [
    { n: { filterType: 'number', type: 'equals', filter: value } },
    (row) => row.n === value,
  ],
  less: (value: number): [object, Test] => [
    { n: { filterType: 'number', type: 'lessThan', filter: value } },
    (row) => row.n < value,
  ],
  code: (value: string): [object, Test] => [
    { code: { filterType: 'text', type: 'equals', filter: value } },
    (row) => row.code === value,
  ],
  parent: (value: string | null): [object, Test] => [
    { parent: { filterType: 'set', values: [value] } },
    (row) => row.parent === value,
  ],
};
const filter = fc.oneof(
  number.map(filters.n),
  number.map(filters.less),
  code.map(filters.code),
  fc.option(code).map(filters.parent),
);
const set = fc.record({ code, parent: fc.option(code), n: number }, { requiredKeys: [] });
// Mostly the right count.
const off = fc.constantFrom(0, 0, 0, 0, 0, 0, 1, -1);
const drawn = fc.oneof(
  fc.record({ kind: fc.constant('update' as const), filter, set, off }),
  fc.record({ kind: fc.constant('delete' as const), filter, off }),
  fc.record({ kind: fc.constant('create' as const), record: fc.record({ code, parent: fc.option(code), n: number }) }),
  fc.record({ kind: fc.constant('undo' as const), back: fc.nat({ max: 2 }) }),
);
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

const valuesOf = ({ code: own, parent, n }: Values) => [own, parent, n];
const isSame = (one: Values, other: Values) => `${valuesOf(one)}` === `${valuesOf(other)}`;

/** Whether live rows have keys of their own and refer to live rows. */
function isSound(rows: Row[]): boolean {
  const live = rows.filter(({ deleted }) => !deleted);
  const keys = new Set(live.map((row) => row.code));
  return keys.size === live.length && live.every(({ parent }) => parent === null || keys.has(parent));
}

/** The rows afterwards; undefined when the request is refused. */
function apply(rows: Row[], each: Drawn, log: Log, created: number): Row[] | undefined {
  if (each.kind === 'create') return [...rows, { ...each.record, id: created, version: 1, deleted: false }];
  const next = (row: Row, change: Partial<Row>): Row => ({ ...row, ...change, version: row.version + 1 });
  if (each.kind === 'undo') {
    const undone = log.at(-1 - each.back);
    if (!undone) return undefined;
    const isChanged = [...undone.after].some(([id, row]) => rows.find((now) => now.id === id)?.version !== row.version);
    if (isChanged) return undefined;
    return rows.map((row) => {
      if (!undone.after.has(row.id)) return row;
      const before = undone.before.get(row.id);
      if (!before) return row.deleted ? row : next(row, { deleted: true });
      const { code: own, parent, n, deleted } = before;
      return next(row, { code: own, parent, n, deleted });
    });
  }
  const [, test] = each.filter;
  return rows.map((row) => {
    if (row.deleted || !test(row)) return row;
    if (each.kind === 'delete') return next(row, { deleted: true });
    const changed = { ...row, ...each.set };
    return isSame(row, changed) ? row : next(row, each.set);
  });
}

async function readRows(table: number): Promise<Row[]> {
  const rows = await rowsOf(net, table, true);
  return rows.map((row: Record<string, unknown>) => ({
    ...{ code: row.code, parent: row.parent, n: row.n },
    ...{ id: row.svc_sk, version: row.svc_version, deleted: row.svc_is_deleted },
  }));
}

const countOf = (rows: Row[], [, test]: [object, Test]) => rows.filter((row) => !row.deleted && test(row)).length;

/** How many rows the request says that match. */
const expectedOf = (rows: Row[], each: Drawn) =>
  'off' in each ? Math.max(0, countOf(rows, each.filter) + each.off) : undefined;

async function send(table: number, each: Drawn, rows: Row[], log: Log, request: string) {
  const headers = { 'x-request-id': request };
  if (each.kind === 'create') return batch(net.call, table, [{ operation: 'create', record: each.record }], headers);
  if (each.kind === 'undo') {
    const request_id = log.at(-1 - each.back)?.request ?? 'request-never';
    return write(net.call, 'undo', table, { request_id }, headers);
  }
  const body = { filterModel: each.filter[0], expected_count: expectedOf(rows, each) };
  return each.kind === 'delete'
    ? write(net.call, 'delete_where', table, body, headers)
    : write(net.call, 'update_where', table, { ...body, set: each.set }, headers);
}

const isRefused = (rows: Row[], each: Drawn) =>
  'off' in each &&
  (expectedOf(rows, each) !== countOf(rows, each.filter) ||
    (each.kind === 'update' && Object.keys(each.set).length === 0));

it('writes of sets and undos have the effect that they have on a plain list, or none', async () => {
  const seen = new Map<string, number>();
  const property = fc.asyncProperty(fc.array(drawn, { minLength: 12, maxLength: 20 }), async (all) => {
    last += 1;
    await deploy(net, [
      {
        id: last,
        columns: [
          { name: 'code', length: 2, is_primary_key: true },
          { name: 'parent', length: 2, foreign_key_table_id: last },
          { name: 'n', data_type: 'integer', is_required: true },
        ],
      },
    ]);
    const log: Log = [];
    const first = ['A', 'B', 'C', 'D'].map((own, n) => ({ code: own, parent: n > 1 ? 'A' : null, n }));
    await batch(
      net.call,
      last,
      first.map((record) => ({ operation: 'create', record })),
    );
    let rows = await readRows(last);
    for (const [place, each] of all.entries()) {
      const request = `model-${last}-${String(place).padStart(3, '0')}`;
      const answer = await send(last, each, rows, log, request);
      const now = await readRows(last);
      const applied = isRefused(rows, each) ? undefined : apply(rows, each, log, now.at(-1)?.id as number);
      const wanted = applied && isSound(applied) ? applied : undefined;
      const context = { each: JSON.stringify(each), place, rows, errors: answer.body.errors };
      const isUnknown = each.kind === 'undo' && !log.at(-1 - each.back);
      const status = wanted ? 200 : isUnknown ? 404 : 422;
      expect({ status: answer.status, ...context }).toEqual({ status, ...context });
      expect({ rows: now, each: context.each }).toEqual({ rows: wanted ?? rows, each: context.each });
      const name = `${each.kind} ${answer.status}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
      if (wanted) {
        const before = new Map(rows.map((row) => [row.id, row]));
        const written = wanted.filter((row) => before.get(row.id)?.version !== row.version);
        if (written.length > 0) log.push({ request, before, after: new Map(written.map((row) => [row.id, row])) });
      }
      rows = now;
    }
    expect(await gaps(net, last)).toEqual([]);
  });
  await fc.assert(property, { numRuns: 40 });
  for (const name of ['update 200', 'update 422', 'delete 200', 'delete 422', 'undo 200', 'undo 422'])
    expect([name, seen.get(name) ?? 0]).not.toEqual([name, 0]);
});
