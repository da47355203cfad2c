// `npm run bench -- smoke|full`: compares the product with the bare limit of this machine, in one
// interleaved run on the same rows. Prints medians and ratios; sets no goals
// (docs/how-to/run-tests.md).
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printPageTimes, timePages } from './any-column.ts';
import { openBareDatabase } from './bare/bare-database.ts';
import { startBareServer } from './bare/bare-side.ts';
import { printDifferences, timeDifferences } from './branches/differences.ts';
import { printMerges, timeMerges } from './branches/merge.ts';
import { compareBulk, printBulk } from './bulk.ts';
import { printChangeRequests, timeChangeRequests } from './change-requests/change-requests.ts';
import { type Comparison, compare, connections, type Sides } from './compare.ts';
import { measureConsole } from './console/console.ts';
import { printDefinitions, timeDefinitions } from './definitions.ts';
import { measureFormats } from './formats.ts';
import { measureOverhead, printOverhead } from './gateway.ts';
import { measureGrowth } from './growth.ts';
import { measureIdle } from './idle.ts';
import { makeLargeTables } from './large-tables.ts';
import { startProduct } from './measuring/product.ts';
import { measureMemory } from './memory.ts';
import { type Operation, pageOperations, rowOperations } from './operations.ts';
import { printComparison, printGateway } from './report.ts';
import { measureStreams } from './streams.ts';
import { measureUpdates } from './updates.ts';

const help = `Usage: npm run bench -- [smoke|full] [--only PART[,PART…]]

Measures a system of its own on this machine, against a bare Node server with PostgreSQL on the same rows.

  smoke   100,000 rows, short (what you get without a word)
  full    1,000,000 rows

  --only  some of these parts, in this order whatever yours:
    idle        memory, CPU and transactions of a system without a call
    grid        pages with filter, sort and count, and with a sort alone
    rows        reading, creating and changing one row
    gateway     what the gateway adds to a call, beside a proxy that does nothing else
    any-column  pages by each column, near the start, in the middle, at the end; searches within texts
    memory      of data and gateway, while 64 clients page through all rows
    updates     pages of a table that was just loaded, or of which a tenth was changed
    bulk        imports and exports beside COPY
    formats     files of each format, exported and imported: the memory they take
    definitions listing, comparing, deploying and promoting the definitions of an account that has many
    merge       copying a table to a branch with its rows, and merging a tenth of them back, changed
    differences comparing two instants of a table of which a hundredth was changed, and two branches; its activity
    change-requests  reading, extending, deciding, rehearsing and applying a change request over a tenth of a table
    streams     events delivered to 200 open streams of an account
    console     pages that open, rows that are searched, scrolled, pasted and reviewed in a browser (Chromium)
    growth      a few calls, before and after there are thousands of accounts, users and tables`;

const sizes = {
  smoke: {
    rows: 100_000,
    bulkRounds: 3,
    mergeRounds: 3,
    pace: { rounds: 5, sliceSeconds: 0.4, warmRequests: 2_000 },
    definitions: { tables: 200, batchSize: 40 },
    idle: { settleSeconds: 30, seconds: 30 },
    streams: [{ eventsPerSecond: 10, seconds: 10 }],
    growth: { to: 1_000, rounds: 5, requests: 1_000 },
  },
  full: {
    rows: 1_000_000,
    bulkRounds: 3,
    mergeRounds: 3,
    pace: { rounds: 9, sliceSeconds: 0.8, warmRequests: 12_000 },
    definitions: { tables: 1_000, batchSize: 200 },
    idle: { settleSeconds: 60, seconds: 60 },
    streams: [
      { eventsPerSecond: 10, seconds: 60 },
      { eventsPerSecond: 100, seconds: 10 },
      { eventsPerSecond: 2_000, seconds: 40 },
    ],
    growth: { to: 10_000, rounds: 5, requests: 2_000 },
  },
};
const parts = [
  'idle',
  'grid',
  'rows',
  'gateway',
  'any-column',
  'memory',
  'updates',
  'bulk',
  'formats',
  'definitions',
  'merge',
  'differences',
  'change-requests',
  'streams',
  'console',
  'growth',
] as const;
type Part = (typeof parts)[number];

