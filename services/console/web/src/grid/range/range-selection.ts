// Ranges of cells in the grid, by mouse and by keys. The grid has no ranges itself: cells get
// classes where they are drawn, and a range ends as soon as another cell gets the focus.
import type { GridApi } from 'ag-grid-community';
import {
  type CellRange,
  cellsOf,
  fillTarget,
  fillWithin,
  type GridPlace,
  isWithin,
  movedBy,
  type RangeFill,
  rangeBetween,
} from './cell-range.ts';
import { columnsOf, isOfTable } from './grid-cells.ts';

export type RangeEvents = {
  /** The range has as many cells now; 0 without one. Called at rest, not while it grows. */
  onRange: (cells: number) => void;
  onFill: (fill: RangeFill) => void;
  /** Whether cells may be filled: then the corner can be dragged. */
  canFill: () => boolean;
};

export type RangeSelection = {
  /** The range of more than one cell. */
  range: () => CellRange | undefined;
  clear: () => void;
  /** The rows have moved so many places down in the grid. */
  moveDown: (rows: number) => void;
  destroy: () => void;
};

/** Pixels at the corner of a cell that can be dragged. */
const cornerSize = 9;
const scrollEveryMs = 60;
const restMs = 300;

const fillKeys: Partial<Record<string, 'down' | 'right'>> = { d: 'down', r: 'right' };

type Drag = { kind: 'select' | 'fill'; pointer: { x: number; y: number } };

