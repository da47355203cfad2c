// Decisions on the rows of a promotion: which rows they are about, and what a merge makes of them.
import { type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import {
  base,
  codeColumn,
  copyOf,
  decide,
  decisionsOf,
  type Edits,
  edit,
  givenCopy,
  merge,
  mergedRows,
  nextId,
  rowsOf,
  summarize,
  withLineages,
} from './row-merges.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});
afterAll(() => net.stop());

type Pairs = [source: number, target: number][];
let promotions = 0;

/** A promotion of a copy whose rows are edited, also those of its origin. */
async function givenPromotion(edits: Edits, theirs: Edits = {}) {
  const { main, copy } = await givenCopy(net, base);
  await edit(net, copy.id, edits);
  await edit(net, main.id, theirs);
  promotions += 1;
  return { main, copy, pairs: [[copy.id, main.id]] as Pairs, promotion: promotions };
}

const work: Edits = { A: { size: 10 }, B: null, D: { name: 'Delta', size: 4 } };

const decided = async (pairs: Pairs, promotion_id: number, window = {}) =>
  (await mergedRows(net, pairs, { promotion_id, ...window })).rows.map(({ key, decision }) => [key.code, decision]);

describe('a rejected row', () => {
  it.each([
    ['changed', 'A', { A: { name: 'Alpha', size: 1 }, C: base.C, D: { name: 'Delta', size: 4 } }],
    ['deleted', 'B', { A: { name: 'Alpha', size: 10 }, B: base.B, C: base.C, D: { name: 'Delta', size: 4 } }],
    ['new', 'D', { A: { name: 'Alpha', size: 10 }, C: base.C }],
  ])('that is %s stays as the target has it, and all others are merged', async (_, code, expected) => {
    const { main, pairs, promotion } = await givenPromotion(work);
    expect(await decide(net, promotion, pairs, [code], 'rejected', 'Not published')).toBe(1);
    const rehearsed = await merge(net, pairs, { rehearsal: true, promotion });
    const merged = await merge(net, pairs, { promotion });
    expect(merged).toMatchObject({ status: 'merged', tables: rehearsed.tables });
    expect(await rowsOf(net, main.id)).toEqual(expected);
  });

  it('is not proposed again until it changes on its branch', async () => {
    const { main, copy, pairs, promotion } = await givenPromotion(work);
    await decide(net, promotion, pairs, ['A', 'D'], 'rejected');
    await merge(net, pairs, { promotion });
    expect((await mergedRows(net, pairs)).rowCount).toBe(0);
    await edit(net, copy.id, { A: { size: 11 } });
    // As after a conflict that was decided for the target: both values are shown.
    const sides = { key: { code: 'A' }, source: { name: 'Alpha', size: 11 }, target: { name: 'Alpha', size: 1 } };
    expect((await mergedRows(net, pairs)).rows).toMatchObject([{ ...sides, conflict: { columns: ['size'] } }]);
    await merge(net, pairs, { resolutions: [{ column: 'size', resolution: 'source' }] });
    expect((await rowsOf(net, main.id)).A).toEqual({ name: 'Alpha', size: 11 });
  });

  it('has no conflict that is open', async () => {
    const { main, pairs, promotion } = await givenPromotion({ A: { size: 10 }, C: { size: 30 } }, { A: { size: 11 } });
    expect((await merge(net, pairs, { promotion })).status).toBe('refused');
    await decide(net, promotion, pairs, { conflict: true }, 'rejected');
    expect(await merge(net, pairs, { rehearsal: true, promotion })).toMatchObject({ conflicts: [], conflict_count: 0 });
    expect((await mergedRows(net, pairs, { promotion_id: promotion, conflict: true })).rowCount).toBe(1);
    expect((await merge(net, pairs, { promotion })).status).toBe('merged');
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { size: 11 }, C: { size: 30 } });
  });

  it('counts for its promotion alone', async () => {
    const { main, pairs, promotion } = await givenPromotion(work);
    await decide(net, promotion, pairs, {}, 'rejected');
    await merge(net, pairs, { promotion: promotion + 1_000 });
    expect(Object.keys(await rowsOf(net, main.id))).toEqual(['A', 'C', 'D']);
  });

  it('that others refer to makes them a violation', async () => {
    const parent: TableInput = { id: nextId(), columns: [codeColumn] };
    const child: TableInput = {
      id: nextId(),
      columns: [codeColumn, { name: 'parent', length: 10, foreign_key_table_id: parent.id }],
    };
    const tables = await givenReferring(parent, child);
    promotions += 1;
    await edit(net, tables.parent.id, { P: {} });
    await edit(net, tables.child.id, { C: { parent: 'P' } });
    const pairs: Pairs = [
      [tables.parent.id, parent.id],
      [tables.child.id, child.id],
    ];
    await decide(net, promotions, pairs, ['P'], 'rejected');
    const refused = await merge(net, pairs, { promotion: promotions });
    expect(refused).toMatchObject({ status: 'refused', violations: [{ rows: 1 }] });
    await decide(net, promotions, pairs, { source_table_id: tables.child.id }, 'rejected');
    expect((await merge(net, pairs, { promotion: promotions })).status).toBe('merged');
  });
});

