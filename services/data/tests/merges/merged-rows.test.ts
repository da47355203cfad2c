// The rows that a merge would change, before it does: windows of them, counts, and the revision
// that a merge can insist on.
import { type DataNet, deploy, givenData } from '../given.ts';
import {
  base,
  codeColumn,
  copyOf,
  edit,
  givenCopy,
  merge,
  mergedRows,
  nextId,
  recordsOf,
  rowsOf,
  summarize,
  withLineages,
} from './row-merges.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});
afterAll(() => net.stop());

const undecided = { undecided: 0, accepted: 0, rejected: 0 };

const idOf = async (table: number, code: string) =>
  (await recordsOf(net, table)).find((record) => record.code === code)?.svc_sk;

describe('the rows of a merge', () => {
  it('have the values of the base and of both branches', async () => {
    const { main, copy } = await givenCopy(net, base);
    await edit(net, copy.id, { A: { size: 10 }, B: null, D: { name: 'Delta' } });
    await edit(net, main.id, { A: { name: 'Aleph' }, C: { size: 30 } });
    const tables = {
      ...{ table_definition_id: copy.id, target_table_definition_id: main.id },
      ...{ decision: 'undecided', comment: null, decided_by: null, decided_at: null },
    };
    const [a, b, d] = await Promise.all([idOf(main.id, 'A'), idOf(main.id, 'B'), idOf(copy.id, 'D')]);
    expect(await mergedRows(net, [[copy.id, main.id]])).toEqual({
      rows: [
        {
          ...{ id: a, ...tables, kind: 'update', key: { code: 'A' }, changed_columns: ['size'], conflict: null },
          base: { name: 'Alpha', size: 1 },
          source: { name: 'Alpha', size: 10 },
          target: { name: 'Aleph', size: 1 },
        },
        {
          ...{ id: b, ...tables, kind: 'delete', key: { code: 'B' }, changed_columns: [], conflict: null },
          base: { name: 'Beta', size: 2 },
          source: null,
          target: { name: 'Beta', size: 2 },
        },
        {
          ...{ id: d, ...tables, kind: 'create', key: { code: 'D' }, changed_columns: ['name'], conflict: null },
          base: null,
          source: { name: 'Delta', size: null },
          target: null,
        },
      ],
      rowCount: 3,
      counts: {
        kinds: { create: 1, update: 1, delete: 1 },
        with_conflict: 0,
        decisions: { ...undecided, undecided: 3 },
      },
    });
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { size: 1 }, B: {} });
  });

  it('name the columns and rows in conflict, also where nothing else would change', async () => {
    const { main, copy } = await givenCopy(net, base);
    await edit(net, copy.id, { A: { name: 'Un', size: 10 }, B: null, C: { size: 30 } });
    await edit(net, main.id, { A: { name: 'Eins' }, B: { size: 20 }, C: null });
    const pairs: [number, number][] = [[copy.id, main.id]];
    const { rows, counts } = await mergedRows(net, pairs);
    expect(rows.map(({ key, kind, changed_columns, conflict }) => [key.code, kind, changed_columns, conflict])).toEqual(
      [
        ['A', 'update', ['name', 'size'], { row: false, columns: ['name'] }],
        ['B', 'delete', [], { row: true, columns: [] }],
        ['C', 'create', ['name', 'size'], { row: true, columns: [] }],
      ],
    );
    expect(counts).toEqual({
      kinds: { create: 1, update: 1, delete: 1 },
      with_conflict: 3,
      decisions: { ...undecided, undecided: 3 },
    });
    await edit(net, copy.id, { D: { name: 'Delta' } });
    const codes = async (window: object) => (await mergedRows(net, pairs, window)).rows.map(({ key }) => key.code);
    expect(await codes({ conflict: true })).toEqual(['A', 'B', 'C']);
    expect(await codes({ conflict: false })).toEqual(['D']);
    expect(await codes({ kind: 'create' })).toEqual(['C', 'D']);
    expect(await codes({ kind: 'create', conflict: true })).toEqual(['C']);
  });

  it('come by windows over all tables, with exact counts', async () => {
    const [one, two] = [await givenCopy(net, base), await givenCopy(net, base)];
    for (const { copy } of [one, two])
      await edit(net, copy.id, { A: { size: 5 }, B: { size: 5 }, C: { size: 5 }, D: { size: 5 } });
    const pairs = [two, one].map(({ main, copy }): [number, number] => [copy.id, main.id]);
    const all = (await mergedRows(net, pairs)).rows;
    expect(all.map(({ table_definition_id: id, key }) => `${id} ${key.code}`)).toEqual(
      [two, one].flatMap(({ copy }) => ['A', 'B', 'C', 'D'].map((code) => `${copy.id} ${code}`)),
    );
    for (let start = 0; start <= 8; start += 1)
      for (const size of [0, 1, 3, 8]) {
        const { rows, rowCount, counts } = await mergedRows(net, pairs, { start_row: start, end_row: start + size });
        expect(rows).toEqual(all.slice(start, start + size));
        expect([rowCount, counts]).toEqual([
          8,
          { kinds: { create: 2, update: 6, delete: 0 }, with_conflict: 0, decisions: { ...undecided, undecided: 8 } },
        ]);
      }
    expect((await mergedRows(net, pairs, { kind: 'create', start_row: 1, end_row: 2 })).rowCount).toBe(2);
    for (const window of [{ start_row: -1 }, { start_row: 2, end_row: 1 }, { end_row: 1001 }, { kind: 'created' }])
      await expect(mergedRows(net, pairs, window)).rejects.toMatchObject({ kind: 'bad_request' });
  });

  it('have exact values of every type', async () => {
    const columns = [
      codeColumn,
      { name: 'amount', data_type: 'decimal', length: 30, scale: 10 },
      { name: 'day', data_type: 'date' },
      { name: 'note', length: 200 },
    ];
    const { main, copy } = await givenCopy(net, { A: { amount: '1.5', day: '2026-01-31', note: null } }, columns);
    const note = '"\\ \u2028 𝕏 é';
    await edit(net, copy.id, { A: { amount: '12345678901234567890.0123456789', note } });
    const [row] = (await mergedRows(net, [[copy.id, main.id]], { exact_numbers: true })).rows;
    expect(row).toMatchObject({
      base: { day: '2026-01-31', note: null },
      source: { amount: '12345678901234567890.0123456789', day: '2026-01-31', note },
    });
  });

  it('of columns that only one branch has are not compared', async () => {
    const { main, copy } = await givenCopy(net, base);
    const more = { name: 'more', lineage_id: main.id * 1000 + 9, length: 10 };
    await deploy(net, [{ ...main, version: 2, columns: [...withLineages(main), more] }]);
    await deploy(net, [{ ...copyOf(main), version: 2, columns: [...withLineages(main), { name: 'own', length: 10 }] }]);
    await edit(net, main.id, { A: { more: 'x' } });
    await edit(net, copy.id, { A: { size: 9, own: 'y' }, B: { own: 'z' } });
    const { rows } = await mergedRows(net, [[copy.id, main.id]]);
    expect(rows).toMatchObject([{ key: { code: 'A' }, changed_columns: ['size'], source: { name: 'Alpha', size: 9 } }]);
    expect(rows[0]?.target).toEqual({ name: 'Alpha', size: 1, more: 'x' });
  });

  it('are none where tables can’t be merged or are not deployed', async () => {
    const { main, copy } = await givenCopy(net, base);
    const other: [number, number] = [nextId(), main.id];
    expect(await mergedRows(net, [other])).toEqual({
      rows: [],
      rowCount: 0,
      counts: { kinds: { create: 0, update: 0, delete: 0 }, with_conflict: 0, decisions: undecided },
    });
    expect(await summarize(net, [other])).toEqual([]);
    await expect(
      mergedRows(net, [
        [copy.id, main.id],
        [copy.id, other[0]],
      ]),
    ).rejects.toMatchObject({ kind: 'bad_request' });
  });
});

