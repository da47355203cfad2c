// Merging rows three ways, by hand: what each side has made of a row since both had the same, and what comes of it.

import { eventually } from '@almanac/testkit/eventually';
import { sweep } from '../src/housekeeping.ts';
import { create, type DataNet, deploy, failureOf, givenData, type TableInput } from './given.ts';
import {
  codeColumn,
  copyOf,
  type Edits,
  edit,
  givenCopy,
  merge,
  nextId,
  type Resolution,
  recordsOf,
  rowsOf,
  withLineages,
} from './row-merges.ts';
import { gaps, passed, rowsAsOf, versionsOf } from './versions.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const base: Edits = { A: { name: 'Alpha', size: 1 }, B: { name: 'Beta', size: 2 }, C: { name: 'Gamma', size: 3 } };

type Case = {
  source?: Edits;
  target?: Edits;
  /** What differs from the base afterwards. */
  becomes: Edits;
  conflicts?: { key: string; column: string | null; sides: unknown[] }[];
  resolutions?: Resolution[];
};

const bothChanged = { source: { A: { size: 10 } }, target: { A: { size: 20 } } } satisfies Partial<Case>;
const sizeConflict = { key: 'A', column: 'size', sides: [1, 10, 20] };
const deletedThere = { source: { A: { size: 10 } }, target: { A: null } } satisfies Partial<Case>;
const deletedHere = { source: { A: null }, target: { A: { size: 20 } } } satisfies Partial<Case>;
const createdTwice = {
  source: { D: { name: 'Delta', size: 4 } },
  target: { D: { name: 'Dee', size: 4 } },
} satisfies Partial<Case>;

