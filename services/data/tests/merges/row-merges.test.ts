// Three-way merges of rows, by example: the changes of each side since both had the same rows, and
// the outcome.

import { eventually } from '@almanac/testkit/eventually';
import { sweep } from '../../src/maintenance/housekeeping.ts';
import { create, type DataNet, deploy, failureOf, givenData, type TableInput } from '../given.ts';
import { gaps, passed, rowsAsOf, versionsOf } from '../versions.ts';
import {
  base,
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
} from './row-merges.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

type Case = {
  source?: Edits;
  target?: Edits;
  /** The rows that differ from the base afterwards. */
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
      'takes over a value that became empty',
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
      'finds no conflict where both made the same change',
      {
        source: { A: { size: 10 }, B: null, D: { name: 'Delta', size: 4 } },
        target: { A: { size: 10 }, B: null, D: { name: 'Delta', size: 4 } },
        becomes: { A: { name: 'Alpha', size: 10 }, B: null, D: { name: 'Delta', size: 4 } },
      },
    ],
    ['asks about a cell that both have changed', { ...bothChanged, becomes: {}, conflicts: [sizeConflict] }],
    [
      'takes the source’s cell when decided so',
      {
        ...bothChanged,
        resolutions: [{ row_key: { code: 'A' }, column: 'size', resolution: 'source' }],
        becomes: { A: { name: 'Alpha', size: 10 } },
      },
    ],
    [
      'keeps the target’s cell when decided so',
      {
        ...bothChanged,
        resolutions: [{ row_key: { code: 'A' }, column: 'size', resolution: 'target' }],
        becomes: { A: { name: 'Alpha', size: 20 } },
      },
    ],
    [
      'is decided for all rows of a column at once, and otherwise for one of them',
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
      'is decided for all columns at once',
      {
        source: { A: { size: 10, name: 's' } },
        target: { A: { size: 20, name: 't' } },
        resolutions: [{ resolution: 'source' }],
        becomes: { A: { name: 's', size: 10 } },
      },
    ],
    [
      'finds a conflict where the target deleted a row and the source changed it',
      { ...deletedThere, becomes: {}, conflicts: [{ key: 'A', column: null, sides: [true, true, false] }] },
    ],
    [
      'restores such a row when decided so',
      {
        ...deletedThere,
        resolutions: [{ row_key: { code: 'A' }, is_row: true, resolution: 'source' }],
        becomes: { A: { name: 'Alpha', size: 10 } },
      },
    ],
    [
      'leaves such a row deleted when decided so',
      { ...deletedThere, resolutions: [{ is_row: true, resolution: 'target' }], becomes: { A: null } },
    ],
    [
      'finds a conflict where the source deleted a row and the target changed it',
      { ...deletedHere, becomes: {}, conflicts: [{ key: 'A', column: null, sides: [true, false, true] }] },
    ],
    [
      'deletes such a row when decided so',
      {
        ...deletedHere,
        resolutions: [{ row_key: { code: 'A' }, is_row: true, resolution: 'source' }],
        becomes: { A: null },
      },
    ],
    [
      'keeps such a row when decided so',
      {
        ...deletedHere,
        resolutions: [{ row_key: { code: 'A' }, is_row: true, resolution: 'target' }],
        becomes: { A: { name: 'Alpha', size: 20 } },
      },
    ],
    [
      'finds conflicts in the cells of a row that both created differently',
      { ...createdTwice, becomes: {}, conflicts: [{ key: 'D', column: 'name', sides: [null, 'Delta', 'Dee'] }] },
    ],
    [
      'takes a row with a changed key as one deleted and one created',
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
    expect(merged).toMatchObject({
      status: 'merged',
      tables: rehearsed.tables,
      undecided_count: 0,
      unmatched_resolutions: [],
    });
    const expected = Object.entries({ ...base, ...becomes }).filter(([, row]) => row !== null);
    expect(await rowsOf(net, main.id)).toEqual(Object.fromEntries(expected));
    expect(await recordsOf(net, copy.id)).toEqual(before[0]);
    expect(await gaps(net, main.id)).toEqual([]);
    // A decided conflict is none the next time.
    expect(await merge(net, pairs)).toMatchObject({
      status: 'merged',
      tables: [{ created: 0, updated: 0, deleted: 0 }],
    });
    expect(await rowsOf(net, main.id)).toEqual(Object.fromEntries(expected));
  });

  it('records the person, the channel and the request, and announces the change', async () => {
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

  it('is done once under an id, however the rows change afterwards', async () => {
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

  it('runs in the other direction and back, without conflicts in merged rows', async () => {
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

  it('is refused when a resolution matches no conflict, with its place', async () => {
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
      unmatched_resolutions: [0, 1, 2, 3, 4],
    });
    const other = { resolutions: [{ resolution: 'both' as 'source' }] };
    expect(await failureOf(merge(net, [[copy.id, main.id]], other))).toMatchObject({ kind: 'bad_request' });
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

it('warns when the history no longer reaches the base, and then deletes nothing', async () => {
  const { main, copy } = await givenCopy(net, base);
  await edit(net, copy.id, { A: null, B: { size: 20 } });
  await net.query(
    `update b_2.h_${main.id} set svc_valid_to = now() - interval '10 days', svc_updated_at = now() - interval '20 days'`,
  );
  await sweep(net.context, 5);
  await net.query(`update deployed_table set history_since = now() where table_definition_id in ($1, $2)`, [
    main.id,
    copy.id,
  ]);
  const rehearsed = await merge(net, [[copy.id, main.id]], { rehearsal: true });
  expect(rehearsed.warnings).toMatchObject([{ message: expect.stringContaining('The history no longer goes back') }]);
  expect(rehearsed.conflicts).toMatchObject([{ key: 'B', column: 'size', sides: [null, 20, 2] }]);
  expect(rehearsed.tables).toMatchObject([{ deleted: 0 }]);
});

it('keeps accounts apart: another account’s tables are unknown', async () => {
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

describe('writers beside a merge', () => {
  it('lose nothing: their rows are merged, or wait', async () => {
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

  it('write to the source before the merge or before the next one, never in between', async () => {
    const { main, copy } = await givenCopy(net, base);
    const writing = Array.from({ length: 40 }, (_, i) => create(net, copy.id, { code: `w${i}`, name: 'w' }));
    await Promise.all([merge(net, [[copy.id, main.id]]), merge(net, [[copy.id, main.id]]), ...writing]);
    expect(await merge(net, [[copy.id, main.id]])).toMatchObject({ status: 'merged', conflict_count: 0 });
    expect(await rowsOf(net, main.id)).toEqual(await rowsOf(net, copy.id));
  });
});