describe('the revision of the rows of a merge', () => {
  it('changes with what a branch has of these rows, and with nothing else', async () => {
    const { main, copy } = await givenCopy(net, base);
    const pairs: [number, number][] = [[copy.id, main.id]];
    await edit(net, copy.id, { A: { size: 10 } });
    const [first] = await summarize(net, pairs);
    expect(first).toMatchObject({ created: 0, updated: 1, deleted: 0, conflicts: 0 });
    const changes = async () => (await summarize(net, pairs))[0]?.revision !== first?.revision;
    expect(await changes()).toBe(false);
    await edit(net, main.id, { C: { size: 30 } });
    expect(await changes()).toBe(false);
    await edit(net, main.id, { A: { name: 'Aleph' } });
    expect(await changes()).toBe(true);
    await edit(net, main.id, { A: { name: 'Alpha' } });
    expect(await changes()).toBe(false);
    await edit(net, copy.id, { B: { size: 20 } });
    expect(await changes()).toBe(true);
    await edit(net, copy.id, { B: { size: 2 } });
    expect(await changes()).toBe(false);
    await edit(net, copy.id, { D: { size: 4 } });
    expect(await changes()).toBe(true);
  });

  it('is the one of the rehearsal, however conflicts are decided, and of the merge', async () => {
    const { main, copy } = await givenCopy(net, base);
    const pairs: [number, number][] = [[copy.id, main.id]];
    await edit(net, copy.id, { A: { size: 10 }, B: { size: 20 } });
    await edit(net, main.id, { A: { size: 100 } });
    const summaries = await summarize(net, pairs);
    expect(summaries).toMatchObject([{ updated: 2, conflicts: 1 }]);
    for (const resolution of ['source', 'target'] as const)
      expect(
        (await merge(net, pairs, { rehearsal: true, resolutions: [{ resolution }], revisions: summaries })).summaries,
      ).toEqual(summaries);
    await edit(net, copy.id, { C: { size: 30 } });
    const refused = await merge(net, pairs, { resolutions: [{ resolution: 'source' }], revisions: summaries });
    expect(refused).toMatchObject({ status: 'refused', changed_tables: [copy.id], violations: [], conflicts: [] });
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { size: 100 }, B: { size: 2 } });
    const now = await summarize(net, pairs);
    expect(await merge(net, pairs, { resolutions: [{ resolution: 'source' }], revisions: now })).toMatchObject({
      status: 'merged',
      changed_tables: [],
      tables: [{ updated: 3 }],
    });
    expect(await summarize(net, pairs)).toMatchObject([{ created: 0, updated: 0, deleted: 0, conflicts: 0 }]);
  });

  it('of no tables means that no rows were there: a merge of any is refused', async () => {
    const { main, copy } = await givenCopy(net, base);
    const pairs: [number, number][] = [[copy.id, main.id]];
    await edit(net, copy.id, { A: { size: 10 } });
    expect(await merge(net, pairs, { revisions: [] })).toMatchObject({ status: 'refused', changed_tables: [copy.id] });
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { size: 1 } });
    expect(await merge(net, pairs)).toMatchObject({ status: 'merged', changed_tables: [] });
  });

  it('leaves tables that can’t be merged to their violations', async () => {
    const { main, copy } = await givenCopy(net, base);
    await deploy(net, [
      {
        ...copyOf(main),
        version: 2,
        columns: withLineages(main).map((each) => ({ ...each, is_primary_key: each.name === 'name' })),
      },
    ]);
    const refused = await merge(net, [[copy.id, main.id]], { revisions: [] });
    expect(refused).toMatchObject({ status: 'refused', changed_tables: [], violations: [{}] });
  });
});