describe('a merge', () => {
  it.each<[string, Case]>([
    ['of nothing changes nothing', { becomes: {} }],
    ['takes over a changed cell', { source: { A: { size: 10 } }, becomes: { A: { name: 'Alpha', size: 10 } } }],
    [
      'takes over a value that was taken away',
      { source: { A: { size: null } }, becomes: { A: { name: 'Alpha', size: null } } },
    ],
    ['takes over a new row', { source: { D: { name: 'Delta', size: 4 } }, becomes: { D: { name: 'Delta', size: 4 } } }],
    ['takes over a deletion', { source: { A: null }, becomes: { A: null } }],
    ['keeps what the target has changed', { target: { A: { size: 20 } }, becomes: { A: { name: 'Alpha', size: 20 } } }],
    [
      'keeps what the target has created',
      { target: { D: { name: 'Dee', size: 5 } }, becomes: { D: { name: 'Dee', size: 5 } } },
    ],
    ['keeps what the target has deleted', { target: { B: null }, becomes: { B: null } }],
    [
      'merges different cells of one row',
      { source: { A: { size: 10 } }, target: { A: { name: 'Aleph' } }, becomes: { A: { name: 'Aleph', size: 10 } } },
    ],
    [
      'finds no conflict where both did the same',
      {
        source: { A: { size: 10 }, B: null, D: { name: 'Delta', size: 4 } },
        target: { A: { size: 10 }, B: null, D: { name: 'Delta', size: 4 } },
        becomes: { A: { name: 'Alpha', size: 10 }, B: null, D: { name: 'Delta', size: 4 } },
      },
    ],
    ['asks about a cell that both have changed', { ...bothChanged, becomes: {}, conflicts: [sizeConflict] }],
    [
      'takes the source’s cell when told so',
      {
        ...bothChanged,
        resolutions: [{ row_key: { code: 'A' }, column: 'size', resolution: 'source' }],
        becomes: { A: { name: 'Alpha', size: 10 } },
      },
    ],
    [
      'keeps the target’s cell when told so',
      {
        ...bothChanged,
        resolutions: [{ row_key: { code: 'A' }, column: 'size', resolution: 'target' }],
        becomes: { A: { name: 'Alpha', size: 20 } },
      },
    ],
    [
      'is told for all rows of a column at once, and otherwise for one of them',
      {
        source: { A: { size: 10 }, B: { size: 11 } },
        target: { A: { size: 20 }, B: { size: 21 } },
        resolutions: [
          { column: 'size', resolution: 'source' },
          { row_key: { code: 'B' }, column: 'size', resolution: 'target' },
        ],
        becomes: { A: { name: 'Alpha', size: 10 }, B: { name: 'Beta', size: 21 } },
      },
    ],
    [
      'is told for all columns at once',
      {
        source: { A: { size: 10, name: 's' } },
        target: { A: { size: 20, name: 't' } },
        resolutions: [{ resolution: 'source' }],
        becomes: { A: { name: 's', size: 10 } },
      },
    ],
    [
      'asks about a row that the target has deleted and the source changed',
      { ...deletedThere, becomes: {}, conflicts: [{ key: 'A', column: null, sides: [true, true, false] }] },
    ],
    [
      'brings such a row back when told so',
      {
        ...deletedThere,
        resolutions: [{ row_key: { code: 'A' }, is_row: true, resolution: 'source' }],
        becomes: { A: { name: 'Alpha', size: 10 } },
      },
    ],
    [
      'leaves such a row deleted when told so',
      { ...deletedThere, resolutions: [{ is_row: true, resolution: 'target' }], becomes: { A: null } },
    ],
    [
      'asks about a row that the source has deleted and the target changed',
      { ...deletedHere, becomes: {}, conflicts: [{ key: 'A', column: null, sides: [true, false, true] }] },
    ],
    [
      'deletes such a row when told so',
      {
        ...deletedHere,
        resolutions: [{ row_key: { code: 'A' }, is_row: true, resolution: 'source' }],
        becomes: { A: null },
      },
    ],
    [
      'keeps such a row when told so',
      {
        ...deletedHere,
        resolutions: [{ row_key: { code: 'A' }, is_row: true, resolution: 'target' }],
        becomes: { A: { name: 'Alpha', size: 20 } },
      },
    ],
    [
      'asks about the cells of a row that both have created differently',
      { ...createdTwice, becomes: {}, conflicts: [{ key: 'D', column: 'name', sides: [null, 'Delta', 'Dee'] }] },
    ],
    [
      'takes a row that was given another key as one that went and one that came',
      {
        source: { A: null, Z: { name: 'Alpha', size: 1 } },
        target: { A: { size: 20 } },
        becomes: {},
        conflicts: [{ key: 'A', column: null, sides: [true, false, true] }],
      },
    ],
  ])('%s', async (_, { source = {}, target = {}, becomes, conflicts = [], resolutions = [] }) => {
    const { main, copy } = await givenCopy(net, base);
    await edit(net, copy.id, source);
    await edit(net, main.id, target);
    const before = [await recordsOf(net, copy.id), await recordsOf(net, main.id)];
    const pairs: [number, number][] = [[copy.id, main.id]];
    const rehearsed = await merge(net, pairs, { resolutions, rehearsal: true });
    expect(rehearsed).toMatchObject({ status: 'rehearsed', violations: [], undecided_count: conflicts.length });
    expect([await recordsOf(net, copy.id), await recordsOf(net, main.id)]).toEqual(before);
    const merged = await merge(net, pairs, { resolutions });
    if (conflicts.length > 0) {
      expect(merged).toMatchObject({ status: 'refused', conflicts, conflict_count: conflicts.length, tables: [] });
      expect(await recordsOf(net, main.id)).toEqual(before[1]);
      return;
    }
    expect(merged).toMatchObject({ status: 'merged', tables: rehearsed.tables, undecided_count: 0, strange: [] });
    const expected = Object.entries({ ...base, ...becomes }).filter(([, row]) => row !== null);
    expect(await rowsOf(net, main.id)).toEqual(Object.fromEntries(expected));
    expect(await recordsOf(net, copy.id)).toEqual(before[0]);
    expect(await gaps(net, main.id)).toEqual([]);
    // What was decided is none the next time.
    expect(await merge(net, pairs)).toMatchObject({
      status: 'merged',
      tables: [{ created: 0, updated: 0, deleted: 0 }],
    });
    expect(await rowsOf(net, main.id)).toEqual(Object.fromEntries(expected));
  });

  it('notes who did it, through which channel and at which request, and announces it', async () => {
    const { main, copy } = await givenCopy(net, base);
    await edit(net, copy.id, { A: { size: 10 }, B: null, D: { name: 'Delta' } });
    const [{ until }] = (await net.query('select until from announced_rows where table_definition_id = $1', [
      main.id,
    ])) as [{ until: Date }];
    const [before] = await recordsOf(net, main.id);
    const result = await net.metadata.MergeRows(
      { accountId: 1, userId: 7, requestId: 'the-request' },
      {
        merge_id: `noted-${main.id}`,
        pairs: [{ source_table_id: copy.id, target_table_id: main.id }],
        resolutions: [],
        rehearsal: false,
      },
    );
    expect(result.tables).toEqual([
      {
        source_table_id: copy.id,
        target_table_id: main.id,
        table: `table_${main.id}`,
        created: 1,
        updated: 1,
        deleted: 1,
      },
    ]);
    const origin = { channel: 'promotion', user_id: 7, request_id: 'the-request' };
    const [a] = await versionsOf(net.call, main.id, before?.svc_sk as number);
    expect(a).toMatchObject({ ...origin, action: 'updated', changed_columns: ['size'] });
    const d = (await recordsOf(net, main.id)).find(({ code }) => code === 'D');
    expect(await versionsOf(net.call, main.id, d?.svc_sk as number)).toMatchObject([{ ...origin, action: 'created' }]);
    await eventually(async () => {
      const [row] = await net.query('select until from announced_rows where table_definition_id = $1', [main.id]);
      expect(row?.until).not.toEqual(until);
    });
  });

  it('is done once under an id, whatever becomes of the rows afterwards', async () => {
    const { main, copy } = await givenCopy(net, base);
    await edit(net, copy.id, { A: { size: 10 } });
    const id = `once-${main.id}`;
    const [first, second] = await Promise.all([
      merge(net, [[copy.id, main.id]], { id }),
      merge(net, [[copy.id, main.id]], { id }),
    ]);
    expect(first).toMatchObject({ status: 'merged', tables: [{ updated: 1 }] });
    expect(second).toEqual(first);
    await edit(net, main.id, { A: { size: 5 } });
    expect(await merge(net, [[copy.id, main.id]], { id })).toEqual(first);
    expect((await rowsOf(net, main.id)).A).toMatchObject({ size: 5 });
  });

  it('goes the other way, and back again, without asking about what came from there', async () => {
    const { main, copy } = await givenCopy(net, base);
    await edit(net, copy.id, { A: { size: 10 } });
    await edit(net, main.id, { B: { size: 20 } });
    await merge(net, [[copy.id, main.id]]);
    await edit(net, copy.id, { A: { size: 11 } });
    expect(await merge(net, [[main.id, copy.id]])).toMatchObject({ status: 'merged', conflict_count: 0 });
    expect(await rowsOf(net, copy.id)).toMatchObject({ A: { size: 11 }, B: { size: 20 } });
    expect(await merge(net, [[copy.id, main.id]])).toMatchObject({ status: 'merged', conflict_count: 0 });
    expect(await rowsOf(net, main.id)).toEqual(await rowsOf(net, copy.id));
  });

  it('counts all conflicts and shows the first thousand', async () => {
    const rows = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`k${i}`, { name: 'n', size: i }]));
    const { main, copy } = await givenCopy(net, rows);
    const all = (cells: Edits[string]) => Object.fromEntries(Object.keys(rows).map((code) => [code, cells]));
    await edit(net, copy.id, all({ name: 's', size: -1 }));
    await edit(net, main.id, all({ name: 't', size: -2 }));
    const refused = await merge(net, [[copy.id, main.id]]);
    expect(refused).toMatchObject({ status: 'refused', conflict_count: 1200, undecided_count: 1200 });
    expect(refused.conflicts).toHaveLength(1000);
    const half = await merge(net, [[copy.id, main.id]], { resolutions: [{ column: 'name', resolution: 'source' }] });
    expect(half).toMatchObject({ status: 'refused', conflict_count: 1200, undecided_count: 600 });
    const first = half.conflicts.slice(0, 600);
    expect(new Set(first.map(({ column }) => column))).toEqual(new Set(['size']));
  });

  it('shows as many conflicts as an answer holds, however long their keys and values are', async () => {
    const long = (text: string) => text.padEnd(800, '€');
    const codes = Array.from({ length: 1000 }, (_, i) => long(`k${i}-`));
    const write = async (table: number, name: string) => {
      for (let from = 0; from < codes.length; from += 100)
        await edit(net, table, Object.fromEntries(codes.slice(from, from + 100).map((code) => [code, { name }])));
    };
    const main: TableInput = { id: nextId(), columns: [{ ...codeColumn, length: 800 }, { name: 'name' }] };
    await deploy(net, [main]);
    await write(main.id, long('b'));
    const copy = copyOf(main);
    await deploy(net, [copy]);
    await write(copy.id, long('s'));
    await write(main.id, long('t'));
    const refused = await merge(net, [[copy.id, main.id]]);
    expect(refused).toMatchObject({ status: 'refused', conflict_count: 1000 });
    expect(refused.conflicts.length).toBeGreaterThan(100);
    expect(refused.conflicts.length).toBeLessThan(1000);
    expect(refused.conflicts[0]?.sides[1]).toBe(`${long('s').slice(0, 200)}…`);
  });

  it('is refused when a resolution is about no conflict, which it names by place', async () => {
    const { main, copy } = await givenCopy(net, base);
    await edit(net, copy.id, { A: { size: 10 } });
    const resolutions: Resolution[] = [
      { row_key: { code: 'A' }, column: 'size', resolution: 'source' },
      { row_key: { code: 'A' }, column: 'nothing', resolution: 'source' },
      { row_key: { code: 'X' }, is_row: true, resolution: 'source' },
      { row_key: { code: 'A', name: 'B' }, column: 'size', resolution: 'source' },
      { table: 'unknown', column: 'size', resolution: 'source' },
      { column: 'size', resolution: 'source' },
    ];
    expect(await merge(net, [[copy.id, main.id]], { resolutions })).toMatchObject({
      status: 'refused',
      strange: [0, 1, 2, 3, 4],
    });
    const other = { resolutions: [{ resolution: 'both' as 'source' }] };
    expect(await failureOf(merge(net, [[copy.id, main.id]], other))).toMatchObject({ kind: 'bad_request' });
  });
});

