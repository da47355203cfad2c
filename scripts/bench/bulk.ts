// Whole files compared with PostgreSQL alone: imports with COPY into the finished table, exports
// with COPY TO, each round on a new table of the same shape, one after the other.
import type { Api } from '@almanac/api-client/api';
import type { DeployedTable } from '@almanac/testkit/system/builders';
import type { BareDatabase } from './bare/bare-database.ts';
import { cpuOf } from './measuring/processes.ts';
import type { Product } from './measuring/product.ts';
import { median } from './measuring/quantiles.ts';
import { type Cost, mostGrowth, printCpu, printMemory, watch } from './measuring/watched.ts';
import { deployBulkProducts, deployReferences, makeBulkCsv, openBulkYardstick } from './tables/bulk-tables.ts';
import { runExport } from './tables/exports.ts';
import { importFile } from './tables/imports.ts';

type Given = { product: Product; bare: BareDatabase; rows: number; rounds: number; say(text: string): void };

/** `goal`: the intended minimum of the ratio of rows a second. */
type Measure = { name: string; beside: 'in' | 'out'; rows: number; goal?: number; run(): Promise<number> };
type Ratio = { speed: number; cpu: number };
type Taken = { seconds: number; cpu: number };
export type BulkComparison = Pick<Measure, 'name' | 'beside' | 'goal'> & {
  perSecond: number;
  /**
   * Ratios of rows a second, and of rows for CPU time: the second is reliable on a shared machine.
   */
  ratios: Ratio[];
  /** The costs of the round in which memory grew most. */
  cost: Cost;
};

/** Exports are short and change nothing, so they run more often. */
const timesInRound = { in: 1, out: 3 };

/** Compares rows a second. */
export async function compareBulk({ product, bare, rows, rounds, say }: Given): Promise<BulkComparison[]> {
  const { api, processes } = product;
  const files = makeFiles(rows);
  const references = await deployReferences(api);
  const yardstick = await openBulkYardstick(bare.url);
  const taken = new Map<string, BulkComparison & { seconds: number[] }>();
  // Both sides in rows: a file may have other rows than the baseline's.
  const compared = ({ name, goal, beside, rows: own }: Measure, ours: Taken, cost: Cost, limit: Taken) => {
    const ratio = {
      speed: own / ours.seconds / (rows / limit.seconds),
      cpu: own / ours.cpu / (rows / limit.cpu),
    };
    const entry = taken.get(name) ?? { name, goal, beside, perSecond: 0, ratios: [], seconds: [], cost };
    entry.ratios.push(ratio);
    entry.seconds.push(ours.seconds);
    entry.perSecond = own / median(entry.seconds);
    if (mostGrowth(cost) > mostGrowth(entry.cost)) entry.cost = cost;
    taken.set(name, entry);
    say(`  ${name}: ${ours.seconds.toFixed(2)} s beside ${limit.seconds.toFixed(2)} s, ${printRatio(ratio)}`);
  };
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const table = await deployBulkProducts(api, `Bulk products ${round}`, references);
      await yardstick.makeTable();
      const limits = { in: await timed(processes, () => yardstick.copyIn(files.first)), out: { seconds: 0, cpu: 0 } };
      say(`round ${round}: COPY FROM ${limits.in.seconds.toFixed(2)} s`);
      for (const measure of measures(api, table, files)) {
        for (let time = 0; time < timesInRound[measure.beside]; time += 1) {
          await yardstick.rest();
          if (measure.beside === 'out') limits.out = await timed(processes, yardstick.copyOut);
          const { result: seconds, cost } = await watch(processes, measure.run);
          const cpu = Object.values(cost.cpu).reduce((sum, ms) => sum + ms, 0);
          compared(measure, { seconds, cpu }, cost, limits[measure.beside]);
        }
      }
    }
    return [...taken.values()];
  } finally {
    await yardstick.close();
  }
}

// The client of the baseline is this process.
async function timed({ postgres }: Record<string, number>, work: () => Promise<unknown>): Promise<Taken> {
  const before = { own: process.cpuUsage(), server: cpuOf(postgres as number), at: performance.now() };
  await work();
  const seconds = (performance.now() - before.at) / 1_000;
  const { user, system } = process.cpuUsage(before.own);
  return { seconds, cpu: cpuOf(postgres as number) - before.server + (user + system) / 1_000 };
}

const printRatio = ({ speed, cpu }: Ratio) => `ratio ${speed.toFixed(2)} (CPU ${cpu.toFixed(2)})`;

const changeEvery = 100;

function makeFiles(rows: number) {
  const more = (row: Record<string, unknown>) => ({ ...row, stock: (row.stock as number) + 1 }) as never;
  return {
    rows,
    first: makeBulkCsv({ rows }),
    hundredth: makeBulkCsv({ rows, change: (row, number) => (number % changeEvery === 0 ? more(row) : row) }),
    // Begins in the middle of the existing rows: half of the file's rows change, the others are
    // new.
    upsert: makeBulkCsv({ rows, from: rows / 2, change: (row) => more(more(row)) }),
    more: makeBulkCsv({ rows, from: rows * 2 }),
  };
}

/** In this order on one table: each measure starts with the result of the one before. */
function measures(api: Api, table: DeployedTable, { rows, ...files }: ReturnType<typeof makeFiles>): Measure[] {
  const load = (csv: Buffer, pattern: 'full' | 'incremental' = 'full') => importFile(api, table, csv, pattern);
  const past = { pattern: 'incremental', high_water_mark: '2000-01-01T00:00:00.000Z' };
  const give = async (how: Record<string, unknown>) => (await runExport(api, table, rows, how)).seconds;
  return [
    { name: 'import, empty table', beside: 'in', rows, goal: 0.95, run: () => load(files.first) },
    { name: 'import, unchanged', beside: 'in', rows, goal: 1.4, run: () => load(files.first) },
    { name: 'import, 1 % changed', beside: 'in', rows, run: () => load(files.hundredth) },
    { name: 'export, CSV', beside: 'out', rows, goal: 0.85, run: () => give({}) },
    { name: 'export, CSV, incremental', beside: 'out', rows, goal: 0.85, run: () => give(past) },
    { name: 'export, CSV, gzip', beside: 'out', rows, run: () => give({ gzip: true }) },
    { name: 'export, Parquet', beside: 'out', rows, goal: 0.45, run: () => give({ format: 'parquet' }) },
    {
      name: 'import, half changed, half new',
      beside: 'in',
      rows,
      goal: 0.7,
      run: () => load(files.upsert, 'incremental'),
    },
    { name: 'import, new rows only', beside: 'in', rows, run: () => load(files.more, 'incremental') },
  ];
}

/** Prints the results. */
export function printBulk(results: BulkComparison[], say: (text: string) => void): void {
  say('\nwhole files, rows a second; ratio to COPY FROM into the finished table, or to COPY TO (medians)');
  for (const { name, perSecond, ratios, goal } of results) {
    const ratio = { speed: median(ratios.map(({ speed }) => speed)), cpu: median(ratios.map(({ cpu }) => cpu)) };
    const aim = goal === undefined ? '' : `   goal ${goal.toFixed(2)} ${ratio.speed >= goal ? 'met' : 'missed'}`;
    const number = Math.round(perSecond).toLocaleString('en').padStart(10);
    say(`${name.padEnd(31)} ${number}   ${printRatio(ratio)}${aim}`);
  }
  say('\nwhat the round cost in which memory grew most: seconds of CPU; memory before → at most');
  for (const { name, cost } of results)
    say(`${name.padEnd(31)} ${printCpu(cost)}\n${' '.repeat(32)}${printMemory(cost)}`);
}
