// Random tables, writers, requests and decisions, compared with a plain model
// (`application-model.ts`): a rehearsal and an application agree with it, whatever subset is
// accepted, and the rows afterwards are its rows. CHANGE_REQUEST_OPERATIONS: how many in all
// (10000); CHANGE_REQUEST_SEED: repeats a run.
import { randomOf } from '@almanac/testkit/random';
import { type ColumnInput, create, type DataNet, deploy, givenData, type TableInput } from '../../given.ts';
import { gaps, patch, remove, restore } from '../../versions.ts';
import {
  applyModel,
  copyOfRow,
  type ModelColumn,
  type ModelOperation,
  type ModelRow,
  type ModelTable,
  type Value,
} from './application-model.ts';
import { apply, givenRequest, nextRequest, rehearse, type TestOperation } from './applied-requests.ts';

const wanted = Number(process.env.CHANGE_REQUEST_OPERATIONS ?? 10_000);
const seed = Number(process.env.CHANGE_REQUEST_SEED ?? Date.now() % 1_000_000);
const operationsPerRequest = 100;
const rowsPerTable = 40;
const requestsPerWorld = 10;

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const random = randomOf(seed);
const chance = (percent: number) => random(100) < percent;
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;

type World = { inputs: Map<number, TableInput>; models: Map<number, ModelTable> };
let last = 0;

async function givenWorld(): Promise<World> {
  const ids = Array.from({ length: 2 + random(2) }, () => {
    last += 1;
    return last;
  });
  const models = new Map<number, ModelTable>();
  for (const id of ids) {
    const columns: ModelColumn[] = [
      { name: 'code', required: true },
      { name: 'name', required: chance(50) },
      { name: 'size', required: false },
      { name: 'color', required: false, ...(chance(50) && { list: ['red', 'blue'] }) },
      { name: 'note', required: false },
    ];
    if (chance(80)) columns.push({ name: 'ref', required: false, refersTo: pick(ids) });
    if (chance(60)) columns.push({ name: 'boss', required: false, refersTo: id, isHierarchy: true });
    models.set(id, { columns, rows: new Map() });
  }
  const inputs = new Map(
    [...models].map(([id, { columns }]): [number, TableInput] => [
      id,
      {
        id,
        columns: columns.map(
          ({ name, required, list, refersTo, isHierarchy }): ColumnInput => ({
            name,
            ...(name === 'size' ? { data_type: 'integer' } : { length: 12 }),
            is_primary_key: name === 'code',
            is_required: required,
            ...(list && { valid_values: list }),
            ...(refersTo !== undefined && { foreign_key_table_id: refersTo }),
            ...(isHierarchy && { is_hierarchy: true }),
          }),
        ),
      },
    ]),
  );
  await deploy(net, [...inputs.values()]);
  const world = { inputs, models };
  for (const [id, model] of models)
    for (let n = 0; n < rowsPerTable; n += 1) await createRow(world, id, model, `k${n}`);
  return world;
}

const codes = Array.from({ length: rowsPerTable + 4 }, (_, n) => `k${n}`);

function randomCell({ name, list, refersTo }: ModelColumn, isRough: boolean): Value {
  if (isRough && chance(2)) return name === 'size' ? 'no number' : null;
  if (name === 'code') return chance(70) ? `n${random(100_000)}` : pick(codes);
  if (name !== 'name' && chance(30)) return null;
  if (name === 'size') return random(4);
  if (refersTo !== undefined) return pick(codes);
  return list ? (isRough && chance(3) ? 'green' : pick(list)) : `v${random(4)}`;
}

/** A row whose references hold, for they have none yet. */
async function createRow({ models }: World, id: number, model: ModelTable, code: string): Promise<void> {
  const cells = Object.fromEntries(
    model.columns.map((column) => [column.name, column.refersTo === undefined ? randomCell(column, false) : null]),
  );
  cells.code = code;
  const record = await create(net, id, cells);
  models.get(id)?.rows.set(record.svc_sk, { id: record.svc_sk, version: 1, deleted: false, cells });
}

