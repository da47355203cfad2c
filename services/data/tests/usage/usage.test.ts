// GET /table_data/usage: who uses a table.
import type { Call } from '@almanac/testkit/calls/call';
import { sweep } from '../../src/maintenance/housekeeping.ts';
import { load, read } from '../files.ts';
import { caller, create, type DataNet, deploy, givenData } from '../given.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

async function givenTable(): Promise<number> {
  last += 1;
  await deploy(net, [{ id: last, columns: [{ name: 'code', length: 5, is_primary_key: true }] }]);
  return last;
}

async function usageOf(table: number, call = net.call) {
  await net.context.usage.flush();
  const answer = await call('GET', `/api/v1/table_data/usage?table_definition_id=${table}`);
  expect(answer.status).toBe(200);
  return answer.body;
}

const list = (call: Call, table: number) => call('GET', `/api/v1/table_data?table_definition_id=${table}`);
const today = () => new Date().toISOString().slice(0, 10);

const allow = (userId: number, action: string) =>
  net.rights.set(userId, {
    license_type: 'developer',
    permissions: [{ action, resource_type: 'account', resource_id: 1 }] as never,
  });

it('has the users and applications that read and wrote a table, by day and kind', async () => {
  const table = await givenTable();
  allow(7, 'edit');
  const [user, application] = [net.as({ userId: 7, applicationId: 3 }), net.as({ applicationId: 4 })];
  const day = today();
  await create(net, table, { code: 'A' }, user);
  for (let i = 0; i < 3; i += 1) await list(application, table);
  const { days, consumers } = await usageOf(table);
  expect(days).toBe(30);
  // Unless midnight has passed in between.
  if (day !== today()) return;
  expect(consumers).toEqual([
    { user_id: null, application_id: 4, calls: 3, days: [{ day, kind: 'read', calls: 3 }] },
    { user_id: 7, application_id: 3, calls: 1, days: [{ day, kind: 'write', calls: 1 }] },
  ]);
});

it('adds up over time, and counts neither itself nor what is refused', async () => {
  const table = await givenTable();
  for (let i = 1; i <= 3; i += 1) {
    await list(net.call, table);
    expect((await usageOf(table)).consumers).toMatchObject([{ calls: i }]);
  }
  net.rights.set(8, { license_type: 'developer', permissions: [] });
  expect((await list(net.as({ userId: 8 }), table)).status).toBe(403);
  expect((await net.call('GET', `/api/v1/table_data/999?table_definition_id=${table}`)).status).toBe(404);
  expect((await usageOf(table)).consumers).toMatchObject([{ calls: 3 }]);
});

it('counts imports and exports', async () => {
  const table = await givenTable();
  await load(net, table, 'A\n', { file_columns: ['code'] });
  await read(net, table);
  const { consumers } = await usageOf(table);
  expect(consumers).toMatchObject([{ application_id: caller.applicationId }]);
  expect(consumers[0].days.map(({ kind }: { kind: string }) => kind)).toEqual(['export', 'write']);
});

it('keeps thirty days', async () => {
  const table = await givenTable();
  await net.query(
    `insert into table_reads select 1, $1::int, (now() at time zone 'UTC')::date - ago, 'read', 0, 5, 1 from unnest(array[0, 29, 30, 31]) ago`,
    [table],
  );
  expect((await usageOf(table)).consumers).toMatchObject([{ calls: 2 }]);
  await sweep(net.context);
  expect(await net.query('select from table_reads where table_definition_id = $1', [table])).toHaveLength(2);
});

it('keeps counts that could not be added', async () => {
  const table = await givenTable();
  await net.query('alter table table_reads rename to away');
  await list(net.call, table);
  await expect(net.context.usage.flush()).rejects.toThrow();
  await net.query('alter table away rename to table_reads');
  await list(net.call, table);
  expect((await usageOf(table)).consumers).toMatchObject([{ calls: 2 }]);
});

it('needs the right to view, and is of the account alone', async () => {
  const table = await givenTable();
  const path = `/api/v1/table_data/usage?table_definition_id=${table}`;
  net.rights.set(9, { license_type: 'developer', permissions: [] });
  expect((await net.as({ userId: 9 })('GET', path)).status).toBe(403);
  expect((await net.as({ accountId: 2 })('GET', path)).status).toBe(404);
  expect((await net.call('GET', '/api/v1/table_data/usage')).status).toBe(400);
});