const { size, wanted } = readArguments();
const wants = (...some: Part[]) => some.some((part) => wanted.includes(part));
const say = (text: string) => console.log(text);
const home = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
const cleanUp: (() => unknown)[] = [() => rmSync(home, { recursive: true, force: true })];
try {
  const rows = size.rows.toLocaleString('en');
  say(`Node ${process.version}, ${cpus().length} cores, ${rows} rows, ${connections} connections`);
  const product = await startProduct(home);
  cleanUp.push(product.stop);
  if (wants('idle')) await measureIdle(product, size.idle, say);
  const bare = await openBareDatabase(product.databaseUrl);
  cleanUp.push(bare.close);

  if (wants('grid', 'rows', 'gateway', 'any-column', 'memory', 'updates')) {
    say('making the tables …');
    const table = await makeLargeTables(product, bare, size.rows);
    cleanUp.push(table.close);
    const server = await startBareServer(bare.url);
    cleanUp.push(server.stop);
    const { gateway, data, billing, postgres } = product.processes as Record<string, number>;
    const sides = {
      gateway: { target: product.gateway, processes: { gateway, data, billing, postgres } },
      service: { target: product.service, processes: { data, postgres } },
      bare: { target: server.target, processes: { bare: server.pid, postgres } },
    } as Sides;
    const comparisons: Comparison[] = [];
    const operations = [
      ...(wants('grid') ? pageOperations(table.id) : []),
      ...(wants('rows') ? rowOperations(table.id, size.rows) : []),
    ];
    if (wants('grid')) {
      // Repeated queries get their indexes first.
      for (const operation of pageOperations(table.id))
        await compare(operation, sides, { rounds: 1, sliceSeconds: 0, warmRequests: 2_000 });
      await table.waitForIndexes();
    }
    for (const operation of operations) {
      await table.rest();
      const comparison = await compare(operation, sides, size.pace);
      comparisons.push(comparison);
      printComparison(comparison, say);
    }
    if (comparisons.length > 0) printGateway(comparisons, say);
    await table.rest();
    if (wants('gateway')) {
      const [read, , update] = rowOperations(table.id, size.rows) as [Operation, Operation, Operation];
      const found = await measureOverhead({ ...product, operations: [read, update], pace: size.pace });
      printOverhead(found, say);
      await table.rest();
    }
    if (wants('any-column')) printPageTimes(await timePages(product.api, table), say);
    if (wants('memory')) await measureMemory(product, table, say);
    if (wants('updates')) await measureUpdates(product, table, size.pace, say);
  }
  if (wants('bulk'))
    printBulk(await compareBulk({ product, bare, rows: size.rows, rounds: size.bulkRounds, say }), say);
  if (wants('formats')) await measureFormats({ product, rows: size.rows, say });
  if (wants('definitions'))
    printDefinitions(await timeDefinitions(product.api, size.definitions, say), size.definitions, say);
  if (wants('merge'))
    printMerges(await timeMerges({ api: product.api, rows: size.rows, rounds: size.mergeRounds, say }), say);
  if (wants('differences'))
    printDifferences(await timeDifferences({ api: product.api, rows: size.rows, rounds: size.mergeRounds, say }), say);
  if (wants('change-requests'))
    printChangeRequests(await timeChangeRequests({ product, rows: size.rows, rounds: size.mergeRounds, say }), say);
  if (wants('streams')) await measureStreams(product, size.streams, say);
  if (wants('console')) await measureConsole(product, size.rows, say);
  if (wants('growth')) await measureGrowth(product, size.growth, say);
} finally {
  for (const step of cleanUp.toReversed()) await step();
}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    console.log(help);
    process.exit(0);
  }
  const [name = 'smoke', ...rest] = positionals;
  const wanted = values.only?.split(',') ?? [...parts];
  const isKnown = Object.hasOwn(sizes, name) && wanted.every((part) => (parts as readonly string[]).includes(part));
  if (!isKnown || rest.length > 0) {
    console.error(help);
    process.exit(2);
  }
  return { size: sizes[name as keyof typeof sizes], wanted };
}