describe('rules', () => {
  const told = async (pairs: [number, number][], rehearsal = false) => {
    const { status, violations } = await merge(net, pairs, { rehearsal });
    return { status, violations: violations.map(({ message, rows }) => [message, rows]) };
  };

  it('of the target are all told, with the rows that would break them, and nothing is merged', async () => {
    const columns = [
      codeColumn,
      { name: 'name', length: 20 },
      { name: 'size', data_type: 'integer' },
      { name: 'kind' },
    ];
    const { main, copy } = await givenCopy(net, base, columns);
    const stricter = withLineages(main);
    Object.assign(stricter[1] as object, { length: 5 });
    Object.assign(stricter[2] as object, { is_required: true });
    Object.assign(stricter[3] as object, { valid_values: ['x', 'y'] });
    await edit(net, main.id, { C: { size: 3, kind: 'x' } });
    await deploy(net, [{ ...main, version: 2, columns: stricter }]);
    await edit(net, copy.id, {
      A: { name: 'far too long' },
      B: { size: null, kind: 'z' },
      D: { name: 'D', size: null, kind: 'y' },
    });
    const before = await recordsOf(net, main.id);
    for (const rehearsal of [true, false])
      expect(await told([[copy.id, main.id]], rehearsal)).toEqual({
        status: 'refused',
        violations: [
          ['name has values that don’t fit the column on the target branch', 1],
          ["size can't be blank", 2],
          ['kind must be one of x, y', 1],
        ],
      });
    expect(await recordsOf(net, main.id)).toEqual(before);
    await edit(net, copy.id, { A: { name: 'short' }, B: { size: 5, kind: null }, D: { size: 6 } });
    expect(await told([[copy.id, main.id]])).toEqual({ status: 'merged', violations: [] });
  });

  it('give values the type of the target', async () => {
    const { main, copy } = await givenCopy(net, base);
    const columns = withLineages(main);
    Object.assign(columns[2] as object, { data_type: 'string', length: 4 });
    await deploy(net, [{ ...main, version: 2, columns }]);
    await edit(net, copy.id, { A: { size: 10 }, D: { size: 44 } });
    await edit(net, main.id, { B: { size: 'two' } });
    expect(await merge(net, [[copy.id, main.id]])).toMatchObject({ status: 'merged', conflict_count: 0 });
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { size: '10' }, B: { size: 'two' }, D: { size: '44' } });
    await edit(net, main.id, { A: { size: 'ten' } });
    expect(await told([[main.id, copy.id]])).toMatchObject({
      status: 'refused',
      violations: [[expect.stringContaining('size has'), 2]],
    });
  });

  it('need the same primary key on both sides', async () => {
    const { main, copy } = await givenCopy(net, base);
    const columns = withLineages(main);
    Object.assign(columns[1] as object, { is_primary_key: true });
    await deploy(net, [{ ...main, version: 2, columns }]);
    expect(await told([[copy.id, main.id]])).toMatchObject({
      status: 'refused',
      violations: [[expect.stringContaining('primary key is not deployed alike'), 0]],
    });
    const keyless = await givenCopy(net, {}, [{ name: 'code', length: 10 }]);
    expect(await told([[keyless.copy.id, keyless.main.id]])).toMatchObject({
      status: 'refused',
      violations: [[expect.stringContaining('no primary key'), 0]],
    });
    expect(await told([[keyless.copy.id, main.id]])).toMatchObject({
      violations: [['The table on the source branch is another one.', 0]],
    });
  });
});

