// Compares pages of a table right after it was loaded, and after a tenth of its rows were changed,
// with pages of the same table when it has rested.
import { type Pace, runSlice, type Side } from './compare.ts';
import type { LargeTable } from './large-tables.ts';
import type { Product } from './measuring/product.ts';
import { median } from './measuring/quantiles.ts';
import { type Operation, pageOperations, rowOperations } from './operations.ts';
import { deployCategories, deployProducts, importFile } from './tables/imports.ts';
import { makeCsv } from './tables/rows.ts';

const firstPages = 16;
const rounds = 5;
const pagesOfRound = 500;

/** Prints CPU milliseconds a page, of the data service and PostgreSQL. */
export async function measureUpdates(
  product: Product,
  table: LargeTable,
  { warmRequests }: Pace,
  say: (text: string) => void,
): Promise<void> {
  const { data, postgres } = product.processes as Record<string, number>;
  const side = { target: product.service, processes: { data, postgres } } as Side;
  let number = 0;
  const ask = async ({ product: request }: Operation, count: number) => {
    const from = number;
    number += count;
    return runSlice(side, (n) => request(from + n), count);
  };
  const [page] = pageOperations(table.id) as [Operation];
  const [, , update] = rowOperations(table.id, table.rows) as [Operation, Operation, Operation];
  const pages = async () => {
    const cpu: number[] = [];
    for (let round = 0; round < rounds; round += 1) cpu.push((await ask(page, pagesOfRound)).cpu);
    return median(cpu);
  };
  await ask(page, warmRequests);
  await table.waitForIndexes();
  await table.rest();
  const rested = await pages();
  const line = (what: string, cpu: number) =>
    say(`${what.padEnd(52)} ${cpu.toFixed(2)} ms of CPU a page (× ${(cpu / rested).toFixed(2)})`);
  say('\ngrid pages, each another: filter, sort, 100 rows, exact count, at the data service');
  line('of a table at rest', rested);
  const updates = Math.round(table.rows / 10);
  await ask(update, updates);
  line(`right after ${updates.toLocaleString('en')} rows were changed one by one`, (await ask(page, firstPages)).cpu);
  line('then', await pages());
  const loaded = await deployProducts(product.api, 'Loaded', await deployCategories(product.api));
  await importFile(product.api, loaded, makeCsv(table.rows));
  const [first] = pageOperations(loaded.id) as [Operation];
  line('the first of a table that was just loaded', (await ask(first, firstPages)).cpu);
  await ask(first, warmRequests);
  line('then', (await ask(first, pagesOfRound)).cpu);
}
