// The cells of the grid by the columns of the table and the places of rows.
import type { GridApi } from 'ag-grid-community';
import type { CellRange } from './cell-range.ts';

/** The boxes beside the rows are the grid's. */
export const isOfTable = (column: string) => !column.startsWith('ag-Grid-');

/** The columns of the table as they are shown. */
export const columnsOf = <Row>(api: GridApi<Row>): string[] =>
  api
    .getAllDisplayedColumns()
    .map((column) => column.getColId())
    .filter(isOfTable);

/** The row at a place; one of the new rows where `isNew`. */
export const nodeAt = <Row>(api: GridApi<Row>, row: number, isNew: boolean) =>
  isNew ? api.getPinnedTopRow(row) : api.getDisplayedRowAtIndex(row);

/** The cell with the focus, as a range. */
export function focusedRange<Row>(api: GridApi<Row>): CellRange | undefined {
  const cell = api.getFocusedCell();
  if (!cell) return undefined;
  const { rowIndex: top, rowPinned, column } = cell;
  return { isNew: rowPinned === 'top', top, bottom: top, columns: [column.getColId()] };
}