describe('references', () => {
  /** Parents P, Q with a child that refers to P, on both branches. */
  async function givenFamily() {
    const parents: TableInput = { id: nextId(), columns: [codeColumn, { name: 'name', length: 20 }] };
    const children: TableInput = {
      id: nextId(),
      columns: [codeColumn, { name: 'parent', length: 10, foreign_key_table_id: parents.id }],
    };
    await deploy(net, [parents, children]);
    await edit(net, parents.id, { P: { name: 'p' }, Q: { name: 'q' } });
    await edit(net, children.id, { c: { parent: 'P' } });
    const columns = withLineages(children);
    Object.assign(columns[1] as object, { foreign_key_table_id: parents.id + 1 });
    await deploy(net, [copyOf(children, { columns }), copyOf(parents)], { branchId: 2 });
    return { parents: parents.id, children: children.id };
  }
  const both = ({ parents, children }: { parents: number; children: number }): [number, number][] => [
    [children + 1, children],
    [parents + 1, parents],
  ];

  it('come along with what they refer to, and go in the right order', async () => {
    const family = await givenFamily();
    const { parents, children } = family;
    expect(await rowsOf(net, children + 1)).toEqual({ c: { parent: 'P' } });
    await edit(net, parents + 1, { N: { name: 'new' } });
    await edit(net, children + 1, { c: { parent: 'Q' }, d: { parent: 'N' } });
    await edit(net, parents + 1, { P: null });
    expect(await merge(net, both(family))).toMatchObject({ status: 'merged' });
    expect(await rowsOf(net, parents)).toEqual({ N: { name: 'new' }, Q: { name: 'q' } });
    expect(await rowsOf(net, children)).toEqual({ c: { parent: 'Q' }, d: { parent: 'N' } });
  });

  it('to rows that are not there are told with their number', async () => {
    const { parents, children } = await givenFamily();
    await edit(net, parents + 1, { N: { name: 'new' } });
    await edit(net, children + 1, { d: { parent: 'N' }, e: { parent: 'N' } });
    const { status, violations } = await merge(net, [[children + 1, children]]);
    expect([status, violations]).toMatchObject([
      'refused',
      [{ table: `Table ${children}`, message: `parent must refer to a record of Table ${parents}`, rows: 2 }],
    ]);
  });

  it('to rows that would go are told, whether their table is merged too or not', async () => {
    const family = await givenFamily();
    const { parents, children } = family;
    await edit(net, parents, { N: { name: 'new' } });
    await edit(net, children + 1, { c: null });
    await edit(net, parents + 1, { P: null });
    await edit(net, children, { mine: { parent: 'P' } });
    const message = `parent refers to records of Table ${parents} that would be deleted`;
    expect(await merge(net, [[parents + 1, parents]])).toMatchObject({
      status: 'refused',
      violations: [{ message, rows: 2 }],
    });
    expect(await merge(net, both(family))).toMatchObject({ status: 'refused', violations: [{ message, rows: 1 }] });
    await edit(net, children, { mine: null });
    expect(await merge(net, both(family))).toMatchObject({ status: 'merged' });
  });

  it('of a row that is deleted there and changed here count as gone', async () => {
    const { parents, children } = await givenFamily();
    await edit(net, children, { c: { parent: 'Q' } });
    await edit(net, parents, { P: null });
    await edit(net, children + 1, { x: { parent: 'P' } });
    const { violations } = await merge(net, [[children + 1, children]], { rehearsal: true });
    expect(violations).toMatchObject([{ rows: 1 }]);
  });
});

