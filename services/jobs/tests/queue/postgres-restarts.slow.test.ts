// PostgreSQL stops, starts or crashes repeatedly while jobs is called: callers get 503 at any point
// of a call, and work continues afterwards. RESTARTS: how often (8).
import { eventually } from '@almanac/testkit/eventually';
import { type Cluster, createTestDatabase, startPostgres } from '@almanac/testkit/postgres/postgres';
import { givenImport, givenJobs, type Jobs } from '../given.ts';

const restarts = Number(process.env.RESTARTS ?? 8);

let cluster: Cluster;
let jobs: Jobs;

beforeAll(async () => {
  cluster = await startPostgres();
  const { url } = await createTestDatabase('jobs', { clusterUrl: cluster.url });
  jobs = await givenJobs({ databaseUrl: () => url });
  jobs.neighbours.addTable({ key: 'countries' });
});
afterAll(async () => {
  await jobs?.close();
  await cluster?.stop();
});

it('callers get 503 during restarts, and no other error', async () => {
  const { id, import_tables } = await givenImport(jobs, { countries: undefined });
  const file = `/api/v1/imports/${id}/tables/${import_tables[0].id}/file`;
  const calls = [
    () => jobs.send('PUT', file, 'code,name\nDE,Germany\n', { 'content-type': 'text/csv' }),
    () => jobs.call('GET', `/api/v1/imports/${id}`),
  ];
  const statuses: number[] = [];
  let running = true;
  const callers = Array.from({ length: 8 }, async (_, n) => {
    while (running) statuses.push((await (calls[n % calls.length] as () => Promise<{ status: number }>)()).status);
  });
  const progress = () => {
    const before = statuses.length;
    return eventually(() =>
      expect(statuses.slice(before).filter((status) => status === 200).length).toBeGreaterThan(30),
    );
  };
  await progress();
  for (let n = 0; n < restarts; n += 1) {
    await cluster.restart(n % 2 ? 'immediate' : 'fast');
    await progress();
  }
  running = false;
  await Promise.all(callers);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
}, 600_000);
