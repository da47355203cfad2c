// The part of the rows that the grid has. Browsers place inexactly what lies beyond 16.7 million
// pixels, so of very many rows the grid has a window, which slides when one comes to its ends.
import type { GridApi } from 'ag-grid-community';
import type { Row } from '../../api/queries.ts';
import { columnsOf } from '../range/grid-cells.ts';
import { createRowSource, type RowQuery, type RowSourceEvents } from './row-source.ts';
import { isFilled, mostRows, offsetAround, rowsInWindow, slidesAt } from './window-place.ts';

export type RowWindow = {
  /** How many rows there are before the first of the grid. */
  offset: () => number;
  /** Shows the rows of a query from the first one on. */
  load: (query: RowQuery) => void;
  /** Other rows are shown, or in another order: from the first one on. */
  restart: () => void;
  /** Shows a row, counted from the first of all, and gives it the focus. */
  goTo: (row: number) => void;
  destroy: () => void;
};

type WindowEvents = RowSourceEvents & {
  /** Rows are so many places further down in the grid than before. */
  onSlide: (rows: number) => void;
};

export function createRowWindow(
  container: HTMLElement,
  api: GridApi<Row>,
  { onLoaded, onFailed, onSlide }: WindowEvents,
): RowWindow {
  let query: RowQuery | undefined;
  let offset = 0;
  let total = 0;
  /** The row to which the window has slid, until its rows are there. */
  let shownFirst: number | undefined;

  const loaded = (rowCount: number) => {
    total = rowCount;
    onLoaded(rowCount);
    // Before it knew how high the rows are, the browser may have cut the scroll position off.
    if (shownFirst !== undefined) api.ensureIndexVisible(shownFirst - offset, 'top');
    shownFirst = undefined;
    if (!isFilled(total, offset)) slideTo(Math.max(0, Math.min(offset, total - 1)));
  };
  const setSource = () => {
    if (query) api.setGridOption('datasource', createRowSource(query, offset, { onLoaded: loaded, onFailed }));
  };

  const slideTo = (row: number) => {
    const focused = api.getFocusedCell();
    const before = offset;
    // What is being edited is entered while its row is there.
    api.stopEditing();
    offset = offsetAround(row, total);
    onSlide(before - offset);
    setSource();
    api.setRowCount(rowsInWindow(total, offset), true);
    shownFirst = row;
    api.ensureIndexVisible(row - offset, 'top');
    if (!focused || focused.rowPinned || !container.contains(document.activeElement)) return;
    const place = focused.rowIndex + before - offset;
    if (place >= 0 && place < rowsInWindow(total, offset)) api.setFocusedCell(place, focused.column);
    else api.clearFocusedCell();
  };

  const goTo = (row: number) => {
    const place = Math.max(0, Math.min(total - 1, row));
    const isWithin = place >= offset && place < offset + rowsInWindow(total, offset);
    if (isWithin) api.ensureIndexVisible(place - offset, 'middle');
    else slideTo(place);
    const [first] = columnsOf(api);
    if (first) api.setFocusedCell(place - offset, first);
  };

  const onScrolled = () => {
    const { top, bottom } = api.getVerticalPixelRange();
    const height = api.getDisplayedRowAtIndex(api.getFirstDisplayedRowIndex())?.rowHeight ?? 1;
    const shown = { first: Math.floor(top / height), last: Math.floor(bottom / height) };
    if (slidesAt(shown, total, offset)) slideTo(offset + shown.first);
  };
  // What the grid tells screen readers counts all rows, not only its own.
  const countRows = () => {
    if (total > mostRows)
      container.querySelector('[role=grid], [role=treegrid]')?.setAttribute('aria-rowcount', String(total + 1));
  };
  const onKey = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, shiftKey, target } = event;
    const isInCell = target instanceof Element && target.matches('.ag-cell');
    if (total <= mostRows || !isInCell || shiftKey || !(ctrlKey || metaKey)) return;
    if (key !== 'Home' && key !== 'End') return;
    event.preventDefault();
    event.stopPropagation();
    goTo(key === 'Home' ? 0 : total - 1);
  };
  api.addEventListener('bodyScrollEnd', onScrolled);
  for (const event of ['modelUpdated', 'viewportChanged', 'pinnedRowDataChanged'] as const)
    api.addEventListener(event, countRows);
  container.addEventListener('keydown', onKey, true);

  const load = (next: RowQuery) => {
    query = next;
    offset = 0;
    shownFirst = undefined;
    setSource();
    api.ensureIndexVisible(0, 'top');
  };
  return {
    offset: () => offset,
    load,
    restart: () => query && offset > 0 && load(query),
    goTo,
    destroy: () => container.removeEventListener('keydown', onKey, true),
  };
}
