import fc from 'fast-check';
import { create, type DataNet, deploy, givenData } from '../given.ts';
import { patch, remove } from '../versions.ts';
import { anySelection, type Given, givenRows, kindsOfAll, type Row, selected } from './given-rows.ts';

let net: DataNet;
let rows: Given[];
const seed = Number(process.env.POSITION_SEED ?? Date.now());

beforeAll(async () => {
  net = await givenData();
  rows = await givenRows(net, 150);
});

afterAll(() => net.stop());

const ask = (body: Row, call = net.call) =>
  call('POST', '/api/v1/table_data/position', { table_definition_id: 1, ...body });
const position = async (body: Row, call = net.call) => {
  const answer = await ask(body, call);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.index;
};

const colId = fc.constantFrom(...Object.keys(kindsOfAll));
const direction = fc.constantFrom('asc' as const, 'desc' as const);
const sort = fc.oneof(
  { weight: 4, arbitrary: fc.record({ colId, sort: direction }) },
  fc.record({
    colId: fc.constantFrom('svc_sk', 'id', 'big', 'amount', 'ratio', 'share'),
    sort: direction,
    type: fc.constant('absolute' as const),
  }),
);
const input = fc.record({
  // Often no filter, so that most rows are in the list.
  selection: fc.oneof(anySelection, fc.constant({})),
  sortModel: fc.uniqueArray(sort, { maxLength: 4, selector: (each) => each.colId }),
  place: fc.nat({ max: 149 }),
});

describe('the position of a row', () => {
  it(`is its place in the list of a plain model (POSITION_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(input, async ({ selection, sortModel, place }) => {
        const { svc_sk: id } = (rows[place] as Given).shown;
        const index = selected(rows, selection, sortModel).findIndex(({ shown }) => shown.svc_sk === id);
        expect(await position({ ...selection, sortModel, id })).toBe(index < 0 ? null : index);
      }),
      { numRuns: 500, seed, interruptAfterTimeLimit: 60_000 },
    );
  });

  it('is null for a row that is not there, deleted, or of another instant', async () => {
    await deploy(net, [{ id: 3, columns: [{ name: 'x', length: 5 }] }]);
    const made = [];
    for (const x of ['b', 'a', 'c']) made.push(await create(net, 3, { x }));
    const [first, second, third] = made.map(({ svc_sk }) => svc_sk);
    const at = (id: number, more: Row = {}) =>
      position({ table_definition_id: 3, id, sortModel: [{ colId: 'x', sort: 'asc' }], ...more });
    expect([await at(first), await at(second), await at(third)]).toEqual([1, 0, 2]);
    const changed = await patch(net.call, 3, third, { x: 'A' });
    await remove(net.call, 3, [second]);
    expect([await at(first), await at(second), await at(third), await at(999)]).toEqual([1, null, 0, null]);
    expect([await at(first, { include_deleted: true }), await at(second, { include_deleted: true })]).toEqual([2, 1]);
    const as_of = new Date(Date.parse(changed.body.svc_updated_at) - 1).toISOString();
    expect([await at(first, { as_of }), await at(second, { as_of }), await at(third, { as_of })]).toEqual([1, 0, 2]);
    const before = new Date(Date.parse(made[0].svc_created_at) - 1).toISOString();
    expect(await at(first, { as_of: before })).toBe(null);
    expect((await ask({ id: first, as_of: '2999-01-01T00:00:00Z' })).status).toBe(400);
  });

  it('is refused without the right to view rows, and of a table of another account', async () => {
    net.rights.set(8, { license_type: 'end_user', permissions: [] });
    expect((await ask({ id: 1 }, net.as({ userId: 8 }))).status).toBe(403);
    expect((await ask({ id: 1 }, net.as({ accountId: 2 }))).status).toBe(404);
  });

  const bad: Row[] = [
    {},
    { id: 0 },
    { id: -1 },
    { id: '1' },
    { id: 1.5 },
    { id: 2 ** 60 },
    { id: null },
    { id: [1] },
    { id: 1, sortModel: {} },
    { id: 1, sortModel: [{ colId: 'nope', sort: 'asc' }] },
    { id: 1, filterModel: { nope: {} } },
    { id: 1, startRow: 0 },
  ];
  it.each(bad.map((body) => [body]))('answers 400 with problems to %j', async (body) => {
    const { status, body: answer } = await ask(body);
    expect([status, answer.error]).toEqual([400, 'Bad request']);
    expect(answer.problems[0].code).toEqual(expect.any(String));
  });
});
