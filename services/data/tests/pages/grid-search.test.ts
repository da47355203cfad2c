// What the grid takes beyond AG Grid's model: labels, `or`, `q` and `columns`.
import { limits } from '@almanac/service-kit/limits';
import { eventually } from '@almanac/testkit/eventually';
import fc from 'fast-check';
import { create, type DataNet, deploy, givenData } from '../given.ts';
import {
  anySelection,
  anySort,
  deployTitles,
  type Given,
  givenRows,
  type Row,
  selected,
} from '../summaries/given-rows.ts';
import { patch } from '../versions.ts';

let net: DataNet;
let rows: Given[];
const seed = Number(process.env.GRID_SEED ?? Date.now());

beforeAll(async () => {
  net = await givenData();
  rows = await givenRows(net, 150);
});

afterAll(() => net.stop());

const ask = (body: Row, call = net.call) =>
  call('POST', '/api/v1/table_data/grid', { table_definition_id: 1, startRow: 0, endRow: 1000, ...body });
const grid = async (body: Row, call = net.call) => {
  const answer = await ask(body, call);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};
const idsOf = (found: Row[]) => found.map(({ svc_sk }) => svc_sk);

const model = fc.record({
  selection: anySelection,
  sortModel: fc.uniqueArray(anySort, { maxLength: 3, selector: ({ colId }) => colId }),
  startRow: fc.constantFrom(0, 0, 7),
  count: fc.constantFrom(1, 20, 200),
});

