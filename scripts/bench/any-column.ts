// Pages of a large table by any column, near its start, in its middle and at its end, asked for one after the other: the time that
// somebody who is alone waits for one. And searches within texts.
import type { Api } from '@almanac/api-client/api';
import type { LargeTable } from './large-tables.ts';
import { quantile } from './measuring/quantiles.ts';
import { columns, makeRow } from './tables/rows.ts';

type Page = { name: string; isSearch: boolean; body: Record<string, unknown> };
/** `hits`: how many rows the page is one of. */
type Timed = { name: string; isSearch: boolean; ms: number; hits: number };
/** `first`: before anybody has asked for anything, so without counts and indexes. */
export type PageTimes = { first: Timed[]; later: Timed[] };

const places = [0, 0.45, 0.9];
const asked = 5;

/** Asks for each page, lets the product make the indexes that calls for, then measures each a few times. */
export async function timePages(api: Api, table: LargeTable): Promise<PageTimes> {
  const pages = [...columns.flatMap(({ name, data_type }) => pagesBy(name, data_type, table.rows)), ...searches()];
  const ask = async ({ name, isSearch, body }: Page): Promise<Timed> => {
    const begun = performance.now();
    const { rowCount } = await api.post<{ rowCount: number }>('/table_data/grid', {
      table_definition_id: table.id,
      ...body,
    });
    return { name, isSearch, ms: performance.now() - begun, hits: rowCount };
  };
  const askAll = async (times: number) => {
    const timed: Timed[] = [];
    for (let time = 0; time < times; time += 1) for (const page of pages) timed.push(await ask(page));
    return timed;
  };
  const first = await askAll(1);
  await askAll(2);
  await table.waitForIndexes();
  await askAll(1);
  return { first, later: await askAll(asked) };
}

function pagesBy(name: string, type: string, rows: number): Page[] {
  const page = (what: string, startRow: number, model: Record<string, unknown>): Page => ({
    name: `${what}, from row ${startRow}`,
    isSearch: false,
    body: { startRow, endRow: startRow + 100, ...model },
  });
  const sortModel = [{ colId: name, sort: 'asc' }];
  return [
    ...places.flatMap((share) => [
      page(`sorted by ${name}`, rows * share, { sortModel }),
      page(`most by ${name}`, rows * share, { sortModel, filterModel: { [name]: most(type) } }),
    ]),
    page(`few by ${name}`, 0, { filterModel: { [name]: few(name, type) } }),
  ];
}

const numbers = new Set(['integer', 'bigint', 'decimal', 'double']);
const days = new Set(['date', 'datetime']);

// A filter that nearly every row meets.
function most(type: string): Record<string, unknown> {
  if (numbers.has(type)) return { filterType: 'number', type: 'greaterThanOrEqual', filter: 0 };
  if (days.has(type)) return { filterType: 'date', type: 'greaterThan', dateFrom: '2010-01-01' };
  return { filterType: 'text', type: 'notEqual', filter: 'nothing has this value' };
}

// The value of one row.
function few(name: string, type: string): Record<string, unknown> {
  const value = makeRow(12_345)[name];
  if (numbers.has(type)) return { filterType: 'number', type: 'equals', filter: value };
  if (days.has(type)) return { filterType: 'date', type: 'equals', dateFrom: String(value).slice(0, 10) };
  return { filterType: 'text', type: 'equals', filter: String(value) };
}

function searches(): Page[] {
  const search = (name: string, filter: string): Page => ({
    name: `${name} contains ${filter}`,
    isSearch: true,
    body: { startRow: 0, endRow: 100, filterModel: { [name]: { filterType: 'text', type: 'contains', filter } } },
  });
  return [
    search('name', String(makeRow(12_345).name).slice(0, 3)),
    search('name', String(makeRow(12_345).name).slice(0, 8)),
    search('name', 'mim'),
    search('supplier', String(makeRow(777).supplier).slice(0, 5)),
    search('supplier', 'gog'),
    search('remark', 'aisle 17, shelf bab'),
    search('code', '012'),
  ];
}

/** Says what was measured, with the slowest pages by name. */
export function tellPageTimes({ first, later }: PageTimes, say: (text: string) => void): void {
  const line = (what: string, timed: Timed[]) => {
    const ms = timed.map((each) => each.ms);
    const at = (share: number) => quantile(ms, share).toFixed(1);
    say(`${what.padEnd(44)} ${ms.length} pages: p50 ${at(0.5)}, p95 ${at(0.95)}, longest ${at(1)} ms`);
  };
  say('\nany column, one caller');
  for (const isSearch of [false, true]) {
    const only = (timed: Timed[]) => timed.filter((each) => each.isSearch === isSearch);
    const what = isSearch ? 'contains 3 letters or more' : 'filter and sort';
    line(`${what}, asked the first time`, only(first));
    line(`${what}, later`, only(later));
    // What a search costs hangs on how many rows it finds, so all of them are told.
    for (const { name, ms, hits } of isSearch ? byName(only(later)) : byName(only(later)).slice(0, 5))
      say(`    ${ms.toFixed(1)} ms  ${name}: ${hits.toLocaleString('en')} rows`);
  }
}

/** The median of each page, the slowest first. */
function byName(timed: Timed[]): Timed[] {
  const pages = [...Map.groupBy(timed, ({ name }) => name).values()];
  return pages
    .map((each) => each.toSorted((a, b) => a.ms - b.ms)[each.length >> 1] as Timed)
    .toSorted((a, b) => b.ms - a.ms);
}
