// What is compared: the same work asked of the product, through the gateway or at the data service, and of the bare server.
import { makeRow } from './tables/rows.ts';

export type Request = { method: string; path: string; body?: unknown };

export type Operation = {
  name: string;
  /** The request of this number. A side's numbers never come again, so no row is created twice. */
  product(number: number): Request;
  bare(number: number): Request;
};

const windows = 10;
const pageRows = 100;
const filterValues = 16; // so many people, each with a filter of his own, paging
const categoryOf = (number: number) => 1 + ((number * 5) % filterValues);

/** Where pages begin: at the same ten rows again and again, or each somewhere else, so that with a filter none of 14,000 is like another. */
const starts = {
  'asked for again': (number: number) => ((number * 7) % windows) * pageRows,
  'each another': (number: number) => (number * 7) % ((windows - 1) * pageRows + 1),
};

/** Pages of the grid: of one filter, an order and the exact number of matches; and of an order alone, which the bare server doesn't count. */
export function pageOperations(tableId: number): Operation[] {
  const page = (startRow: number, more: Record<string, unknown>) => ({
    method: 'POST',
    path: '/api/v1/table_data/grid',
    body: {
      table_definition_id: tableId,
      startRow,
      endRow: startRow + pageRows,
      sortModel: [{ colId: 'price', sort: 'asc' }],
      ...more,
    },
  });
  const filtered = (which: keyof typeof starts): Operation => ({
    name: `grid page, ${which}: filter, sort, 100 rows, exact count`,
    product: (number) =>
      page(starts[which](number), {
        filterModel: { category_id: { filterType: 'number', type: 'equals', filter: categoryOf(number) } },
      }),
    bare: (number) => ({
      method: 'POST',
      path: '/filtered',
      body: { startRow: starts[which](number), category: categoryOf(number) },
    }),
  });
  return [
    filtered('each another'),
    filtered('asked for again'),
    {
      name: 'grid page, asked for again: sort, 100 rows (the bare server counts nothing)',
      product: (number) => page(starts['asked for again'](number), {}),
      bare: (number) => ({ method: 'POST', path: '/sorted', body: { startRow: starts['asked for again'](number) } }),
    },
  ];
}

/** Reading, creating and changing one row. */
export function rowOperations(tableId: number, rows: number): Operation[] {
  const idOf = (number: number) => 1 + ((number * 7_919) % rows);
  const changed = (number: number) => ({ stock: number % 5_000 });
  return [
    {
      name: 'row read',
      product: (number) => ({
        method: 'GET',
        path: `/api/v1/table_data/${idOf(number)}?table_definition_id=${tableId}`,
      }),
      bare: (number) => ({ method: 'GET', path: `/rows/${idOf(number)}` }),
    },
    {
      name: 'create',
      product: (number) => ({
        method: 'POST',
        path: '/api/v1/table_data',
        body: { table_definition_id: tableId, record: makeRow(number, 'N') },
      }),
      bare: (number) => ({ method: 'POST', path: '/rows', body: makeRow(number, 'N') }),
    },
    {
      name: 'update',
      product: (number) => ({
        method: 'PATCH',
        path: `/api/v1/table_data/${idOf(number)}`,
        body: { table_definition_id: tableId, record: changed(number) },
      }),
      bare: (number) => ({ method: 'PATCH', path: `/rows/${idOf(number)}`, body: changed(number) }),
    },
  ];
}
