// What a person waits for in the console, in a real browser: pages that open, rows that are
// searched, scrolled, pasted and reviewed. Each line has the budget.
import type { DeployedTable } from '@almanac/testkit/system/builders';
import type { Page } from 'playwright-core';
import type { Product } from '../measuring/product.ts';
import { median, quantile } from '../measuring/quantiles.ts';
import { deployCategories, deployProducts, importFile, loadFile } from '../tables/imports.ts';
import { makeChangedCsv, makeCsv, makeRow } from '../tables/rows.ts';
import { type Console, heapOf, openConsole, seenBy, timeAct, untilShown } from './browser.ts';

const rounds = 5;
const searches = 20;
const cell = '[role=gridcell]';

type Say = (text: string) => void;

/** Prints the times of a table of `rows` rows. */
export async function measureConsole(product: Product, rows: number, say: Say): Promise<void> {
  const table = await deployProducts(product.api, 'Shown products', await deployCategories(product.api));
  await importFile(product.api, table, makeCsv(rows));
  const request = await proposeChanges(product, table, rows);
  const opened = await openConsole(product);
  try {
    say(`\nthe console, with a table of ${rows.toLocaleString('en')} rows`);
    await measureOpening(opened, table, say);
    await measureMoves(opened, table, rows, say);
    await measureScrolling(opened, table, say);
    await measurePaste(opened, table, say);
    await measureReview(opened, request, rows / 10, say);
  } finally {
    await opened.close();
  }
}

async function measureOpening({ withPage, url }: Console, table: DeployedTable, say: Say): Promise<void> {
  const homes: number[] = [];
  const shifts: number[] = [];
  const firstRows: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await withPage(async (page) => {
      await page.goto(url('/'), { waitUntil: 'commit' });
      homes.push(await untilShown(page, 'main a', table.name));
      shifts.push((await seenBy(page)).shift);
    }, 'slow');
    await withPage(async (page) => {
      await page.goto(url(`/t/${table.key}`), { waitUntil: 'commit' });
      firstRows.push(await untilShown(page, cell));
      await page.waitForTimeout(1_000); // what moves after the rows are there
      shifts.push((await seenBy(page)).shift);
    }, 'slow');
  }
  const slow = 'a processor 4 times slower, 10 Mbit/s, 40 ms';
  line(say, `home, with its tables (${slow})`, ms(median(homes)), '2,000 ms');
  line(say, `a table: first rows (${slow})`, ms(median(firstRows)), '3,000 ms');
  line(say, 'layout shift of both, at most', Math.max(...shifts).toFixed(3), '0.05');
}

async function measureMoves({ withPage, url }: Console, table: DeployedTable, rows: number, say: Say): Promise<void> {
  await withPage(async (page) => {
    const tableLink = page.getByRole('main').getByRole('link', { name: table.name });
    const toTables = () => page.getByRole('link', { name: 'Tables', exact: true }).first().click();
    await page.goto(url('/tables'));
    const changes: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      await tableLink.waitFor();
      const there = await timeAct(page, 'click', [cell, 'P'], () => tableLink.click());
      const back = await timeAct(page, 'click', ['main a', table.name], toTables);
      if (round > 0) changes.push(there, back); // the first loads the code
    }
    line(say, 'another page that was open before', ms(median(changes)), '150 ms');
    await tableLink.click();
    await page.locator(cell).first().waitFor();
    const found: number[] = [];
    // The gateway slows down who makes more calls in a minute than a person does.
    await page.waitForTimeout(60_000);
    for (let search = 1; search <= searches; search += 1) {
      const { code } = makeRow(Math.floor((rows / (searches + 1)) * search)) as { code: string };
      const box = page.getByRole('searchbox', { name: 'Search rows' });
      found.push(await timeAct(page, 'input', [cell, code], () => box.fill(code)));
    }
    line(
      say,
      'a search over all columns, from the first key, of which 300 ms are waited for more: p50',
      ms(median(found)),
      '',
    );
    line(say, 'the same: p95', ms(quantile(found, 0.95)), '300 ms');
  });
}

