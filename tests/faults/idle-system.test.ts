// A system without a call leaves the machine alone: its polls are few, and stay few.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Runtime, readHome, readJson, readRuntime } from '@almanac/embedded/home';
import type { Secrets } from '@almanac/embedded/secrets';
import { eventually } from '@almanac/testkit/eventually';
import { type RunningSystem, startSystem } from '@almanac/testkit/system/system';
import pg from 'pg';

const windowMs = 10_000;
// Six services poll for what a dead process left. There were 13 a second when each asked every 3 to
// 5 seconds; a window after a start has more.
const most = 100;

let system: RunningSystem;
let client: pg.Client;

beforeAll(async () => {
  system = await startSystem();
  const home = readHome({ ALMANAC_HOME: system.home });
  const { superuser } = (readJson<Secrets>(home.secrets) as Secrets).database_passwords;
  const { postgres_port } = readRuntime(home) as Runtime;
  client = new pg.Client({ connectionString: `postgres://almanac:${superuser}@127.0.0.1:${postgres_port}/postgres` });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await system?.stop();
});

async function countTransactions(): Promise<number> {
  const sum = 'select sum(xact_commit + xact_rollback)::int as count from pg_stat_database';
  return (await client.query<{ count: number }>(sum)).rows[0]?.count as number;
}

it('a system without a call has few transactions', async () => {
  await eventually(async () => {
    const before = await countTransactions();
    await sleep(windowMs);
    expect((await countTransactions()) - before).toBeLessThan(most);
  });
});
