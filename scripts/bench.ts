// `npm run bench -- smoke|full`: what a client gets through the gateway beside the bare limit of this machine, in one
// interleaved run on the same rows. Prints medians and ratios; judges nothing (docs/how-to/run-tests.md).
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createApi } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { startSystem } from '@almanac/testkit/system';
import { createAccount, updateAccount } from './admin/accounts.ts';
import { createOperator, readOperatorConfig } from './admin/operator.ts';
import { compareBulk } from './bench/bulk.ts';
import { compareGrid } from './bench/grid.ts';
import { openRawDatabase } from './bench/raw-database.ts';
import { type Comparison, printTable } from './bench/table.ts';

const sizes = {
  smoke: { rows: 100_000, bulkRounds: 3, gridRounds: 5, sliceSeconds: 2 },
  full: { rows: 1_000_000, bulkRounds: 3, gridRounds: 7, sliceSeconds: 10 },
};

const { positionals } = parseArgs({ allowPositionals: true });
const size = sizes[(positionals[0] ?? 'smoke') as keyof typeof sizes];
if (!size) {
  console.error(`Usage: npm run bench -- ${Object.keys(sizes).join('|')}`);
  process.exit(2);
}

const home = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
const cleanUp: (() => Promise<unknown> | unknown)[] = [() => rmSync(home, { recursive: true, force: true })];
try {
  console.log(
    `Node ${process.version}, ${cpus().length} cores, ${size.rows.toLocaleString('en')} rows, 16 connections`,
  );
  const system = await startSystem({ home });
  cleanUp.push(() => system.stop({ keep: true }));
  const api = await signIn(system.baseUrl);
  const raw = await openRawDatabase(home);
  cleanUp.push(() => raw.close());

  const comparisons: Comparison[] = [];
  const { table, results } = await compareBulk({
    api,
    raw,
    rows: size.rows,
    rounds: size.bulkRounds,
    say: console.log,
  });
  comparisons.push(...results);
  comparisons.push(
    ...(await compareGrid({ api, raw, table, rounds: size.gridRounds, seconds: size.sliceSeconds, say: console.log })),
  );
  printTable(comparisons);
} finally {
  for (const step of cleanUp.toReversed()) await step();
}

async function signIn(baseUrl: string) {
  const operator = await createOperator(readOperatorConfig({ ...process.env, ALMANAC_HOME: home }));
  try {
    const account = await createAccount(operator, {
      name: 'Bench',
      plan: 'enterprise',
      adminEmail: 'bench@example.com',
      redirectUri: 'http://127.0.0.1:9876/callback',
    });
    await updateAccount(operator, account.account_id, { allowance: 1_000_000_000 });
    return createApi(baseUrl, (await signInPerson(baseUrl, account.application, account.admin)).access_token);
  } finally {
    operator.close();
  }
}
