// Lists and grids as streams of items: one page is asked for when the last item of the one before
// was taken.
import type { Call } from './calls.ts';
import type { components } from './generated/schema.ts';
import type { Row } from './records.ts';

type GridRequest = components['schemas']['QueryGridRequest'];
type Table = 'table_definition_id' | 'table_definition_key' | 'branch_id';
type Window = 'startRow' | 'endRow';

/** A grid query without its window; names the table by id, or by key and branch. */
export type Grid = ({ table_definition_id: number } | { table_definition_key: string; branch_id: number }) &
  Omit<GridRequest, Table | Window>;

const pageSize = 1_000; // the most that a page of the API holds

type Page = { data: unknown[]; meta: { page: number; total_pages: number } };
type Get = (path: string, init: object) => Promise<Page>;
type ListInit = { params?: { query?: Record<string, unknown> } };

export async function* listItems(
  get: Get,
  path: string,
  init: ListInit = {},
): AsyncGenerator<unknown, void, undefined> {
  const query = { per_page: pageSize, ...init.params?.query };
  for (let page = Number(init.params?.query?.page ?? 1); ; page += 1) {
    const { data, meta } = await get(path, { ...init, params: { ...init.params, query: { ...query, page } } });
    yield* data;
    if (page >= meta.total_pages) return;
  }
}

export async function* listRows(
  post: Call<'post'>,
  grid: Grid,
  signal?: AbortSignal,
): AsyncGenerator<Row, void, undefined> {
  for (let startRow = 0; ; startRow += pageSize) {
    const body = { ...grid, startRow, endRow: startRow + pageSize };
    const { rows, rowCount } = await post('/table_data/grid', { body, ...(signal ? { signal } : {}) });
    yield* rows as Row[];
    if (startRow + pageSize >= rowCount) return;
  }
}
