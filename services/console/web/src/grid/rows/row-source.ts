// Feeds the grid, and the cards of a phone, with windows of rows.
import type { IDatasource, IGetRowsParams } from 'ag-grid-community';
import type { Filters, SortOrder } from '../../address/view.ts';
import { client, type Schemas } from '../../api/client.ts';
import type { Row } from '../../api/queries.ts';
import { rowsInWindow } from './window-place.ts';

/** What decides which rows there are, besides the filters and the sort. */
export type RowQuery = {
  tableId: number;
  q: string | undefined;
  asOf: string | undefined;
  /** Counted up to load all rows again. */
  generation: number;
};

export type RowWindow = { filters: Filters; sort: readonly SortOrder[]; start: number; end: number };

/** What is asked of the API for a window of rows, with the labels of what they refer to. */
export function gridRequest(
  { tableId, q, asOf }: Omit<RowQuery, 'generation'>,
  { filters, sort, start, end }: RowWindow,
): Schemas['QueryGridRequest'] {
  return {
    table_definition_id: tableId,
    startRow: start,
    endRow: end,
    filterModel: filters,
    sortModel: sort.map(({ column, direction }) => ({ colId: column, sort: direction })),
    include_lookups: true,
    ...(q && { q }),
    ...(asOf && { as_of: asOf }),
  };
}

/** The rows from `start` to before `end`. */
export async function fetchRows(
  query: RowQuery,
  window: RowWindow,
  signal?: AbortSignal,
): Promise<{ rows: Row[]; rowCount: number }> {
  const { rows, rowCount } = await client.post('/table_data/grid', {
    body: gridRequest(query, window),
    ...(signal && { signal }),
  });
  return { rows: rows as Row[], rowCount };
}

export type RowSourceEvents = {
  onLoaded: (rowCount: number) => void;
  onFailed: (error: unknown) => void;
};

/**
 * A source of rows, of which `offset` are before the first of the grid. A new query or offset needs
 * a new source. Calls under way end with it.
 */
export function createRowSource(query: RowQuery, offset: number, events: RowSourceEvents): IDatasource {
  const ended = new AbortController();
  const getRows = async ({ startRow, endRow, filterModel, sortModel, ...params }: IGetRowsParams) => {
    const sort = sortModel.map(({ colId, sort }) => ({ column: colId, direction: sort }));
    try {
      const place = { start: startRow + offset, end: endRow + offset };
      const found = await fetchRows(query, { filters: filterModel, sort, ...place }, ended.signal);
      ended.signal.throwIfAborted();
      params.successCallback(found.rows, rowsInWindow(found.rowCount, offset));
      events.onLoaded(found.rowCount);
    } catch (error) {
      // Also when the source has ended: the grid makes two calls at a time, of all sources.
      params.failCallback();
      if (!ended.signal.aborted) events.onFailed(error);
    }
  };
  return { getRows: (params) => void getRows(params), destroy: () => ended.abort() };
}