describe('the grid', () => {
  it(`finds and sorts by labels, words and alternatives what a plain model does (GRID_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(model, async ({ selection, sortModel, startRow, count }) => {
        const expected = selected(rows, selection, sortModel).map(({ shown }) => shown);
        const page = await grid({ ...selection, sortModel, startRow, endRow: startRow + count });
        expect(page.rowCount).toBe(expected.length);
        expect(idsOf(page.rows)).toEqual(idsOf(expected.slice(startRow, startRow + count)));
      }),
      { numRuns: 400, seed, interruptAfterTimeLimit: 60_000 },
    );
  });

  it('answers only the columns that are named, and those of the system', async () => {
    const all = await grid({ endRow: 5, include_lookups: true });
    const system = Object.keys(all.rows[0]).filter((name) => name.startsWith('svc_') && name !== 'svc_lookups');
    const some = await grid({ endRow: 5, columns: ['name', 'svc_version'] });
    expect(some.rows).toEqual(
      all.rows.map((row: Row) => Object.fromEntries([...system, 'name'].map((name) => [name, row[name]]))),
    );
    expect(some.rowCount).toBe(all.rowCount);
    expect(Object.keys((await grid({ endRow: 1, columns: [] })).rows[0])).toEqual(system);
    const looked = await grid({ endRow: 5, columns: ['owner'], include_lookups: true });
    expect(looked.rows.map(({ svc_lookups }: Row) => svc_lookups)).toEqual(
      all.rows.map(({ svc_lookups }: Row) => ({ owner: svc_lookups.owner })),
    );
  });

  it('answers a page from the cache in the columns of its own request', async () => {
    const { cache } = net.context.pages;
    const page = (columns: string[]) => grid({ endRow: 3, columns });
    const first = await page(['name']);
    await eventually(async () => {
      const hits = cache.hits;
      expect(await page(['name'])).toEqual(first);
      expect(cache.hits).toBe(hits + 1);
    });
    expect(Object.keys((await page(['note'])).rows[0])).toContain('note');
  });

  it('finds rows without a label by a set with null, and the others by one without', async () => {
    const count = async (values: (string | null)[]) =>
      (await grid({ filterModel: { 'owner.$label': { filterType: 'set', values } } })).rowCount;
    const blank = rows.filter(({ shown }) => !shown['owner.$label']).length;
    const names = [...new Set(rows.map(({ shown }) => shown['owner.$label']))].filter((name) => name);
    expect([await count([null]), await count(names), await count([null, ...names])]).toEqual([blank, 150 - blank, 150]);
  });

  it('takes the labels of the same instant as the rows', async () => {
    await deployTitles(net);
    const target = await create(net, 5, { code: 'A', title: 'old' });
    await create(net, 5, { code: 'B', title: 'middle' });
    await create(net, 6, { ref: 'B' });
    const { svc_updated_at: as_of } = await create(net, 6, { ref: 'A' });
    await patch(net.call, 5, target.svc_sk, { title: 'young' });
    const sortModel = [{ colId: 'ref.$label', sort: 'desc' }];
    const refs = async (more: Row) =>
      (await grid({ table_definition_id: 6, sortModel, ...more })).rows.map(({ ref }: Row) => ref);
    const named = (filter: string, type = 'equals') => ({
      filterModel: { 'ref.$label': { filterType: 'text', type, filter } },
    });
    expect([await refs({}), await refs({ as_of })]).toEqual([
      ['A', 'B'],
      ['A', 'B'],
    ]);
    expect([await refs({ ...named('old'), as_of }), await refs(named('old'))]).toEqual([['A'], []]);
    expect([await refs({ ...named('old', 'notEqual'), as_of }), await refs(named('young', 'notEqual'))]).toEqual([
      ['B'],
      ['B'],
    ]);
    expect([await refs({ q: 'OLD', as_of }), await refs({ q: 'OLD' }), await refs({ q: 'you' })]).toEqual([
      ['A'],
      [],
      ['A'],
    ]);
  });

  it('takes the label of a composite reference and of a numeric display column', async () => {
    await deploy(net, [
      {
        id: 7,
        lookup_display_column_id: 7002,
        columns: [
          { name: 'a', length: 2, is_primary_key: true },
          { name: 'b', data_type: 'integer', is_primary_key: true },
          { name: 'amount', data_type: 'decimal', length: 8, scale: 2 },
        ],
      },
      {
        id: 8,
        columns: [
          { name: 'id', data_type: 'integer', is_primary_key: true },
          { name: 'ra', length: 2, foreign_key_table_id: 7 },
          { name: 'rb', data_type: 'integer', foreign_key_table_id: 7 },
        ],
      },
    ]);
    await create(net, 7, { a: 'x', b: 1, amount: '2.50' });
    await create(net, 7, { a: 'x', b: 2, amount: '10.00' });
    for (const [id, rb] of [1, 2, 2].entries()) await create(net, 8, { id, ra: 'x', rb });
    await create(net, 8, { id: 9 });
    const ids = async (more: Row) => (await grid({ table_definition_id: 8, ...more })).rows.map(({ id }: Row) => id);
    const above = { 'rb.$label': { filterType: 'number', type: 'greaterThan', filter: 3 } };
    expect(await ids({ filterModel: above })).toEqual([1, 2]);
    expect(await ids({ sortModel: [{ colId: 'ra.$label', sort: 'desc' }] })).toEqual([1, 2, 0, 9]);
    expect(await ids({ sortModel: [{ colId: 'ra.$label', sort: 'asc', type: 'absolute' }] })).toEqual([9, 0, 1, 2]);
    expect(await ids({ q: '2.5' })).toEqual([0]);
  });

  it('has no labels of a table that the caller may not view', async () => {
    net.rights.set(7, {
      license_type: 'end_user',
      permissions: [{ action: 'view', resource_type: 'domain', resource_id: 1 }],
    });
    const outsider = net.as({ userId: 7 });
    const find = async (type: string, filter?: string) => {
      const filterModel = { 'owner.$label': { filterType: 'text', type, filter } };
      return (await grid({ filterModel }, outsider)).rowCount;
    };
    expect([await find('blank'), await find('notBlank'), await find('contains', 'a')]).toEqual([150, 0, 0]);
    const sortModel = [{ colId: 'owner.$label', sort: 'desc' }];
    expect(idsOf((await grid({ sortModel }, outsider)).rows)).toEqual(idsOf(rows.map(({ shown }) => shown)));
    // Words are found in the labels of this table alone.
    const mine = selected(
      rows.map((row) => ({ ...row, typed: { ...row.typed, 'owner.$label': null } })),
      { q: 'beta' },
    );
    expect((await grid({ q: 'beta' }, outsider)).rowCount).toBe(mine.length);
    expect((await grid({ q: 'beta' })).rowCount).toBeGreaterThan(mine.length);
  });

  it('finds no word in a table without texts', async () => {
    await deploy(net, [{ id: 4, columns: [{ name: 'n', data_type: 'integer' }] }]);
    await create(net, 4, { n: 1 });
    expect([
      await grid({ table_definition_id: 4, q: '1' }),
      (await grid({ table_definition_id: 4, q: ' ' })).rowCount,
    ]).toEqual([{ rows: [], rowCount: 0 }, 1]);
  });

  it('takes ten words and no more', async () => {
    const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(' ');
    expect((await ask({ q: words(limits.searchWords) })).status).toBe(200);
    expect((await ask({ q: words(limits.searchWords + 1) })).body.problems).toEqual([
      { code: 'too_many', field: 'q', message: 'q may have at most 10 words.', params: { maximum: 10 } },
    ]);
  });

  const equals = (filter: unknown) => ({ name: { filterType: 'text', type: 'equals', filter } });
  const bad: Row[] = [
    { q: 5 },
    { q: 'x'.repeat(256) },
    { q: 'a\u0000' },
    { or: {} },
    { or: [] },
    { or: 'x' },
    { or: [null] },
    { or: ['x'] },
    { or: [[]] },
    { or: [{ nope: equals('x').name }] },
    { or: [equals('x'), equals(5)] },
    { or: Array.from({ length: 101 }, () => ({})) },
    {
      or: Array.from({ length: 60 }, () => equals('x')),
      filterModel: {
        name: { filterType: 'text', operator: 'OR', conditions: Array.from({ length: 41 }, () => equals('x').name) },
      },
    },
    { columns: 'name' },
    { columns: ['nope'] },
    { columns: ['owner.$label'] },
    { columns: ['constructor'] },
    { columns: [5] },
    { columns: Array.from({ length: 201 }, () => 'name') },
    { sortModel: [{ colId: 'name.$label', sort: 'asc' }] },
    { sortModel: [{ colId: '.$label', sort: 'asc' }] },
    { sortModel: [{ colId: 'owner.$label', sort: 'asc', type: 'absolute' }] },
    { filterModel: { 'owner.$label': { filterType: 'date', type: 'equals', dateFrom: '2024-01-01' } } },
  ];
  it.each(bad.map((body) => [body]))('answers 400 with problems to %j', async (body) => {
    const { status, body: answer } = await ask(body);
    expect([status, answer.error]).toEqual([400, 'Bad request']);
    expect(answer.problems[0].code).toEqual(expect.any(String));
  });

  it('names the item of or in its problems', async () => {
    const { body } = await ask({ or: [{}, { name: { filterType: 'text', type: 'nope', filter: 'x' } }] });
    expect(body.problems).toEqual([expect.objectContaining({ code: 'not_in_list', field: 'or.1', column: 'name' })]);
  });
});
