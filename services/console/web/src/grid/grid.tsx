// A React component around AG Grid's plain interface. Its options are set once: with a React
// wrapper every render would apply the columns again, which closes an open filter.
import { type ColDef, type ColumnEventType, createGrid, type GridApi, type GridOptions } from 'ag-grid-community';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { ColumnLayout } from '../address/column-layout.ts';
import type { Filters, SortOrder } from '../address/view.ts';
import type { Row } from '../api/queries.ts';
import { copiedCells, copyInto } from './copy-rows.ts';
import { editingOptions } from './editing.ts';
import type { EditedValue } from './editors/edited-value.ts';
import './grid.css';
import { gridTheme } from './grid-theme.ts';
import { applyLayout, layoutOf } from './layout.ts';
import { registerGridModules } from './modules.ts';
import { type CellRange, type GridPlace, movedDown, type RangeFill } from './range/cell-range.ts';
import { columnsOf, focusedRange, nodeAt } from './range/grid-cells.ts';
import { createRangeSelection, type RangeSelection } from './range/range-selection.ts';
import type { RowQuery } from './rows/row-source.ts';
import { createRowWindow, type RowWindow } from './rows/row-window.ts';

/** What a page does to the grid beside its properties. */
export type GridHandle = {
  /** Shows rows as they are now, where they are loaded. */
  write: (rows: Iterable<Row>) => void;
  /** Loads the rows in view again; focus and place stay. */
  reload: () => void;
  clearSelection: () => void;
  /** The rows of a range as they were loaded; undefined where they are not. */
  rowsAt: (range: CellRange) => (Row | undefined)[];
  /** Shows a row, counted from the first of all, and gives it the focus. */
  goTo: (row: number) => void;
};

export type GridProps = {
  label: string;
  columns: ColDef<Row>[];
  texts: Record<string, string>;
  /** Undefined while it is not known yet which rows to show: the grid waits. */
  query: RowQuery | undefined;
  filters: Filters;
  sort: readonly SortOrder[];
  layout: ColumnLayout;
  /** The row in the panel. */
  openRow: number | undefined;
  onView: (view: { filters: Filters; sort: SortOrder[] }) => void;
  /** Columns were moved, resized or hidden. */
  onLayout: (layout: ColumnLayout) => void;
  onOpen: (id: number) => void;
  /** The focus has moved to a row; while the panel is open it follows. */
  onFocusRow: (id: number) => void;
  onLoaded: (rowCount: number) => void;
  onFailed: (error: unknown) => void;
  onReady: (handle: GridHandle) => void;
  /** New rows, which stand above all others. */
  newRows: readonly Row[];
  /** One of the new rows, to begin with as soon as it is there. */
  enteredRow: number | undefined;
  /** Another object whenever cells look different. */
  look: object;
  /** Values are entered or cleared. */
  onEnter: (row: Row, column: string, entered: EditedValue) => void;
  /** Into the range of more than one cell, or else from the focused cell on. */
  onPaste: (text: string, target: { place: GridPlace; range: CellRange | undefined; columns: string[] }) => void;
  /** `columns`: all as they are shown. */
  onFill: (fill: RangeFill, columns: string[]) => void;
  onClear: (range: CellRange) => void;
  /** A range is copied whose rows are not all loaded. */
  onCopy: (range: CellRange) => void;
  /** The range has as many cells; 0 without one. */
  onRange: (cells: number) => void;
  /** Whether cells may be changed. */
  canEdit: boolean;
  onDelete: (rows: Row[]) => void;
  onSelect: (rows: Row[]) => void;
  onFocusCell: (cell: { row: Row; column: string } | undefined) => void;
};

registerGridModules();