describe('structures that differ', () => {
  it('merge the columns that both have; the others travel when both have them', async () => {
    const { main, copy } = await givenCopy(net, base);
    const capital = { name: 'capital', lineage_id: main.id * 1000 + 9 };
    const grown = { ...copy, version: 2, columns: [...copy.columns, capital] };
    await deploy(net, [grown]);
    await edit(net, copy.id, { A: { capital: 'a', size: 10 }, B: { capital: 'b' } });
    const first = await merge(net, [[copy.id, main.id]]);
    expect(first).toMatchObject({ status: 'merged', warnings: [{ rows: 0 }] });
    expect(first.warnings[0]?.message).toMatch(/^capital is not deployed on the target branch/);
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { name: 'Alpha', size: 10 }, B: { name: 'Beta', size: 2 } });
    await deploy(net, [{ ...main, version: 2, columns: [...withLineages(main), capital] }]);
    await edit(net, main.id, { B: { capital: 'mine' } });
    const second = await merge(net, [[copy.id, main.id]]);
    expect(second).toMatchObject({
      status: 'refused',
      conflicts: [{ key: 'B', column: 'capital', sides: [null, 'b', 'mine'] }],
    });
    const resolutions: Resolution[] = [{ row_key: { code: 'B' }, column: 'capital', resolution: 'target' }];
    expect(await merge(net, [[copy.id, main.id]], { resolutions })).toMatchObject({ status: 'merged', warnings: [] });
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { capital: 'a' }, B: { capital: 'mine' } });
  });

  it('ask before a row goes in which the target has something of its own', async () => {
    const { main, copy } = await givenCopy(net, base);
    await deploy(net, [
      { ...main, version: 2, columns: [...withLineages(main), { name: 'own', lineage_id: main.id * 1000 + 9 }] },
    ]);
    await edit(net, main.id, { A: { own: 'precious' } });
    await edit(net, copy.id, { A: null, B: null });
    expect(await merge(net, [[copy.id, main.id]])).toMatchObject({
      status: 'refused',
      conflicts: [{ key: 'A', column: null, sides: [true, false, true] }],
    });
  });

  it('that are not in service on both sides have no rows to merge, which is said', async () => {
    const { main, copy } = await givenCopy(net, base);
    await net.metadata.DropTable({ accountId: 1 }, { table_definition_id: copy.id });
    const { status, tables, warnings } = await merge(net, [[copy.id, main.id]]);
    expect([status, tables, warnings.length]).toEqual(['merged', [], 1]);
  });

  it('never had the same rows: all that differs is asked, and nothing is deleted', async () => {
    const main: TableInput = { id: nextId(), columns: [codeColumn, { name: 'name', length: 20 }] };
    await deploy(net, [main]);
    await edit(net, main.id, { A: { name: 'main' }, B: { name: 'b' } });
    const copy = copyOf(main, { rows_from_table_id: undefined });
    await deploy(net, [copy]);
    await edit(net, copy.id, { A: { name: 'copy' }, C: { name: 'c' } });
    const asked = await merge(net, [[copy.id, main.id]]);
    expect(asked).toMatchObject({ status: 'refused', conflicts: [{ key: 'A', sides: [null, 'copy', 'main'] }] });
    await merge(net, [[copy.id, main.id]], { resolutions: [{ resolution: 'source' }] });
    expect(await rowsOf(net, main.id)).toEqual({ A: { name: 'copy' }, B: { name: 'b' }, C: { name: 'c' } });
  });
});

