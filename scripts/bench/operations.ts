// What is compared: the same work asked of the product, through the gateway or at the data service, and of the bare server.
import { makeRow } from './rows.ts';

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
const startOf = (number: number) => ((number * 7) % windows) * pageRows;
const categoryOf = (number: number) => 1 + ((number * 5) % filterValues);

/** Pages of the grid: of one filter, an order and the exact number of matches; and of an order alone, which the bare server doesn't count. */
export function pageOperations(tableId: number): Operation[] {
  const page = (number: number, more: Record<string, unknown>) => ({
    method: 'POST',
    path: '/api/v1/table_data/grid',
    body: {
      table_definition_id: tableId,
      startRow: startOf(number),
      endRow: startOf(number) + pageRows,
      sortModel: [{ colId: 'price', sort: 'asc' }],
      ...more,
    },
  });
  return [
    {
      name: 'grid page: filter, sort, 100 rows, exact count',
      product: (number) =>
        page(number, {
          filterModel: { category_id: { filterType: 'number', type: 'equals', filter: categoryOf(number) } },
        }),
      bare: (number) => ({
        method: 'POST',
        path: '/filtered',
        body: { startRow: startOf(number), category: categoryOf(number) },
      }),
    },
    {
      name: 'grid page: sort, 100 rows (the bare server counts nothing)',
      product: (number) => page(number, {}),
      bare: (number) => ({ method: 'POST', path: '/sorted', body: { startRow: startOf(number) } }),
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
