// Puts a range, the chosen rows, or else the cell with the focus, on the clipboard.
import type { GridApi } from 'ag-grid-community';
import type { Row } from '../api/queries.ts';
import { plainText } from '../cells/cell-text.ts';
import { writeHtmlTable, writeTsv } from '../cells/tsv.ts';
import type { CellRange } from './range/cell-range.ts';
import { columnsOf, focusedRange, nodeAt } from './range/grid-cells.ts';

/**
 * The cells to copy, as the API sends them and with their edits; rows are copied below the names of
 * their columns. Undefined when rows of the range are not loaded.
 */
export function copiedCells(api: GridApi<Row>, range: CellRange | undefined): string[][] | undefined {
  if (range) return cellsOfRange(api, range);
  const rows = api.getSelectedNodes();
  if (rows.length > 0) {
    const shown = columnsOf(api);
    return [shown, ...rows.map((rowNode) => shown.map((colKey) => plainText(api.getCellValue({ rowNode, colKey }))))];
  }
  const focused = focusedRange(api);
  return (focused && cellsOfRange(api, focused)) ?? [];
}

function cellsOfRange(api: GridApi<Row>, { isNew, top, bottom, columns }: CellRange): string[][] | undefined {
  const lines: string[][] = [];
  for (let row = top; row <= bottom; row += 1) {
    const rowNode = nodeAt(api, row, isNew);
    if (!rowNode?.data) return undefined;
    lines.push(columns.map((colKey) => plainText(api.getCellValue({ rowNode, colKey }))));
  }
  return lines;
}

/** Fills the clipboard of a copy event; without a cell to copy the browser copies the selection. */
export function copyInto(event: ClipboardEvent, cells: string[][]): void {
  if (cells.length === 0 || !event.clipboardData) return;
  event.clipboardData.setData('text/plain', writeTsv(cells));
  if (cells.length > 1) event.clipboardData.setData('text/html', writeHtmlTable(cells));
  event.preventDefault();
}