it('reads the past as it was before and after a merge', async () => {
  const { main, copy } = await givenCopy(net, base);
  await edit(net, copy.id, { A: { size: 10 }, B: null });
  const [before] = await recordsOf(net, main.id);
  const at = before?.svc_updated_at as unknown as string;
  await passed(net, at);
  await merge(net, [[copy.id, main.id]]);
  const then = await rowsAsOf(net.call, main.id, at);
  expect(
    then.map((row: { code: string; size: number; svc_is_deleted: boolean }) => [
      row.code,
      row.size,
      row.svc_is_deleted,
    ]),
  ).toEqual([
    ['A', 1, false],
    ['B', 2, false],
    ['C', 3, false],
  ]);
});

it('says so when the history no longer reaches the base, and then deletes nothing', async () => {
  const { main, copy } = await givenCopy(net, base);
  await edit(net, copy.id, { A: null, B: { size: 20 } });
  await net.query(
    `update b_2.h_${main.id} set svc_valid_to = now() - interval '10 days', svc_updated_at = now() - interval '20 days'`,
  );
  await sweep(net.context.pools, net.context.logger, 5);
  await net.query(`update deployed_table set history_since = now() where table_definition_id in ($1, $2)`, [
    main.id,
    copy.id,
  ]);
  const told = await merge(net, [[copy.id, main.id]], { rehearsal: true });
  expect(told.warnings).toMatchObject([{ message: expect.stringContaining('The history no longer goes back') }]);
  expect(told.conflicts).toMatchObject([{ key: 'B', column: 'size', sides: [null, 20, 2] }]);
  expect(told.tables).toMatchObject([{ deleted: 0 }]);
});

