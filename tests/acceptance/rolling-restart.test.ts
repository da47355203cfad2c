// A new version goes out while everybody works: with two instances of each service, one is replaced after the other, and no call is
// refused, no write is lost and none is done twice. ROLLING=all does it three times.
import type { Api } from '@almanac/api-client/api';
import { type DeployedTable, givenAccount, givenDeployedTable, unique } from '@almanac/testkit/builders';
import { eventually } from '@almanac/testkit/eventually';
import { type Fleet, fleetServices, startFleet } from '@almanac/testkit/fleet';
import { systemHomeName } from '@almanac/testkit/system';

const rounds = process.env.ROLLING === 'all' ? [0, 1, 0, 1, 0, 1] : [0, 1];
/** Longer than balancers take to hear of it, also on a busy machine. */
const drainSeconds = 2;
const lanes = 2;

let fleet: Fleet;
let table: DeployedTable;
let api: Api;

beforeAll(async () => {
  fleet = await startFleet(drainSeconds);
  Object.assign(process.env, fleet.env);
  delete process.env[systemHomeName];
  api = await (await givenAccount({ plan: 'enterprise' })).person();
  // Without a key, so that a row that is written twice is there twice.
  table = await givenDeployedTable(api, { columns: [{ name: 'code', data_type: 'string', length: 40 }] });
});
afterAll(() => fleet?.stop());

type Work = { refused: string[]; calls: number; written: string[]; domains: string[]; changed: Set<string> };

it.each(fleetServices.map((name) => [name]))('%s is replaced and nobody notices', async (name) => {
  const work: Work = { refused: [], calls: 0, written: [], domains: [], changed: new Set() };
  let isOver = false;
  const running = Array.from({ length: lanes }, async () => {
    while (!isOver) await doOne(work);
  });
  // Something was done before, and something will have been done after.
  await calls(work, 10);
  const codes: (number | null)[] = [];
  for (const place of rounds) codes.push(await fleet.replace(name, place));
  await calls(work, 10);
  isOver = true;
  await Promise.all(running);
  expect(work.refused).toEqual([]);
  expect(codes).toEqual(rounds.map(() => 0)); // it has ended by itself, in its time
  await expectWritten(work);
  console.log(`${name}: ${work.calls} calls`);
});

const calls = (work: Work, more: number) => {
  const wanted = work.calls + more;
  return eventually(() => expect(work.calls).toBeGreaterThanOrEqual(wanted), { withinMs: 120_000 });
};

/** Reads and writes of every service behind the gateway, one after the other. */
async function doOne(work: Work): Promise<void> {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T | undefined> => {
    const answer = await api
      .send<T>(method, path, body)
      .catch((error: unknown) => ({ status: String(error), body: undefined }));
    work.calls += 1;
    const isGood = typeof answer.status === 'number' && answer.status >= 200 && answer.status < 300;
    if (isGood) return answer.body;
    work.refused.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return undefined;
  };
  const ofTable = { table_definition_id: table.id };
  const code = unique();
  const made = await ask<{ record: { svc_sk: number } }>('POST', '/table_data', { ...ofTable, record: { code } });
  if (made) work.written.push(code);
  await ask('POST', '/table_data/grid', { ...ofTable, startRow: 0, endRow: 10 });
  if (made) {
    const row = made.record.svc_sk;
    await ask('GET', `/table_data/${row}?table_definition_id=${table.id}`);
    const changed = `${code}-changed`;
    if (await ask('PATCH', `/table_data/${row}`, { ...ofTable, record: { code: changed } })) work.changed.add(changed);
  }
  const name = `Domain ${unique()}`;
  if (await ask('POST', '/domains', { domain: { name } })) work.domains.push(name);
  await ask('GET', '/table_definitions?per_page=5');
  await ask('POST', '/user_groups', { user_group: { name: `Group ${unique()}` } });
  await ask('GET', '/users');
  await ask('POST', '/import_mappings', mapping());
  await ask('GET', '/imports');
  await ask('GET', '/account');
  await ask('GET', '/usage');
}

const mapping = () => ({
  table_definition_id: table.id,
  import_mapping: {
    name: `Mapping ${unique()}`,
    column_mappings: [{ source_column: 'Code', target_column: 'code' }],
  },
});

/** What was acknowledged is there, once; what was asked for and refused would have failed the test before. */
async function expectWritten({ written, changed, domains }: Work): Promise<void> {
  const codes: string[] = [];
  for (let startRow = 0; ; startRow += 1_000) {
    const window = { table_definition_id: table.id, startRow, endRow: startRow + 1_000 };
    const { rows } = await api.post<{ rows: { code: string }[] }>('/table_data/grid', window);
    codes.push(...rows.map((row) => row.code));
    if (rows.length < 1_000) break;
  }
  const mine = new Set(written);
  const there = codes.filter((code) => mine.has(code.replace('-changed', '')));
  const wanted = written.map((code) => (changed.has(`${code}-changed`) ? `${code}-changed` : code));
  expect(there.toSorted()).toEqual(wanted.toSorted());
  const { data, meta } = await api.get<{ data: { name: string }[]; meta: { total_count: number } }>(
    `/domains?per_page=1000&sort=-id`,
  );
  expect(meta.total_count).toBeGreaterThanOrEqual(domains.length);
  expect(data.map(({ name }) => name)).toEqual(expect.arrayContaining(domains));
}