function randomOperations({ models }: World): ModelOperation[] {
  const operations: ModelOperation[] = [];
  const named = new Set<string>();
  while (operations.length < operationsPerRequest && named.size < 1_000) {
    const table = pick([...models.keys()]);
    const model = models.get(table) as ModelTable;
    const cellsOf = (columns: ModelColumn[]) =>
      Object.fromEntries(columns.map((column) => [column.name, randomCell(column, true)]));
    if (chance(25)) {
      operations.push({
        table,
        kind: 'create',
        cells: cellsOf(model.columns.filter(({ required }) => required || chance(70))),
      });
      named.add(`new ${operations.length}`);
      continue;
    }
    const row = pick([...model.rows.values()]);
    const name = `${table} ${row.id}`;
    if (named.has(name) && named.add(`${name} ${named.size}`)) continue;
    named.add(name);
    const base = copyOfRow(row);
    if (row.deleted) operations.push({ table, kind: 'restore', id: row.id, base, cells: {} });
    else if (chance(25)) operations.push({ table, kind: 'delete', id: row.id, base, cells: {} });
    else {
      const [key, ...others] = model.columns as [ModelColumn, ...ModelColumn[]];
      const cells = cellsOf([...(chance(10) ? [key] : []), ...others.filter(() => chance(35))]);
      if (Object.keys(cells).length > 0) operations.push({ table, kind: 'update', id: row.id, base, cells });
    }
  }
  return operations;
}

/** Others write after the request was made: what the API takes is done in the model too. */
async function writeAtRandom({ models }: World): Promise<void> {
  for (let n = random(8); n > 0; n -= 1) {
    const [table, model] = pick([...models]);
    const row = pick([...model.rows.values()]);
    const column = pick(model.columns.filter(({ name }) => name !== 'code'));
    if (row.deleted) await note(row, restore(net.call, table, [row.id]), () => (row.deleted = false));
    else if (chance(20)) await note(row, remove(net.call, table, [row.id]), () => (row.deleted = true));
    else {
      const cell = randomCell(column, true);
      const isSame = row.cells[column.name] === cell;
      await note(
        row,
        patch(net.call, table, row.id, { [column.name]: cell }),
        () => (row.cells[column.name] = cell),
        isSame,
      );
    }
  }
}

async function note(
  row: ModelRow,
  write: Promise<{ status: number }>,
  change: () => unknown,
  isSame = false,
): Promise<void> {
  const { status } = await write;
  expect([200, 422]).toContain(status);
  if (status !== 200 || isSame) return;
  change();
  row.version += 1;
}

/** Writers beside the application: of a column that the request doesn't name, in rows that stay. */
function writeBeside({ models }: World, operations: ModelOperation[]): Promise<unknown> {
  const busy = new Set(operations.filter(({ kind }) => kind !== 'update').map(({ table, id }) => `${table} ${id}`));
  const noted = new Set(operations.filter(({ cells }) => 'note' in cells).map(({ table, id }) => `${table} ${id}`));
  const writes: Promise<unknown>[] = [];
  for (let n = random(4); n > 0; n -= 1) {
    const [table, model] = pick([...models]);
    const row = pick([...model.rows.values()]);
    const name = `${table} ${row.id}`;
    if (row.deleted || busy.has(name) || noted.has(name)) continue;
    busy.add(name);
    const cell = `b${n}${random(100)}`;
    const write = patch(net.call, table, row.id, { note: cell }).then(({ status }) => {
      expect(status).toBe(200);
      row.cells.note = cell;
    });
    writes.push(write);
  }
  return Promise.all(writes);
}

type Stored = { svc_sk: number; svc_version: number; svc_is_deleted: boolean } & Record<string, Value | boolean>;

async function readRows(table: number, { columns }: ModelTable): Promise<Map<number, ModelRow>> {
  const rows = new Map<number, ModelRow>();
  for (let page = 1; ; page += 1) {
    const { body } = await net.call(
      'GET',
      `/api/v1/table_data?table_definition_id=${table}&include_deleted=true&sort=svc_sk&per_page=1000&page=${page}`,
    );
    for (const row of body.data as Stored[])
      rows.set(row.svc_sk, {
        id: row.svc_sk,
        version: row.svc_version,
        deleted: row.svc_is_deleted,
        cells: Object.fromEntries(columns.map(({ name }) => [name, row[name] as Value])),
      });
    if (page >= body.meta.total_pages) return rows;
  }
}

const liveCells = (rows: Iterable<ModelRow>) => [...rows].filter(({ deleted }) => !deleted).map(({ cells }) => cells);
const sorted = (rows: Record<string, Value>[]) =>
  rows.map((cells) => JSON.stringify(Object.entries(cells).sort())).sort();

