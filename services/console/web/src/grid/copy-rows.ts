// Puts the chosen rows, or else the cell with the focus, on the clipboard.
import type { GridApi } from 'ag-grid-community';
import type { Row } from '../api/queries.ts';
import { plainText } from '../cells/cell-text.ts';
import { writeHtmlTable, writeTsv } from '../cells/tsv.ts';

/** The cells to copy, as the API sends them; rows are copied below the names of their columns. */
export function copiedCells(api: GridApi<Row>): string[][] {
  const names = api.getAllDisplayedColumns().map((column) => column.getColId());
  const rows = api.getSelectedRows();
  if (rows.length > 0) {
    const shown = names.filter((name) => !name.startsWith('ag-Grid-'));
    return [shown, ...rows.map((row) => shown.map((name) => plainText(row[name])))];
  }
  const cell = api.getFocusedCell();
  const row = cell ? api.getDisplayedRowAtIndex(cell.rowIndex)?.data : undefined;
  return cell && row ? [[plainText(row[cell.column.getColId()])]] : [];
}

/** Fills the clipboard of a copy event; without a cell to copy the browser copies the selection. */
export function copyInto(event: ClipboardEvent, cells: string[][]): void {
  if (cells.length === 0 || !event.clipboardData) return;
  event.clipboardData.setData('text/plain', writeTsv(cells));
  if (cells.length > 1) event.clipboardData.setData('text/html', writeHtmlTable(cells));
  event.preventDefault();
}
