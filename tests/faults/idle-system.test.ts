// A system without a call leaves the machine alone: its polls are few, and stay few.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
  const read = (name: string) => JSON.parse(readFileSync(join(system.home, name), 'utf8'));
  const { superuser } = read('secrets.json').database_passwords;
  const { postgres_port } = read('runtime.json');
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
