// `include=stats`: what data knows of the rows of tables, and how many change requests are open.
import { givenWorld, type World } from '../changes/change-requests/change-request-given.ts';
import { givenTable, type Metadata, startMetadata } from '../given.ts';

let metadata: Metadata;
let world: World;

beforeAll(async () => {
  metadata = await startMetadata();
  world = await givenWorld(metadata);
});
beforeEach(() => {
  const { data } = metadata.neighbours;
  data.calls = [];
  data.statistics = new Map([
    [
      world.codesId,
      {
        table_definition_id: world.codesId,
        row_count: 12,
        last_changed_at: '2026-11-01T10:00:00.000Z',
        last_changed_by_user: 7,
        last_import: { id: 5, at: '2026-11-01T09:00:00.000Z', status: 'completed' },
      },
    ],
  ]);
});
afterAll(() => metadata.stop());

const statsOfCodes = {
  row_count: 12,
  row_count_estimate: null,
  last_changed_at: '2026-11-01T10:00:00.000Z',
  last_changed_by: { user_id: 7, application_id: null },
  open_change_requests: 0,
  last_import: { id: 5, at: '2026-11-01T09:00:00.000Z', status: 'completed' },
};
type Listed = { id: number; stats?: unknown; can?: unknown };
const shown = (path: string) => world.admin.get(path);
const statsIn = (items: Listed[]) => Object.fromEntries(items.map(({ id, stats }) => [id, stats]));
const asked = () => metadata.neighbours.data.calls.filter(({ rpc }) => rpc === 'ListTableStatistics').length;

it('is in no answer that does not ask for it', async () => {
  for (const path of ['/deployed_table_definitions', '/table_definitions'])
    expect((await shown(path)).data[0]).not.toHaveProperty('stats');
  for (const path of ['/deployed_table_definitions', '/table_definitions'])
    expect(await shown(`${path}/${world.codesId}`)).not.toHaveProperty('stats');
  expect(asked()).toBe(0);
});

it('is of each table of a list, by one call of data, and the same at its own address', async () => {
  const draft = await givenTable(world.account, 'Never deployed');
  for (const path of ['/deployed_table_definitions', '/table_definitions']) {
    metadata.neighbours.data.calls = [];
    const list = statsIn((await shown(`${path}?include=stats`)).data);
    expect(asked()).toBe(1);
    expect(list[world.codesId]).toEqual(statsOfCodes);
    expect((await shown(`${path}/${world.codesId}?include=stats`)).stats).toEqual(statsOfCodes);
  }
  // Of a draft without rows, and of whatever data doesn't answer to this caller, there is nothing.
  expect((await shown(`/table_definitions/${draft.id}?include=stats`)).stats).toBeNull();
  expect((await shown('/deployed_table_definitions?include=stats&q=id:eq:1999999999')).data).toEqual([]);
});

it('goes with what the caller may do', async () => {
  const [table] = (await shown(`/table_definitions?include=can,stats&q=id:eq:${world.codesId}`)).data;
  expect(table).toMatchObject({ stats: statsOfCodes, can: expect.arrayContaining(['view_rows']) });
  const one = await shown(`/table_definitions/${world.codesId}?include=can,stats`);
  expect(one).toMatchObject({ stats: statsOfCodes, can: table.can });
  for (const wrong of ['stats,can', 'all', ''])
    expect((await world.admin.send('GET', `/table_definitions?include=${wrong}`)).status).toBe(400);
  expect((await world.admin.send('GET', '/deployed_table_definitions?include=can')).status).toBe(400);
});

it('has null for what is not known', async () => {
  const { statistics } = metadata.neighbours.data;
  statistics.set(world.codesId, { table_definition_id: world.codesId, row_count_estimate: 1_000_000 });
  expect((await shown(`/deployed_table_definitions/${world.codesId}?include=stats`)).stats).toEqual({
    row_count: null,
    row_count_estimate: 1_000_000,
    last_changed_at: null,
    last_changed_by: null,
    open_change_requests: 0,
    last_import: null,
  });
});

it('counts the change requests with its rows until they have ended', async () => {
  const count = async () =>
    (await shown(`/deployed_table_definitions/${world.codesId}?include=stats`)).stats.open_change_requests;
  const before = await count();
  const [first, second] = [await world.sent(), await world.sent()];
  expect(await count()).toBe(before + 2);
  await world.decide(world.approver, first, 'approve');
  expect(await count()).toBe(before + 2);
  await world.act(world.approver, second, 'reject', { comment: 'no' });
  expect(await count()).toBe(before + 1);
});