async function measureScrolling({ withPage, url }: Console, table: DeployedTable, say: Say): Promise<void> {
  await withPage(async (page, devtools) => {
    await page.goto(url(`/t/${table.key}`));
    await page.locator(cell).first().hover();
    await page.waitForTimeout(2_000); // what a page loads after its rows
    const before = await seenBy(page);
    const begun = performance.now();
    for (let step = 0; step < 300; step += 1) await page.mouse.wheel(0, 60);
    const seconds = (performance.now() - begun) / 1_000;
    const after = await seenBy(page);
    const tasks = after.tasks.slice(before.tasks.length);
    line(say, 'scrolling: frames a second', ((after.frames - before.frames) / seconds).toFixed(0), '55');
    line(say, 'scrolling: longest task', ms(Math.max(0, ...tasks)), '50 ms');
    for (let step = 0; step < 400; step += 1) await page.mouse.wheel(0, 3_000);
    await page.waitForTimeout(2_000);
    line(say, 'memory after 400 screens and more were scrolled past', mb(await heapOf(devtools)), '200 MB');
  });
}

async function measurePaste({ withPage, url }: Console, table: DeployedTable, say: Say): Promise<void> {
  await withPage(async (page) => {
    await page.addInitScript("localStorage.setItem('almanac.edit-mode', 'direct')");
    await page.goto(url(`/t/${table.key}`));
    let writes = 0;
    page.on('request', (request) => {
      if (request.method() !== 'GET' && !/\/(grid|values|resolve)$/.test(new URL(request.url()).pathname)) writes += 1;
    });
    await page.getByRole('gridcell', { name: 'P000000000' }).click();
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(pastedLines())})`);
    const planned = await timeAct(page, 'paste', ['[role=dialog]', '1,000 rows'], () =>
      page.keyboard.press('Control+v'),
    );
    const begun = performance.now();
    await page.keyboard.press('Enter');
    await page.getByText('Saved', { exact: true }).waitFor();
    const saved = performance.now() - begun;
    line(say, 'a paste of 1,000 × 5 cells: planned, with its rows read', ms(planned), '');
    line(say, `the same: saved, in ${writes} calls`, ms(saved), '2,000 ms, 1 call');
  });
}

function pastedLines(): string {
  const names = ['code', 'price', 'stock', 'weight', 'supplier'];
  const lines = Array.from({ length: 1_000 }, (_, place) => `${makeRow(place).code}\t1.25\t${place}\t2.5\tPasted`);
  return [names.join('\t'), ...lines].join('\n');
}

async function measureReview({ withPage, url }: Console, request: number, changes: number, say: Say): Promise<void> {
  const firstRows: number[] = [];
  const heaps: number[] = [];
  for (let round = 0; round < rounds; round += 1)
    await withPage(async (page, devtools) => {
      await page.goto(url('/')); // the code that all pages share is loaded
      await page.goto(url(`/requests/${request}`), { waitUntil: 'commit' });
      firstRows.push(await untilShown(page, 'main tbody tr'));
      await scrollThrough(page);
      heaps.push(await heapOf(devtools));
    });
  const what = `a review of ${changes.toLocaleString('en')} changes`;
  line(say, `${what}: first rows`, ms(median(firstRows)), '1,000 ms');
  line(say, `${what}: memory`, mb(median(heaps)), '150 MB');
}

async function scrollThrough(page: Page): Promise<void> {
  await page.locator('main tbody tr').first().hover();
  for (let step = 0; step < 50; step += 1) await page.mouse.wheel(0, 3_000);
}

/** A change request that changes a tenth of the rows; returns its id. */
async function proposeChanges({ api }: Product, table: DeployedTable, rows: number): Promise<number> {
  const csv = makeChangedCsv(rows, 10, 'stock', 1);
  const { path } = await loadFile(api, table, csv, { pattern: 'incremental', dry_run: true });
  return (await api.post(`${path}/apply`, { as: 'change_request', title: 'Counted again' })).change_request_id;
}

const ms = (value: number) => `${Math.round(value).toLocaleString('en')} ms`;
const mb = (value: number) => `${value.toFixed(0)} MB`;
const line = (say: Say, what: string, measured: string, budget: string) =>
  say(`${what.padEnd(76)} ${measured.padStart(9)}${budget && `   (budget ${budget})`}`);
