import fc from 'fast-check';
import { create, type DataNet, deploy, givenData } from '../given.ts';
import { compare } from '../pages/grid-reference.ts';
import { patch, remove } from '../versions.ts';
import {
  anySelection,
  deployTitles,
  type Given,
  givenRows,
  has,
  kindsOfAll,
  type Row,
  type Selection,
  selected,
} from './given-rows.ts';

let net: DataNet;
let rows: Given[];
const seed = Number(process.env.VALUES_SEED ?? Date.now());

beforeAll(async () => {
  net = await givenData();
  rows = await givenRows(net, 150);
});

afterAll(() => net.stop());

const ask = (body: Row, call = net.call) =>
  call('POST', '/api/v1/table_data/values?exact_numbers=true', { table_definition_id: 1, ...body });
const values = async (body: Row, call = net.call) => {
  const answer = await ask(body, call);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

type Input = Selection & { column: string; search?: string; limit?: number };

// What the answer should be, by a plain reading of the rules.
function expected({ column, filterModel = {}, search = '', limit = 100, ...others }: Input) {
  const { [column]: _, ...rest } = filterModel;
  const label = ['owner', 'twin'].includes(column) ? `${column}.$label` : undefined;
  const found = selected(rows, { ...others, filterModel: rest }).filter(({ shown }) => {
    const texts = [shown[column], label && shown[label]].filter((text) => text !== null && text !== undefined);
    return search === '' || texts.some((text) => has(text, search));
  });
  const groups = Map.groupBy(found, ({ shown }) => (shown[column] === '' ? null : shown[column]));
  const all = [...groups].map(([value, same]) => ({
    value,
    ...(label && { label: same[0]?.shown[label] }),
    count: same.length,
    typed: value === null ? null : same[0]?.typed[column],
  }));
  const ordered = all.toSorted((a, b) => b.count - a.count || compare(a.typed, b.typed));
  return {
    values: ordered.slice(0, limit).map(({ typed: _typed, ...each }) => each),
    distinct: all.length,
    truncated: all.length > limit,
  };
}

// `amount` is left out of searches: its text has the places of the column, which the model's number
// lacks.
const texts = ['', 'a', 'AL', 'ä', '%', '_', '1', '20', 'true', '100%', '😀', 'zz'];
const input = fc
  .tuple(
    anySelection,
    fc.record({
      column: fc.constantFrom(...Object.keys(kindsOfAll)),
      search: fc.constantFrom(...texts),
      limit: fc.constantFrom(1, 3, 100),
    }),
  )
  .map(([selection, more]) => ({ ...selection, ...more }));
const comparable = input.filter(
  ({ column, search }) => search === '' || !['amount', 'ratio', 'share'].includes(column),
);

describe('the values of a column', () => {
  it(`are those of a plain model, for any column, filter and search (VALUES_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(comparable, async (each) => expect(await values(each)).toEqual(expected(each))),
      { numRuns: 400, seed, interruptAfterTimeLimit: 60_000 },
    );
  });

  it('are all offered though the column itself is filtered', async () => {
    const filterModel = { open: { filterType: 'set', values: ['true'] } };
    expect(await values({ column: 'open', filterModel })).toEqual(expected({ column: 'open' }));
    expect((await values({ column: 'open', filterModel })).distinct).toBe(3);
    const wrong = await ask({ column: 'open', filterModel: { open: { filterType: 'set', values: [1] } } });
    expect(wrong.status).toBe(400);
  });

  it('are exact numbers on request alone', async () => {
    const body = { table_definition_id: 1, column: 'big', limit: 10 };
    const plain = await net.call('POST', '/api/v1/table_data/values', body);
    expect(plain.body.values.map(({ value }: Row) => typeof value)).toContain('number');
    expect((await values({ column: 'big' })).values.map(({ value }: Row) => typeof value)).not.toContain('number');
  });

  it('are counted without deleted rows, unless they are requested, and as of an instant', async () => {
    await deploy(net, [{ id: 3, columns: [{ name: 'x', length: 5 }] }]);
    const row = await create(net, 3, { x: 'a' });
    const other = await create(net, 3, { x: 'b' });
    const changed = await patch(net.call, 3, other.svc_sk, { x: 'c' });
    await remove(net.call, 3, [row.svc_sk]);
    const listed = async (more: Row) =>
      (await values({ table_definition_id: 3, column: 'x', ...more })).values.map(({ value }: Row) => value);
    expect(await listed({})).toEqual(['c']);
    expect(await listed({ include_deleted: true })).toEqual(['a', 'c']);
    const before = new Date(Date.parse(changed.body.svc_updated_at) - 1).toISOString();
    expect(await listed({ as_of: before })).toEqual(['a', 'b']);
  });

  it('of an empty table are none', async () => {
    await deploy(net, [{ id: 4, columns: [{ name: 'x', length: 5 }] }]);
    expect(await values({ table_definition_id: 4, column: 'x' })).toEqual({
      values: [],
      distinct: 0,
      truncated: false,
    });
  });

  it('show and find the label of a record as of the same instant', async () => {
    await deployTitles(net);
    const target = await create(net, 5, { code: 'A', title: 'old' });
    const row = await create(net, 6, { ref: 'A' });
    await patch(net.call, 5, target.svc_sk, { title: 'new' });
    const named = (more: Row) => values({ table_definition_id: 6, column: 'ref', ...more });
    expect((await named({})).values).toEqual([{ value: 'A', label: 'new', count: 1 }]);
    const then = { as_of: row.svc_updated_at };
    expect((await named(then)).values).toEqual([{ value: 'A', label: 'old', count: 1 }]);
    expect((await named({ ...then, search: 'OLD' })).distinct).toBe(1);
    expect((await named({ ...then, search: 'new' })).distinct).toBe(0);
    const filterModel = { 'ref.$label': { filterType: 'text', type: 'equals', filter: 'old' } };
    expect((await named({ ...then, column: 'svc_sk', filterModel })).distinct).toBe(1);
    expect((await named({ column: 'svc_sk', filterModel })).distinct).toBe(0);
  });

  it('have no label that the caller may not view, nor are found by it', async () => {
    net.rights.set(7, {
      license_type: 'end_user',
      permissions: [{ action: 'view', resource_type: 'domain', resource_id: 1 }],
    });
    const outsider = net.as({ userId: 7 });
    const mine = await values({ column: 'owner' }, outsider);
    expect(mine.values.map(({ label }: Row) => label)).toEqual(mine.values.map(() => null));
    expect((await values({ column: 'owner', search: 'alpha' })).distinct).toBeGreaterThan(0);
    expect((await values({ column: 'owner', search: 'alpha' }, outsider)).distinct).toBe(0);
    expect(await values({ column: 'owner.$label' }, outsider)).toEqual({
      values: [{ value: null, count: 150 }],
      distinct: 1,
      truncated: false,
    });
    const filterModel = { 'owner.$label': { filterType: 'text', type: 'notBlank' } };
    expect((await values({ column: 'id', filterModel }, outsider)).distinct).toBe(0);
  });

  it('are refused without the right to view rows, and of a table of another account', async () => {
    net.rights.set(8, { license_type: 'end_user', permissions: [] });
    expect((await ask({ column: 'id' }, net.as({ userId: 8 }))).status).toBe(403);
    expect((await ask({ column: 'id' }, net.as({ accountId: 2 }))).status).toBe(404);
  });

  const bad: Row[] = [
    {},
    { column: 5 },
    { column: 'nope' },
    { column: 'constructor' },
    { column: 'c_1001' },
    { column: 'name.$label' },
    { column: 'owner.$label.$label' },
    { column: 'id; drop table x' },
    { column: 'x'.repeat(10_000) },
    { column: 'name', limit: 0 },
    { column: 'name', limit: 1001 },
    { column: 'name', limit: 1.5 },
    { column: 'name', limit: '5' },
    { column: 'name', search: 5 },
    { column: 'name', search: 'x'.repeat(256) },
    { column: 'name', search: 'a\u0000' },
    { column: 'name', filterModel: [] },
    { column: 'name', filterModel: { 'name.$label': { filterType: 'text', type: 'blank' } } },
    { column: 'name', filterModel: { 'owner.$label': { filterType: 'number', type: 'equals', filter: 1 } } },
    { column: 'name', as_of: '2999-01-01T00:00:00Z' },
    { column: 'name', unknown: 1 },
  ];
  it.each(bad.map((body) => [body]))('answers 400 with problems to %j', async (body) => {
    const { status, body: answer } = await ask(body);
    expect([status, answer.error]).toEqual([400, 'Bad request']);
    expect(answer.problems[0].code).toEqual(expect.any(String));
  });

  it('answers at most a thousand values', async () => {
    expect((await ask({ column: 'id', limit: 1000 })).status).toBe(200);
  });
});