/** Watches a grid for ranges. Not for editors: what happens in them is theirs. */
export function createRangeSelection<Row>(
  container: HTMLElement,
  api: GridApi<Row>,
  { onRange, onFill, canFill }: RangeEvents,
): RangeSelection {
  let anchor: GridPlace | undefined;
  let head: GridPlace | undefined;
  let filled: CellRange | undefined;
  let drag: Drag | undefined;
  let rest: ReturnType<typeof setTimeout> | undefined;
  let scrolling: ReturnType<typeof setInterval> | undefined;

  const order = () => columnsOf(api);
  const range = () => (anchor && head && !isSame(anchor, head) ? rangeBetween(anchor, head, order()) : undefined);
  /** The range, or else the cell with the focus. */
  const source = () => range() ?? (anchor && rangeBetween(anchor, anchor, order()));

  const paint = () => {
    const [cells, corner] = [range(), canFill() ? source() : undefined];
    for (const cell of container.querySelectorAll<HTMLElement>('.ag-cell')) {
      const place = placeOf(cell);
      const within = place !== undefined && cells !== undefined && isWithin(cells, place);
      cell.classList.toggle('cell-in-range', within);
      if (within) cell.ariaSelected = 'true';
      else cell.removeAttribute('aria-selected');
      cell.classList.toggle('cell-to-fill', place !== undefined && filled !== undefined && isWithin(filled, place));
      const isCorner =
        place?.row === corner?.bottom && place?.column === corner?.columns.at(-1) && place?.isNew === corner?.isNew;
      cell.classList.toggle('cell-corner', corner !== undefined && isCorner);
    }
  };
  const changed = () => {
    paint();
    clearTimeout(rest);
    rest = setTimeout(() => onRange(cellsIn(range())), restMs);
  };
  // Rows are drawn some time after they come into view.
  const drawn = new MutationObserver((changes) => {
    if (anchor && changes.some(({ addedNodes }) => addedNodes.length > 0)) paint();
  });
  drawn.observe(container, { childList: true, subtree: true });

  const clear = () => {
    if (!anchor) return;
    anchor = undefined;
    head = undefined;
    filled = undefined;
    changed();
  };
  const begin = (place: GridPlace) => {
    anchor = place;
    head = place;
    changed();
  };
  const growTo = (place: GridPlace) => {
    if (!anchor || place.isNew !== anchor.isNew) return;
    head = place;
    changed();
  };
  const show = ({ row, column, isNew }: GridPlace) => {
    if (!isNew) api.ensureIndexVisible(row);
    api.ensureColumnVisible(column);
  };
  const lastRow = (isNew: boolean) => (isNew ? api.getPinnedTopRowCount() : api.getDisplayedRowCount()) - 1;

  const dragTo = (place: GridPlace) => {
    if (drag?.kind === 'select') growTo(place);
    const from = source();
    if (drag?.kind !== 'fill' || !from || place.isNew !== from.isNew) return;
    filled = fillTarget(from, place, order());
    paint();
  };
  // Beyond the edge of the rows the grid scrolls, and the drag goes on.
  const scrollOn = () => {
    const body = container.querySelector('.ag-grid-viewport')?.getBoundingClientRect();
    if (!drag || !body || !head || head.isNew) return;
    const beyond = drag.pointer.y > body.bottom ? 1 : drag.pointer.y < body.top ? -1 : 0;
    if (beyond === 0) return;
    const edge = drag.kind === 'fill' && filled ? (beyond > 0 ? filled.bottom : filled.top) : head.row;
    const row = Math.max(0, Math.min(lastRow(false), edge + beyond));
    api.ensureIndexVisible(row);
    dragTo({ ...head, row });
  };
  const stopFollowing = () => {
    clearInterval(scrolling);
    document.removeEventListener('pointermove', follow);
    document.removeEventListener('pointerup', endDrag);
    document.removeEventListener('pointercancel', cancelDrag);
  };
  const cancelDrag = () => {
    stopFollowing();
    drag = undefined;
    filled = undefined;
    paint();
  };
  const endDrag = () => {
    stopFollowing();
    const from = source();
    const target = filled;
    const isFilled = drag?.kind === 'fill' && from && target;
    drag = undefined;
    filled = undefined;
    if (!isFilled) return paint();
    anchor = { row: Math.min(from.top, target.top), column: firstOf(from, target, order()), isNew: from.isNew };
    head = { row: Math.max(from.bottom, target.bottom), column: lastOf(from, target, order()), isNew: from.isNew };
    changed();
    onFill({ source: from, target });
  };
  const follow = ({ clientX, clientY, buttons }: PointerEvent) => {
    // The button was let go where nothing tells of it.
    if (buttons === 0) cancelDrag();
    if (drag) drag.pointer = { x: clientX, y: clientY };
  };
  const beginDrag = (kind: Drag['kind'], { clientX, clientY }: PointerEvent) => {
    stopFollowing();
    drag = { kind, pointer: { x: clientX, y: clientY } };
    scrolling = setInterval(scrollOn, scrollEveryMs);
    document.addEventListener('pointermove', follow);
    document.addEventListener('pointerup', endDrag);
    document.addEventListener('pointercancel', cancelDrag);
  };

  // Before the grid moves the focus: the corner is dragged, and Shift makes the range larger. The
  // press of the mouse that follows is kept from the grid, too.
  let isTaken = false;
  const onPress = (event: PointerEvent) => {
    isTaken = false;
    const cell = cellAt(event);
    const place = cell && placeOf(cell);
    if (!isPress(event) || !cell || !place) return;
    const isOnCorner = cell.classList.contains('cell-corner') && isAtCorner(cell, event);
    isTaken = isOnCorner || (event.shiftKey && anchor !== undefined);
    if (isTaken) event.stopPropagation();
    if (!isTaken) begin(place);
    else if (!isOnCorner) growTo(place);
    beginDrag(isOnCorner ? 'fill' : 'select', event);
  };
  const afterPress = (event: MouseEvent) => {
    if (!isTaken) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onOver = (event: PointerEvent) => {
    const cell = drag && cellAt(event);
    const place = cell && placeOf(cell);
    if (place) dragTo(place);
  };
  // The grid gives a cell that it has drawn again the focus that it had.
  const onFocus = (event: FocusEvent) => {
    const cell = cellAt(event);
    const place = cell && placeOf(cell);
    if (!place) clear();
    else if (!anchor || !isSame(place, anchor)) begin(place);
  };

  const takesKey = (event: KeyboardEvent): boolean => {
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    const isCommand = ctrlKey || metaKey;
    if (!anchor || !head || altKey || isInEditor(event)) return false;
    const now = range();
    if (key === 'Escape' && (now || drag)) {
      if (drag) cancelDrag();
      else growTo(anchor);
      return true;
    }
    const direction = isCommand && !shiftKey ? fillKeys[key.toLowerCase()] : undefined;
    if (now && direction && canFill()) {
      const fill = fillWithin(now, direction);
      if (fill) onFill(fill);
      return true;
    }
    const pageRows = api.getLastDisplayedRowIndex() - api.getFirstDisplayedRowIndex();
    const bounds = { order: order(), lastRow: lastRow(anchor.isNew), pageRows };
    const next = shiftKey ? movedBy(key, head, isCommand, bounds) : undefined;
    if (!next) return false;
    show(next);
    growTo(next);
    return true;
  };
  const onKey = (event: KeyboardEvent) => {
    if (!takesKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  // The grid tells of its events some time later, and then the mouse is elsewhere.
  const watched = new AbortController();
  const watching = { capture: true, signal: watched.signal };
  container.addEventListener('pointerdown', onPress, watching);
  container.addEventListener('mousedown', afterPress, watching);
  container.addEventListener('pointerover', onOver, watching);
  container.addEventListener('focusin', onFocus, watching);
  container.addEventListener('keydown', onKey, watching);
  api.addEventListener('displayedColumnsChanged', clear);
  api.addEventListener('cellEditingStarted', clear);

  return {
    range,
    clear,
    moveDown: (rows) => {
      if (anchor && !anchor.isNew) anchor = { ...anchor, row: anchor.row + rows };
      if (head && !head.isNew) head = { ...head, row: head.row + rows };
      paint();
    },
    destroy: () => {
      clearTimeout(rest);
      onRange(0);
      drawn.disconnect();
      stopFollowing();
      watched.abort();
    },
  };
}

const cellAt = ({ target }: Event) => (target instanceof Element ? target.closest<HTMLElement>('.ag-cell') : null);
const isInEditor = ({ target }: Event) =>
  target instanceof Element && target.closest('input, textarea, .ag-popup') !== null;
/** A press of the mouse outside of editors; a touch scrolls. */
const isPress = (event: PointerEvent) => event.button === 0 && event.pointerType !== 'touch' && !isInEditor(event);
const isSame = (one: GridPlace, other: GridPlace) =>
  one.row === other.row && one.column === other.column && one.isNew === other.isNew;
const cellsIn = (range: CellRange | undefined) => (range ? cellsOf(range) : 0);

function isAtCorner(cell: HTMLElement, { clientX, clientY }: MouseEvent): boolean {
  const { right, bottom } = cell.getBoundingClientRect();
  return right - clientX <= cornerSize && bottom - clientY <= cornerSize;
}

function placeOf(cell: HTMLElement): GridPlace | undefined {
  const column = cell.getAttribute('col-id');
  const index = cell.closest('.ag-row')?.getAttribute('row-index');
  if (!column || !index || !isOfTable(column)) return undefined;
  const isNew = index.startsWith('t-');
  return { column, row: Number(isNew ? index.slice(2) : index), isNew };
}

const firstOf = (one: CellRange, other: CellRange, order: readonly string[]) =>
  order.find((name) => one.columns.includes(name) || other.columns.includes(name)) ?? '';
const lastOf = (one: CellRange, other: CellRange, order: readonly string[]) =>
  order.findLast((name) => one.columns.includes(name) || other.columns.includes(name)) ?? '';