it('keeps accounts apart: another account’s tables are as unknown ones', async () => {
  const { main, copy } = await givenCopy(net, base);
  await edit(net, copy.id, { A: { size: 10 } });
  const result = await net.metadata.MergeRows(
    { accountId: 2 },
    {
      merge_id: 'foreign',
      pairs: [{ source_table_id: copy.id, target_table_id: main.id }],
      resolutions: [],
      rehearsal: false,
    },
  );
  expect(result).toMatchObject({ status: 'merged', tables: [], warnings: [] });
  expect((await rowsOf(net, main.id)).A).toMatchObject({ size: 1 });
});

describe('others who write meanwhile', () => {
  it('lose nothing: their rows are merged with, or wait', async () => {
    const rows = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, { name: 'n', size: i }]));
    const { main, copy } = await givenCopy(net, rows);
    await edit(net, copy.id, Object.fromEntries(Object.keys(rows).map((code) => [code, { size: -1 }])));
    const ids = await recordsOf(net, main.id);
    const writing = ids.map(({ svc_sk }, i) =>
      net.call('PATCH', `/api/v1/table_data/${svc_sk}`, { table_definition_id: main.id, record: { name: `w${i}` } }),
    );
    const [merged, ...written] = await Promise.all([merge(net, [[copy.id, main.id]]), ...writing]);
    expect(merged).toMatchObject({ status: 'merged' });
    expect(new Set(written.map(({ status }) => status))).toEqual(new Set([200]));
    const after = await rowsOf(net, main.id);
    for (const [i, { code }] of ids.entries()) expect(after[code]).toEqual({ name: `w${i}`, size: -1 });
    expect(await gaps(net, main.id)).toEqual([]);
  });

  it('on the source are in the merge or in the next one, never in none', async () => {
    const { main, copy } = await givenCopy(net, base);
    const writing = Array.from({ length: 40 }, (_, i) => create(net, copy.id, { code: `w${i}`, name: 'w' }));
    await Promise.all([merge(net, [[copy.id, main.id]]), merge(net, [[copy.id, main.id]]), ...writing]);
    expect(await merge(net, [[copy.id, main.id]])).toMatchObject({ status: 'merged', conflict_count: 0 });
    expect(await rowsOf(net, main.id)).toEqual(await rowsOf(net, copy.id));
  });
});
