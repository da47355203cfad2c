// A change request over a tenth of a large table: its operations are read, extended and decided;
// then such requests are rehearsed and applied.
import pg from 'pg';
import type { Product } from '../measuring/product.ts';
import { deployCategories, deployProducts, importFile } from '../tables/imports.ts';
import { makeCsv } from '../tables/rows.ts';
import { type ApplicationTimes, timeApplications } from './applications.ts';
import { type ReviewTimes, timeReviews } from './reviews.ts';

type Given = { product: Product; rows: number; rounds: number; say(text: string): void };
export type ChangeRequestTimes = { rows: number; operations: number; reviews: ReviewTimes; applied: ApplicationTimes };

/** The seconds that a caller waits. */
export async function timeChangeRequests({ product, rows, rounds, say }: Given): Promise<ChangeRequestTimes> {
  const categories = await deployCategories(product.api);
  const products = await deployProducts(product.api, 'Requested products', categories);
  await importFile(product.api, products, makeCsv(rows));
  const client = new pg.Client({ connectionString: product.databaseUrl('almanac_data') });
  await client.connect();
  const operations = rows / 10;
  try {
    const given = { product, client, tables: { products: products.id, categories }, operations, rounds, say };
    const reviews = await timeReviews(given);
    return { rows, operations, reviews, applied: await timeApplications(given) };
  } finally {
    await client.end();
  }
}

/** Prints the times. */
export function printChangeRequests(
  { rows, operations, reviews, applied }: ChangeRequestTimes,
  say: (text: string) => void,
): void {
  const number = (value: number) => value.toLocaleString('en');
  const line = (name: string, seconds: number, cpu?: number) =>
    say(`${name.padEnd(44)} ${seconds.toFixed(2)} s${cpu === undefined ? '' : `, ${cpu.toFixed(0)} ms of CPU`}`);
  say(`\na change request of ${number(operations)} operations over ${number(rows)} rows`);
  for (const [name, { seconds, cpu }] of Object.entries(reviews)) line(name, seconds, cpu);
  line('rehearsal', applied.rehearsal);
  line('application', applied.application);
}