/** Every table as it is; the model goes on from there. */
async function expectRows({ models }: World, expected: ReadonlyMap<number, Record<string, Value>[]>, about: object) {
  for (const [table, model] of models) {
    const rows = await readRows(table, model);
    expect({ ...about, table, rows: sorted(liveCells(rows.values())) }).toEqual({
      ...about,
      table,
      rows: sorted(expected.get(table) ?? []),
    });
    model.rows = rows;
  }
}

const present = ({ models }: World) =>
  new Map([...models].map(([table, model]) => [table, liveCells(model.rows.values())]));

/** Applies what is left without the operations with problems; answers how often it failed. */
async function playRequest(world: World): Promise<{ refused: number; operations: number }> {
  const operations = randomOperations(world);
  const id = nextRequest();
  const made = operations.map(
    ({ table, kind, id: row, cells }): TestOperation => ({
      table: world.inputs.get(table) as TableInput,
      kind,
      ...(row !== undefined && { id: row }),
      cells,
    }),
  );
  const ids = await givenRequest(net, id, made);
  const placeOf = new Map(ids.map((each, place) => [each, place]));
  await writeAtRandom(world);
  const decide = (places: number[], decision: string) =>
    net.query('update change_request_operation set decision = $2 where id = any($1::bigint[])', [
      places.map((place) => ids[place]),
      decision,
    ]);
  let accepted = operations.map((_, place) => place).filter(() => chance(85));
  await decide(
    operations.map((_, place) => place).filter((place) => !accepted.includes(place)),
    'rejected',
  );
  for (let refused = 0; ; refused += 1) {
    const about = { seed, request: id, refused };
    const subset = accepted.map((place) => operations[place] as ModelOperation);
    const model = applyModel(world.models, subset);
    const rehearsed = await rehearse(net, id);
    const described = {
      ...about,
      problems: rehearsed.problems.map(({ message, operation_id }: Problem) => [placeOf.get(operation_id), message]),
    };
    expect({ ...described, isRefused: rehearsed.problem_count > 0 }).toEqual({
      ...described,
      isRefused: model.isRefused,
    });
    for (const { code } of rehearsed.problems) seen.add(code);
    const flagged = new Set(rehearsed.problems.map(({ operation_id }: Problem) => placeOf.get(operation_id) as number));
    const own = [...model.own].map((place) => accepted[place]);
    expect({ ...described, missing: own.filter((place) => !flagged.has(place as number)) }).toEqual({
      ...described,
      missing: [],
    });
    await expectRows(world, present(world), about);
    const [applied] = await Promise.all([
      apply(net, id, { applyId: `property-${id}-${refused}` }),
      model.isRefused ? undefined : writeBeside(world, subset),
    ]);
    expect({ ...described, status: applied.status }).toEqual({
      ...described,
      status: model.isRefused ? 'refused' : 'applied',
    });
    if (!model.isRefused) {
      expect(applied.tables).toEqual(rehearsed.tables);
      await expectRows(world, applyModel(world.models, subset).rows, about);
      return { refused, operations: operations.length };
    }
    expect(applied.problem_count).toBe(rehearsed.problem_count);
    await expectRows(world, present(world), about);
    await decide([...flagged] as number[], 'rejected');
    accepted = accepted.filter((place) => !flagged.has(place));
  }
}

type Problem = { operation_id: number; message: string };

/** The codes of all problems. */
const seen = new Set<string>();
const ofRules = [
  'blank',
  'cycle',
  'invalid_reference',
  'not_found',
  'not_in_list',
  'still_referenced',
  'taken',
  'version_conflict',
  'wrong_format',
  'wrong_state',
];

it(
  'any accepted subset is applied whole or refused whole, as it was rehearsed and as the model says',
  async () => {
    console.log(`CHANGE_REQUEST_SEED=${seed}`);
    let [done, refusals] = [0, 0];
    while (done < wanted) {
      const world = await givenWorld();
      for (let n = 0; n < requestsPerWorld && done < wanted; n += 1) {
        const { refused, operations } = await playRequest(world);
        done += operations;
        refusals += refused;
      }
      for (const table of world.models.keys()) expect(await gaps(net, table)).toEqual([]);
    }
    expect(refusals).toBeGreaterThan(0);
    if (wanted >= 10_000) expect([...seen].sort()).toEqual(ofRules);
    console.log(`${done} operations, ${refusals} refusals, problems: ${[...seen].sort().join(', ')}`);
  },
  wanted * 200 + 120_000,
);
