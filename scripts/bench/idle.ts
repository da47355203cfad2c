// What an idle system takes: memory by process, CPU time, transactions. It runs first, before any
// other part has used the system.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { descendantsOf, memoryShareOf, nameOf, ownCpuOf } from './measuring/processes.ts';
import type { Product } from './measuring/product.ts';

type Pace = { settleSeconds: number; seconds: number };
type Process = { name: string; mb: number; cpuMs: number };

/** Measures for some time without a call, and prints the processes. */
export async function measureIdle(product: Product, pace: Pace, say: (text: string) => void): Promise<void> {
  await sleep(pace.settleSeconds * 1_000);
  const transactionsBefore = await countTransactions(product);
  const before = cpuByPid(product);
  await sleep(pace.seconds * 1_000);
  const cpu = cpuByPid(product);
  const transactions = (await countTransactions(product)) - transactionsBefore;
  const processes = [...cpu].map(([pid, ms]): Process => {
    const name = Object.entries(product.processes).find(([, id]) => id === pid)?.[0];
    return { name: name ?? nameOf(pid), mb: memoryShareOf(pid), cpuMs: ms - (before.get(pid) ?? ms) };
  });
  say(`\nidle, for ${pace.seconds} s after ${pace.settleSeconds} s (memory: each process's share, PSS)`);
  for (const [name, some] of Object.entries(Object.groupBy(processes, ({ name }) => name))) {
    const each = some as Process[];
    say(`${name.padEnd(12)} ${text(each)}${each.length > 1 ? `, ${each.length} processes` : ''}`);
  }
  say(
    `${'all'.padEnd(12)} ${text(processes)}, ${((100 * sumOf(processes, 'cpuMs')) / 1_000 / pace.seconds).toFixed(2)} %`,
  );
  say(`${'transactions'.padEnd(12)} ${(transactions / pace.seconds).toFixed(1)} a second`);
}

const sumOf = (processes: Process[], what: 'mb' | 'cpuMs') =>
  processes.reduce((sum, process) => sum + process[what], 0);

const text = (processes: Process[]) =>
  `${sumOf(processes, 'mb').toFixed(0).padStart(5)} MB ${sumOf(processes, 'cpuMs').toFixed(0).padStart(6)} ms of CPU`;

const cpuByPid = ({ supervisor }: Product) =>
  new Map(
    descendantsOf(supervisor).flatMap((pid): [number, number][] => {
      const cpu = ownCpuOf(pid); // a backend of PostgreSQL may have ended
      return cpu === undefined ? [] : [[pid, cpu]];
    }),
  );

async function countTransactions({ databaseUrl }: Product): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl('postgres') });
  await client.connect();
  try {
    const sum = 'select sum(xact_commit + xact_rollback)::int as count from pg_stat_database';
    return (await client.query<{ count: number }>(sum)).rows[0]?.count as number;
  } finally {
    await client.end();
  }
}