/** The rows of a table: a window of them at a time, however many there are. */
export function Grid({ query, filters, sort, layout, columns, openRow, newRows, ...props }: GridProps) {
  const { enteredRow, look } = props;
  const container = useRef<HTMLDivElement>(null);
  const [api, setApi] = useState<GridApi<Row>>();
  const openRowNow = useRef(openRow);
  const selection = useRef<RangeSelection>(null);
  const rows = useRef<RowWindow>(null);

  // Pages count rows from the first of all, the grid from the first that it has.
  const ofAll = (range: CellRange) => movedDown(range, rows.current?.offset() ?? 0);
  const onView = useEffectEvent((view: Parameters<GridProps['onView']>[0]) => props.onView(view));
  const onLayout = useEffectEvent((api: GridApi<Row>) => props.onLayout(layoutOf(api.getColumnState(), columns)));
  const onOpen = useEffectEvent((id: number) => props.onOpen(id));
  const onFocusRow = useEffectEvent((id: number) => props.onFocusRow(id));
  const onLoaded = useEffectEvent((rowCount: number) => props.onLoaded(rowCount));
  const onFailed = useEffectEvent((error: unknown) => props.onFailed(error));
  const onReady = useEffectEvent((handle: GridHandle) => props.onReady(handle));
  const onEnter = useEffectEvent((...entered: Parameters<GridProps['onEnter']>) => props.onEnter(...entered));
  const onDelete = useEffectEvent((rows: Row[]) => props.onDelete(rows));
  const onSelect = useEffectEvent((rows: Row[]) => props.onSelect(rows));
  const onFocusCell = useEffectEvent((cell: Parameters<GridProps['onFocusCell']>[0]) => props.onFocusCell(cell));
  const onFill = useEffectEvent(
    ({ source, target }: RangeFill) =>
      api && props.onFill({ source: ofAll(source), target: ofAll(target) }, columnsOf(api)),
  );
  const onClear = useEffectEvent((range: CellRange) => props.onClear(ofAll(range)));
  const onRange = useEffectEvent((cells: number) => props.onRange(cells));
  const canFill = useEffectEvent(() => props.canEdit);
  const textsNow = useEffectEvent(() => props.texts);

  useEffect(() => {
    const texts = textsNow();
    const showOthers = () => {
      selection.current?.clear();
      rows.current?.restart();
    };
    const made: GridApi<Row> = createGrid(container.current as HTMLDivElement, {
      ...fixedOptions,
      columnDefs: columns,
      localeText: texts,
      selectionColumnDef: { ...selectionColumn, headerName: texts.selectionColumn },
      styleNonce: styleNonce(),
      rowClassRules: { 'row-in-panel': ({ data }) => data !== undefined && data.svc_sk === openRowNow.current },
      // What the address has set is in the address.
      onFilterChanged: ({ api, source }) => {
        showOthers();
        if (source !== 'api') onView(viewOf(api));
      },
      onSortChanged: ({ api, source }) => {
        showOthers();
        if (source !== 'api') onView(viewOf(api));
      },
      onColumnMoved: ({ api, source, finished }) => finished && isOfUser(source) && onLayout(api),
      onColumnResized: ({ api, source, finished }) => finished && isOfUser(source) && onLayout(api),
      // A column that was dragged may be hidden or pinned, too.
      onDragStopped: ({ api }) => onLayout(api),
      onCellDoubleClicked: ({ data, node, column }) => {
        if (data && !column.isCellEditable(node)) onOpen(data.svc_sk);
      },
      onCellFocused: ({ api, rowIndex, rowPinned, column }) => {
        const node = rowIndex === null ? undefined : nodeAt(api, rowIndex, rowPinned === 'top');
        const name = typeof column === 'object' ? column?.getColId() : column;
        onFocusCell(node?.data && name ? { row: node.data, column: name } : undefined);
        if (node?.data && !rowPinned) onFocusRow(node.data.svc_sk);
      },
      onCellEditRequest: ({ data, column, newValue }) => onEnter(data, column.getColId(), newValue as EditedValue),
      processRowPostCreate: ({ eRow, rowIndex }) => {
        const offset = rows.current?.offset() ?? 0;
        if (offset > 0) eRow.setAttribute('aria-rowindex', String(rowIndex + offset + 2));
      },
      onSelectionChanged: ({ api }) => onSelect(api.getSelectedRows()),
      onCellKeyDown: (cell) => {
        const { api, data, node, event } = cell;
        if (!data || !('column' in cell) || !(event instanceof KeyboardEvent)) return;
        if (event.target instanceof HTMLInputElement) return;
        const { column } = cell;
        const isEditable = column.isCellEditable(node);
        const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
        if (key === 'Enter' && !ctrlKey && (altKey || !isEditable)) onOpen(data.svc_sk);
        if (key !== 'Delete' && key !== 'Backspace') return;
        const selected = api.getSelectedRows();
        const range = selection.current?.range();
        if ((ctrlKey || metaKey) && shiftKey) onDelete(selected.length > 0 ? selected : [data]);
        else if (range) onClear(range);
        else if (isEditable) onEnter(data, column.getColId(), { value: null, label: undefined });
      },
    });
    selection.current = createRangeSelection(container.current as HTMLElement, made, { onRange, onFill, canFill });
    const onSlide = (moved: number) => selection.current?.moveDown(moved);
    rows.current = createRowWindow(container.current as HTMLElement, made, { onLoaded, onFailed, onSlide });
    onReady({
      write: (rows) => {
        for (const row of rows) made.getRowNode(String(row.svc_sk))?.setData(row);
      },
      reload: () => {
        selection.current?.clear();
        made.refreshInfiniteCache();
      },
      clearSelection: () => made.deselectAll(),
      rowsAt: (range) => rowsAt(made, movedDown(range, -(rows.current?.offset() ?? 0))),
      goTo: (row) => rows.current?.goTo(row),
    });
    setApi(made);
    return () => {
      selection.current?.destroy();
      rows.current?.destroy();
      made.destroy();
    };
  }, [columns]);

  // The address may change beside the grid: by a chip, a link or the browser's way back.
  useEffect(() => {
    if (api && !api.isDestroyed()) applyView(api, filters, sort);
  }, [api, filters, sort]);

  useEffect(() => {
    if (api && !api.isDestroyed()) applyLayout(api, layout, columns);
  }, [api, layout, columns]);

  useEffect(() => {
    if (!api || api.isDestroyed() || !query) return;
    selection.current?.clear();
    rows.current?.load(query);
  }, [api, query]);

  useEffect(() => {
    openRowNow.current = openRow;
    if (api && !api.isDestroyed()) api.redrawRows();
  }, [api, openRow]);

  useEffect(() => {
    if (!api || api.isDestroyed()) return;
    selection.current?.clear();
    api.setGridOption('pinnedTopRowData', [...newRows]);
  }, [api, newRows]);

  useEffect(() => {
    if (api && !api.isDestroyed() && enteredRow !== undefined) enterRow(api, enteredRow);
  }, [api, enteredRow]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: cells look different with another look.
  useEffect(() => {
    if (api && !api.isDestroyed()) api.refreshCells({ force: true });
  }, [api, look]);

  return (
    <section
      ref={container}
      aria-label={props.label}
      style={{ height: '100%' }}
      onCopy={({ nativeEvent, target }) => {
        if (!api || target instanceof HTMLInputElement) return;
        const range = selection.current?.range();
        const cells = copiedCells(api, range);
        if (cells) return copyInto(nativeEvent, cells);
        nativeEvent.preventDefault();
        if (range) props.onCopy(ofAll(range));
      }}
      onPaste={(event) => {
        const focused = api && focusedRange(api);
        if (!focused || event.target instanceof HTMLInputElement) return;
        event.preventDefault();
        const range = selection.current?.range();
        const target = ofAll(range ?? focused);
        const place = { column: target.columns[0] ?? '', row: target.top, isNew: target.isNew };
        const text = event.clipboardData.getData('text/plain');
        props.onPaste(text, { place, range: range && target, columns: columnsOf(api) });
      }}
    />
  );
}

// Its name is for screen readers: the column is as wide as a box.
const selectionColumn = { pinned: 'left', width: 44, headerClass: 'header-for-readers' } as const;

const fixedOptions: GridOptions<Row> = {
  theme: gridTheme,
  rowModelType: 'infinite',
  cacheBlockSize: 200,
  maxBlocksInCache: 40,
  blockLoadDebounceMillis: 60,
  getRowId: ({ data }) => String(data.svc_sk),
  multiSortKey: 'ctrl',
  rowSelection: { mode: 'multiRow', headerCheckbox: false, enableClickSelection: false },
  tooltipShowDelay: 600,
  ...editingOptions,
};

function rowsAt(api: GridApi<Row>, { isNew, top, bottom }: CellRange): (Row | undefined)[] {
  return Array.from({ length: bottom - top + 1 }, (_, place) => nodeAt(api, top + place, isNew)?.data);
}

/** Begins to edit the first cell of a new row. */
function enterRow(api: GridApi<Row>, id: number): void {
  for (let place = 0; place < api.getPinnedTopRowCount(); place += 1) {
    const node = api.getPinnedTopRow(place);
    if (!node || node.data?.svc_sk !== id) continue;
    const colKey = api.getAllDisplayedColumns().find((column) => column.isCellEditable(node));
    if (colKey) api.startEditingCell({ rowIndex: place, rowPinned: 'top', colKey });
  }
}

function applyView(api: GridApi<Row>, filters: Filters, sort: readonly SortOrder[]): void {
  const now = viewOf(api);
  if (JSON.stringify(now.sort) !== JSON.stringify(sort))
    api.applyColumnState({
      state: sort.map(({ column, direction }, sortIndex) => ({ colId: column, sort: direction, sortIndex })),
      defaultState: { sort: null },
    });
  if (JSON.stringify(now.filters) !== JSON.stringify(filters)) api.setFilterModel(filters);
}

const isOfUser = (source: ColumnEventType) => source.startsWith('ui') || source === 'autosizeColumns';

function viewOf(api: GridApi<Row>): { filters: Filters; sort: SortOrder[] } {
  const sorted = api.getColumnState().filter(({ sort }) => sort !== null && sort !== undefined);
  const sort = sorted
    .toSorted((a, b) => (a.sortIndex ?? 0) - (b.sortIndex ?? 0))
    .map(({ colId, sort }) => ({ column: colId, direction: sort === 'desc' ? ('desc' as const) : ('asc' as const) }));
  return { filters: api.getFilterModel() ?? {}, sort };
}

// The nonce that the page's policy allows styles with; the grid adds its styles at run time.
function styleNonce(): string | undefined {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce || undefined;
}
