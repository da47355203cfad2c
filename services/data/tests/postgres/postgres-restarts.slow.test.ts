// PostgreSQL restarts or crashes repeatedly while rows are written: acknowledged writes are there,
// others are there once or not at all, and the service needs no restart. RESTARTS: how often (6).
import { eventually } from '@almanac/testkit/eventually';
import { type Cluster, createTestDatabase, startPostgres } from '@almanac/testkit/postgres/postgres';
import { type DataNet, deploy, givenData } from '../given.ts';

const restarts = Number(process.env.RESTARTS ?? 6);
const table = 1;

let cluster: Cluster;
let net: DataNet;

beforeAll(async () => {
  // A crash of PostgreSQL alone loses the data that it has not passed to the system yet.
  cluster = await startPostgres({ more: { synchronous_commit: 'on', full_page_writes: 'on' } });
  net = await givenData({ database: await createTestDatabase('data', { clusterUrl: cluster.url }) });
  await deploy(net, [
    { id: table, columns: [{ name: 'n', data_type: 'integer', is_primary_key: true }, { name: 'x' }] },
  ]);
});

afterAll(async () => {
  await net.stop();
  await cluster.stop();
});

type Sent = { numbers: number[]; status: number };

it('acknowledged writes survive, callers get 503 during the restart, and work continues without help', async () => {
  const sent: Sent[] = [];
  const acknowledged = () => sent.filter(({ status }) => status < 300).length;
  let next = 0;
  let running = true;
  const retryAfter = new Set<string | null>();

  const write = async (how: number) => {
    const numbers = Array.from({ length: how === 2 ? 5 : 1 }, () => (next += 1));
    const record = (n: number) => ({ n, x: 'x'.repeat(200) });
    const operations = numbers.map((n) => ({ operation: 'create', record: record(n) }));
    const [path, body] = how === 2 ? ['/batch', { operations }] : ['', { record: record(next) }];
    const key: Record<string, string> = how === 0 ? {} : { 'idempotency-key': `w-${numbers[0]}` };
    const send = () => net.call('POST', `/api/v1/table_data${path}`, { table_definition_id: table, ...body }, key);
    const answer = await send();
    if (answer.status === 503) retryAfter.add(answer.headers.get('retry-after'));
    sent.push({ numbers, status: answer.status });
    if (answer.status !== 503 || how === 0) return;
    // With a key, repeating the request shows the outcome.
    await eventually(async () => expect((await send()).status).toBeLessThan(300), { everyMs: 100 });
    sent.push({ numbers, status: 200 });
  };
  const writers = Array.from({ length: 6 }, async (_, n) => {
    while (running) await write(n % 3);
  });
  const progress = (count: number) => {
    const before = acknowledged();
    return eventually(async () => expect(acknowledged()).toBeGreaterThan(before + count));
  };

  await progress(30);
  for (let n = 0; n < restarts; n += 1) {
    await cluster.restart(n % 2 ? 'immediate' : 'fast');
    await progress(30);
  }
  running = false;
  await Promise.all(writers);

  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200, 201, 503]));
  expect([...retryAfter]).toEqual(['1']);
  const rows = await net.query(`select c_1001 as n, count(*)::int as times from b_1.t_${table} group by 1`);
  const times = new Map(rows.map((row) => [row.n as number, row.times as number]));
  const lost = sent.filter(({ status, numbers }) => status < 300 && numbers.some((n) => times.get(n) !== 1));
  expect(lost).toEqual([]);
  expect([...times.values()].filter((each) => each > 1)).toEqual([]);
  // Whole or not at all.
  for (const { numbers } of sent) expect(new Set(numbers.map((n) => times.has(n))).size).toBe(1);
  // Changes are announced, as always.
  const behind = `select from announced_rows where until < (select max(svc_updated_at) from b_1.t_${table})`;
  await eventually(async () => expect(await net.query(behind)).toEqual([]));
}, 600_000);
