// Random batches, also applied to a plain list in memory: both agree on refusals, their status and
// the rows afterwards.
import fc from 'fast-check';
import { type DataNet, deploy, givenData } from '../../given.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

type Record = { code?: string | null; parent?: string | null; n?: unknown };
type Row = { id: number; version: number; deleted: boolean; code: string; parent: string | null; n: number };
/** `row`: a live row, seldom a deleted one, or one that doesn't exist. */
type Drawn =
  | { operation: 'create'; record: Record }
  | { operation: 'update'; row: number; guard: number | undefined; record: Record }
  | { operation: 'delete'; row: number; guard: number | undefined };

const code = fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J');
const mostly = <T>(value: fc.Arbitrary<T>, rarely: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: value, weight: 30 }, { arbitrary: rarely, weight: 1 });
const cells = {
  code: mostly<string | null>(code, fc.constantFrom(null, 'LONG')),
  parent: fc.option(code),
  n: mostly<unknown>(fc.integer({ min: 0, max: 9 }), fc.constantFrom('x', null)),
};
const row = mostly(fc.nat({ max: 99 }), fc.constant(-1));
// The version that the row has, or another one.
const guard = fc.constantFrom(undefined, undefined, undefined, 0, 0, 0, 1);
const drawn: fc.Arbitrary<Drawn> = fc.oneof(
  fc.record({ operation: fc.constant('create' as const), record: fc.record(cells) }),
  fc.record({
    operation: fc.constant('update' as const),
    row,
    guard,
    record: fc.record(cells, { requiredKeys: ['n'] }),
  }),
  fc.record({ operation: fc.constant('delete' as const), row, guard }),
);

type Operation = { operation: string; id?: number; version?: number; record?: Record };

function aim(rows: Row[], each: Drawn, place: number): Operation {
  if (each.operation === 'create') return each;
  const some = rows.filter(({ deleted }) => deleted === each.row > 97);
  const found = some[each.row % some.length];
  const version = each.guard === undefined ? undefined : (found?.version ?? 1) + each.guard;
  const named = {
    operation: each.operation,
    id: found?.id ?? 999_990 + place,
    ...(version === undefined ? {} : { version }),
  };
  return each.operation === 'update' ? { ...named, record: each.record } : named;
}

const isBroken = ({ code: key, n }: Record) => key === null || key === 'LONG' || n === 'x' || n === null;

/** The rows afterwards (new ones without an id), or the status of the refusal. */
function apply(rows: Row[], operations: Operation[], isHierarchy: boolean): Row[] | number {
  const ids = operations.flatMap(({ id }) => id ?? []);
  if (new Set(ids).size < ids.length) return 400;
  const before = new Map(rows.map((each) => [each.id, each]));
  const isAbsent = ({ operation, id }: Operation) =>
    id !== undefined && (before.get(id)?.deleted ?? true) && (operation !== 'delete' || !before.has(id));
  if (operations.some(isAbsent)) return 404;
  if (operations.some(({ id, version }) => version !== undefined && before.get(id as number)?.version !== version))
    return 412;
  if (operations.some(({ record }) => record && isBroken(record))) return 422;
  const after = new Map(rows.map((each) => [each.id, { ...each }]));
  for (const [place, { operation, id, record }] of operations.entries()) {
    const own = after.get(id ?? 0) as Row;
    if (operation === 'create')
      after.set(-1 - place, { ...(record as Row), id: 0, version: 1, deleted: false, parent: record?.parent ?? null });
    else if (operation === 'update') {
      const becomes = { ...own, ...record } as Row;
      if (`${plain(becomes)}` !== `${plain(own)}`) Object.assign(own, becomes, { version: own.version + 1 });
    } else if (!own.deleted) Object.assign(own, { deleted: true, version: own.version + 1 });
  }
  const live = [...after.values()].filter(({ deleted }) => !deleted);
  const keys = new Set(live.map((each) => each.code));
  const isHanded = operations.some(({ operation, id, record }) => {
    const owner = rows.find((each) => !each.deleted && each.code === record?.code && each.id !== id);
    const moved = owner && operations.some((each) => each.id === owner.id && each.operation === 'update');
    return operation === 'update' && moved && after.get(owner.id)?.code !== owner.code;
  });
  const isOrphaned = live.some(({ parent }) => parent !== null && !keys.has(parent));
  const isCyclic = isHierarchy && live.some((each) => leadsBack(live, each));
  return keys.size < live.length || isHanded || isOrphaned || isCyclic ? 422 : [...after.values()];
}

function leadsBack(live: Row[], from: Row): boolean {
  let above: Row | undefined = from;
  for (let steps = 0; above && steps <= live.length; steps += 1) {
    const parent: string | null = above.parent;
    above = live.find((each) => each.code === parent);
    if (above === from) return true;
  }
  return false;
}

const plain = ({ id, version, deleted, code: key, parent, n }: Row) => [id, version, deleted, key, parent, n];

async function readRows(table: number): Promise<Row[]> {
  const { body } = await net.call(
    'GET',
    `/api/v1/table_data?table_definition_id=${table}&sort=svc_sk&per_page=1000&include_deleted=true`,
  );
  return body.data.map(({ svc_sk, svc_version, svc_is_deleted, ...own }: Row & { [name: string]: unknown }) => ({
    ...own,
    id: svc_sk,
    version: svc_version,
    deleted: svc_is_deleted,
  }));
}

const first = ['A', 'B', 'C', 'D', 'E', 'F'].map(
  (key, n): Drawn => ({ operation: 'create', record: { code: key, parent: n % 3 ? 'A' : null, n } }),
);

it.each([false, true])(
  'a batch has the effect that it has on a plain list, or none; hierarchy: %j',
  async (is_hierarchy) => {
    const seen = new Map<number, number>();
    const batches = fc.array(fc.array(drawn, { minLength: 1, maxLength: 5 }), { minLength: 8, maxLength: 12 });
    const property = fc.asyncProperty(batches, async (all) => {
      last += 1;
      await deploy(net, [
        {
          id: last,
          columns: [
            { name: 'code', length: 2, is_primary_key: true },
            { name: 'parent', length: 2, foreign_key_table_id: last, is_hierarchy },
            { name: 'n', data_type: 'integer', is_required: true },
          ],
        },
      ]);
      let rows: Row[] = [];
      for (const some of [first, ...all]) {
        const operations = some.map((each, place) => aim(rows, each, place));
        const expected = apply(rows, operations, is_hierarchy);
        const answer = await net.call('POST', '/api/v1/table_data/batch', { table_definition_id: last, operations });
        const context = { operations, rows, errors: answer.body.errors };
        const status = typeof expected === 'number' ? expected : 200;
        expect({ status: answer.status, ...context }).toEqual({ status, ...context });
        if (status !== 200) for (const error of answer.body.errors) expect(error).toMatch(/^Operation [0-4]: ./);
        seen.set(status, (seen.get(status) ?? 0) + 1);
        const now = await readRows(last);
        const wanted = typeof expected === 'number' ? rows : expected;
        const created = now.slice(rows.length).map(({ id }) => id);
        expect(now.map(plain)).toEqual(
          wanted.map((each) => plain({ ...each, id: each.id || (created.shift() as number) })),
        );
        rows = now;
      }
    });
    await fc.assert(property, { numRuns: 25 });
    expect([...seen.keys()].toSorted()).toEqual([200, 400, 404, 412, 422]);
    expect(seen.get(200)).toBeGreaterThan(20);
  },
);
