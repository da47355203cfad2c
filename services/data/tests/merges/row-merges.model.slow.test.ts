// Random work on two branches, merged in both directions, compared with a naive merge in memory
// (`merge-model.ts`). MERGE_MODEL_ROUNDS: how many merges (30); MERGE_MODEL_SEED: repeats a run.

import { randomOf } from '@almanac/testkit/random';
import { type ColumnInput, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { gaps } from '../versions.ts';
import { type Base, copyOfRows, type ModelConflict, mergeModel, type Side, type Value } from './merge-model.ts';
import {
  copyOf,
  decide,
  type Edits,
  edit,
  givenCopy,
  type MergedRow,
  merge,
  mergedRows,
  type Resolution,
  type Row,
  rowsOf,
  summarize,
  withLineages,
} from './row-merges.ts';

const rounds = Number(process.env.MERGE_MODEL_ROUNDS ?? 30);
const seed = Number(process.env.MERGE_MODEL_SEED ?? Date.now() % 1_000_000);

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const random = randomOf(seed);
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
const codes = Array.from({ length: 14 }, (_, i) => `k${String(i).padStart(2, '0')}`);
const value = (column: string): Value =>
  random(4) === 0 ? null : column.startsWith('n') ? random(3) : `v${random(3)}`;

/** One of the two branches: the real table and the model of it. */
type Branch = Side & { table: TableInput };

async function givenBranches(): Promise<[Branch, Branch]> {
  const rows: Edits = Object.fromEntries(codes.slice(0, 8).map((code) => [code, { a: value('a'), n: value('n') }]));
  const columns: ColumnInput[] = [
    { name: 'code', length: 10, is_primary_key: true },
    { name: 'a', length: 10 },
    { name: 'n', data_type: 'integer' },
  ];
  const { main, copy } = await givenCopy(net, rows, columns);
  const model = new Map(Object.entries(rows)) as Side['rows'];
  const side = (table: TableInput): Branch => ({ table, columns: ['a', 'n'], rows: copyOfRows(model) });
  return [side({ ...main, columns: withLineages(main) }), side({ ...copyOf(main), id: copy.id })];
}

async function editAtRandom(branch: Branch): Promise<void> {
  const edits: Edits = {};
  for (let n = random(7); n > 0; n -= 1) {
    const code = pick(codes);
    const known = branch.rows.has(code);
    if (code in edits) continue;
    if (known && random(4) === 0) {
      edits[code] = null;
      branch.rows.delete(code);
    } else {
      const cells = Object.fromEntries(branch.columns.filter(() => random(2) === 0).map((name) => [name, value(name)]));
      if (known && Object.keys(cells).length === 0) continue;
      edits[code] = cells;
      branch.rows.set(code, { ...branch.rows.get(code), ...cells });
    }
  }
  await edit(net, branch.table.id, edits);
}

// Columns come to one branch first, with the lineage that they will have on the other.
async function growAtRandom(branch: Branch): Promise<void> {
  const name = pick(['x', 'y', 'nz']);
  if (branch.columns.includes(name) || random(6) > 0) return;
  const lineage_id = (branch.table.lineage_id ?? branch.table.id) * 1000 + 10 + ['x', 'y', 'nz'].indexOf(name);
  const column: ColumnInput = { name, lineage_id, ...(name === 'nz' ? { data_type: 'integer' } : { length: 10 }) };
  branch.table = {
    ...branch.table,
    version: (branch.table.version ?? 1) + 1,
    columns: [...branch.table.columns, column],
  };
  branch.columns.push(name);
  await deploy(net, [branch.table]);
}

const shown = ({ rows, columns }: Side): Edits =>
  Object.fromEntries(
    [...rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([code, cells]) => [code, Object.fromEntries(columns.map((name) => [name, cells[name] ?? null]))]),
  );

const resolutionFor = ({ key, column }: ModelConflict): Resolution => ({
  row_key: { code: key },
  ...(column === null ? { is_row: true } : { column }),
  resolution: pick(['source', 'target'] as const),
});

/** Gives the rows the target's row of the code again, or none. */
function keepRow(rows: Side['rows'], target: Side, code: string): void {
  const own = target.rows.get(code);
  if (own) rows.set(code, own);
  else rows.delete(code);
}

/** The target with the rows that the window listed, as the conflicts were resolved. */
function withListed(target: Side, listed: MergedRow[], resolutions: Resolution[]): Side {
  const rows = copyOfRows(target.rows);
  for (const { kind, key, source, changed_columns, conflict, ...sides } of listed) {
    const code = key.code as string;
    const now = rows.get(code);
    expect(sides.target).toEqual(now ? shown({ ...target, rows: new Map([[code, now]]) })[code] : null);
    expect(changed_columns.length > 0 || kind !== 'update').toBe(true);
    const isTaken = (column: string | null) =>
      resolutions.find(
        (each) => each.row_key?.code === code && (column === null ? each.is_row : each.column === column),
      )?.resolution !== 'target';
    if (conflict?.row && !isTaken(null)) continue;
    if (kind === 'delete') rows.delete(code);
    if (kind === 'create') rows.set(code, { ...source });
    for (const column of kind === 'update' ? changed_columns : [])
      if (!conflict?.columns.includes(column) || isTaken(column))
        rows.set(code, { ...rows.get(code), [column]: (source as Row)[column] as Value });
  }
  return { ...target, rows };
}

it(
  `equals a naive merge in ${rounds} rounds (seed ${seed})`,
  async () => {
    const branches = await givenBranches();
    const bases = new Map<Side, Base>(
      branches.map((of) => [of, { of, rows: copyOfRows(of.rows), columns: [...of.columns] }]),
    );
    let asked = 0;
    for (let round = 1; round <= rounds; round += 1) {
      for (const branch of branches) {
        await growAtRandom(branch);
        await editAtRandom(branch);
      }
      const [source, target] = random(2) === 0 ? branches : [branches[1], branches[0]];
      const base = bases.get(source) ?? bases.get(target);
      const pairs: [number, number][] = [[source.table.id, target.table.id]];
      const open = mergeModel(source, target, base, () => undefined);
      const rehearsed = await merge(net, pairs, { rehearsal: true });
      expect({ round, conflicts: rehearsed.conflicts }).toEqual({ round, conflicts: open.conflicts });
      expect(rehearsed.status).toBe('rehearsed');
      expect(await rowsOf(net, target.table.id)).toEqual(shown(target));
      asked += open.conflicts.length;
      const listed = await mergedRows(net, pairs);
      const rejected = listed.rows.map(({ key }) => key.code as string).filter(() => random(5) === 0);
      if (rejected.length > 0) await decide(net, round, pairs, rejected, 'rejected');
      const summaries = await summarize(net, pairs, round);
      const resolutions = open.conflicts.filter(({ key }) => !rejected.includes(key)).map(resolutionFor);
      const decided = mergeModel(
        source,
        target,
        base,
        (key, column) =>
          resolutions.find(
            (each) => each.row_key?.code === key && (column === null ? each.is_row : each.column === column),
          )?.resolution,
      );
      for (const code of rejected) keepRow(decided.rows, target, code);
      if (resolutions.length > 0)
        expect(await merge(net, pairs, { promotion: round })).toMatchObject({ status: 'refused', tables: [] });
      const merged = await merge(net, pairs, { resolutions, revisions: summaries, promotion: round });
      expect({ round, status: merged.status, unmatched: merged.unmatched_resolutions }).toEqual({
        round,
        status: 'merged',
        unmatched: [],
      });
      const wanted = listed.rows.filter(({ key }) => !rejected.includes(key.code as string));
      expect({ round, rows: shown(withListed(target, wanted, resolutions)) }).toEqual({
        round,
        rows: shown({ ...target, rows: decided.rows }),
      });
      target.rows = decided.rows;
      expect({ round, rows: await rowsOf(net, target.table.id) }).toEqual({ round, rows: shown(target) });
      expect(await rowsOf(net, source.table.id)).toEqual(shown(source));
      bases.clear();
      const shared = target.columns.filter((column) => source.columns.includes(column));
      bases.set(source, { of: source, rows: copyOfRows(source.rows), columns: shared });
    }
    expect(asked).toBeGreaterThan(0);
    for (const { table } of branches)
      expect(await gaps(net, table.lineage_id ?? table.id, table.branch_id)).toEqual([]);
  },
  rounds * 5_000 + 120_000,
);