describe('decisions', () => {
  it('are shown with their rows, counted, and can be asked for', async () => {
    const { copy, pairs, promotion } = await givenPromotion(work);
    await decide(net, promotion, pairs, ['A'], 'rejected', 'Too large');
    await decide(net, promotion, pairs, { kind: 'create' }, 'accepted');
    const { rows, counts } = await mergedRows(net, pairs, { promotion_id: promotion });
    const decided_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
    expect(rows).toMatchObject([
      { key: { code: 'A' }, decision: 'rejected', comment: 'Too large', decided_by: 7, decided_at },
      { key: { code: 'B' }, decision: 'undecided', comment: null, decided_by: null, decided_at: null },
      { key: { code: 'D' }, decision: 'accepted', comment: null, decided_by: 7, decided_at },
    ]);
    expect(counts.decisions).toEqual({ undecided: 1, accepted: 1, rejected: 1 });
    expect(await decided(pairs, promotion, { decision: 'undecided' })).toEqual([['B', 'undecided']]);
    await merge(net, pairs, { promotion });
    const shown = { table_definition_id: copy.id, key: { code: 'A' }, decided_by: 7, decided_at };
    expect(await decisionsOf(net, promotion, [copy.id], 'rejected')).toEqual({
      rows: [{ ...shown, decision: 'rejected', comment: 'Too large' }],
      rowCount: 1,
    });
    expect((await decisionsOf(net, promotion, [copy.id])).rowCount).toBe(2);
    expect((await decisionsOf(net, promotion, [])).rowCount).toBe(0);
  });

  it('replace one another, and can be taken back', async () => {
    const { pairs, promotion } = await givenPromotion(work);
    expect(await decide(net, promotion, pairs, {}, 'accepted')).toBe(3);
    expect(await decide(net, promotion, pairs, { decision: 'accepted', kind: 'delete' }, 'rejected')).toBe(1);
    expect(await decide(net, promotion, pairs, ['A', 'A'], 'undecided')).toBe(1);
    expect(await decided(pairs, promotion)).toEqual([
      ['A', 'undecided'],
      ['B', 'rejected'],
      ['D', 'accepted'],
    ]);
  });

  it('of many at a time leave one each', async () => {
    const { pairs, promotion } = await givenPromotion(work);
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => decide(net, promotion, pairs, {}, i % 2 === 0 ? 'accepted' : 'rejected')),
    );
    const { rowCount, counts } = await mergedRows(net, pairs, { promotion_id: promotion });
    expect([rowCount, counts.decisions.undecided]).toEqual([3, 0]);
  });

  it('on rows that the promotion does not change are 404, and none of the list is carried out', async () => {
    const { pairs, promotion } = await givenPromotion(work);
    await expect(decide(net, promotion, pairs, ['A', 'C'], 'rejected')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(decide(net, promotion, pairs, ['nothing'], 'rejected')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(decide(net, promotion, pairs, { kind: 'other' }, 'rejected')).rejects.toMatchObject({
      kind: 'bad_request',
    });
    expect((await mergedRows(net, pairs, { promotion_id: promotion })).counts.decisions.undecided).toBe(3);
  });

  it('that exceed an answer are refused, before they are gathered', async () => {
    const rows = Array.from({ length: 600 }, (_, i): [string, object] => [`row ${i}`, { size: i }]);
    const { copy, pairs, promotion } = await givenPromotion(Object.fromEntries(rows) as Edits);
    // In JSON each of these characters is six.
    await decide(net, promotion, pairs, {}, 'rejected', '\u0001'.repeat(10_000));
    const tooLarge = { kind: 'bad_request', problems: [{ code: 'too_large' }] };
    await expect(decisionsOf(net, promotion, [copy.id])).rejects.toMatchObject(tooLarge);
    await expect(mergedRows(net, pairs, { promotion_id: promotion })).rejects.toMatchObject(tooLarge);
    expect((await mergedRows(net, pairs, { promotion_id: promotion, end_row: 100 })).rows).toHaveLength(100);
  });

  it('change the revision as far as rows are rejected', async () => {
    const { pairs, promotion } = await givenPromotion(work);
    const [seen] = await summarize(net, pairs, promotion);
    await decide(net, promotion, pairs, ['A'], 'accepted');
    expect(await summarize(net, pairs, promotion)).toEqual([seen]);
    await decide(net, promotion, pairs, ['A'], 'rejected');
    expect((await summarize(net, pairs, promotion))[0]?.revision).not.toBe(seen?.revision);
    const refused = await merge(net, pairs, { promotion, revisions: seen ? [seen] : [] });
    expect(refused).toMatchObject({ status: 'refused', changed_tables: [pairs[0]?.[0]] });
    expect((await merge(net, pairs, { promotion, revisions: await summarize(net, pairs, promotion) })).status).toBe(
      'merged',
    );
  });

  it('find rows by keys of several columns and types', async () => {
    const columns = [
      codeColumn,
      { name: 'at', data_type: 'date', is_primary_key: true },
      { name: 'rate', data_type: 'decimal', length: 10, scale: 2, is_primary_key: true },
      { name: 'size', data_type: 'integer' },
    ];
    const { main, copy } = await givenCopy(net, {}, columns);
    const record = { code: 'A"\\,{}', at: '2026-02-28', rate: '1.50', size: 1 };
    await net.call('POST', '/api/v1/table_data', { table_definition_id: copy.id, record });
    promotions += 1;
    const pairs: Pairs = [[copy.id, main.id]];
    const [row] = (await mergedRows(net, pairs, { exact_numbers: true })).rows;
    const key = Object.fromEntries(Object.entries(row?.key ?? {}).map(([name, value]) => [name, String(value)]));
    const rows = [{ source_table_id: copy.id, key }];
    const request = { promotion_id: promotions, pairs: [{ source_table_id: copy.id, target_table_id: main.id }] };
    await net.metadata.DecideMergedRows({ accountId: 1 }, { ...request, decisions: [{ rows, decision: 'rejected' }] });
    expect((await decisionsOf(net, promotions, [copy.id])).rows).toMatchObject([{ key: row?.key }]);
    expect((await merge(net, pairs, { promotion: promotions })).tables).toMatchObject([{ created: 0 }]);
  });
});

async function givenReferring(parent: TableInput, child: TableInput) {
  await deploy(net, [parent, child]);
  const columns = withLineages(child);
  Object.assign(columns[1] as object, { foreign_key_table_id: parent.id + 1 });
  const copies = { parent: copyOf(parent), child: copyOf(child, { columns }) };
  await deploy(net, [copies.child, copies.parent], { branchId: 2 });
  return copies;
}
