// A React component around AG Grid's plain interface. Its options are set once: with a React
// wrapper every render would apply the columns again, which closes an open filter.
import { type ColDef, createGrid, type GridApi, type GridOptions } from 'ag-grid-community';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { Filters, SortOrder } from '../address/view.ts';
import type { Row } from '../api/queries.ts';
import { copiedCells, copyInto } from './copy-rows.ts';
import './grid.css';
import { gridTheme } from './grid-theme.ts';
import { registerGridModules } from './modules.ts';
import { createRowSource, type RowQuery } from './row-source.ts';

export type GridProps = {
  label: string;
  columns: ColDef<Row>[];
  texts: Record<string, string>;
  query: RowQuery;
  filters: Filters;
  sort: readonly SortOrder[];
  /** The row in the panel. */
  openRow: number | undefined;
  onView: (view: { filters: Filters; sort: SortOrder[] }) => void;
  onOpen: (id: number) => void;
  /** The focus has moved to a row; while the panel is open it follows. */
  onFocusRow: (id: number) => void;
  onLoaded: (rowCount: number) => void;
  onFailed: (error: unknown) => void;
};

registerGridModules();

/** The rows of a table: a window of them at a time, however many there are. */
export function Grid({ query, filters, sort, columns, openRow, ...props }: GridProps) {
  const container = useRef<HTMLDivElement>(null);
  const [api, setApi] = useState<GridApi<Row>>();
  const openRowNow = useRef(openRow);

  const onView = useEffectEvent((view: Parameters<GridProps['onView']>[0]) => props.onView(view));
  const onOpen = useEffectEvent((id: number) => props.onOpen(id));
  const onFocusRow = useEffectEvent((id: number) => props.onFocusRow(id));
  const onLoaded = useEffectEvent((rowCount: number) => props.onLoaded(rowCount));
  const onFailed = useEffectEvent((error: unknown) => props.onFailed(error));
  const textsNow = useEffectEvent(() => props.texts);

  useEffect(() => {
    const texts = textsNow();
    const made: GridApi<Row> = createGrid(container.current as HTMLDivElement, {
      ...fixedOptions,
      columnDefs: columns,
      localeText: texts,
      selectionColumnDef: { ...selectionColumn, headerName: texts.selectionColumn },
      styleNonce: styleNonce(),
      rowClassRules: { 'row-in-panel': ({ data }) => data !== undefined && data.svc_sk === openRowNow.current },
      onFilterChanged: ({ api }) => onView(viewOf(api)),
      onSortChanged: ({ api, source }) => {
        if (source !== 'api') onView(viewOf(api));
      },
      onCellDoubleClicked: ({ data }) => data && onOpen(data.svc_sk),
      onCellFocused: ({ api, rowIndex }) => {
        const row = rowIndex === null ? undefined : api.getDisplayedRowAtIndex(rowIndex)?.data;
        if (row) onFocusRow(row.svc_sk);
      },
      onCellKeyDown: ({ data, event }) => {
        if (data && event instanceof KeyboardEvent && event.key === 'Enter' && !event.ctrlKey) onOpen(data.svc_sk);
      },
    });
    setApi(made);
    return () => made.destroy();
  }, [columns]);

  // The address may change beside the grid: by a chip, a link or the browser's way back.
  useEffect(() => {
    if (api && !api.isDestroyed()) applyView(api, filters, sort);
  }, [api, filters, sort]);

  useEffect(() => {
    if (!api || api.isDestroyed()) return;
    api.setGridOption('datasource', createRowSource(query, { onLoaded, onFailed }));
    api.ensureIndexVisible(0, 'top');
  }, [api, query]);

  useEffect(() => {
    openRowNow.current = openRow;
    if (api && !api.isDestroyed()) api.redrawRows();
  }, [api, openRow]);

  return (
    <section
      ref={container}
      aria-label={props.label}
      style={{ height: '100%' }}
      onCopy={({ nativeEvent, target }) => {
        if (api && !(target instanceof HTMLInputElement)) copyInto(nativeEvent, copiedCells(api));
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
  // Tab leaves the grid: its cells are reached by arrows.
  tabToNextCell: () => false,
  tabToNextHeader: () => false,
};

function applyView(api: GridApi<Row>, filters: Filters, sort: readonly SortOrder[]): void {
  const now = viewOf(api);
  if (JSON.stringify(now.filters) !== JSON.stringify(filters)) api.setFilterModel(filters);
  if (JSON.stringify(now.sort) !== JSON.stringify(sort))
    api.applyColumnState({
      state: sort.map(({ column, direction }, sortIndex) => ({ colId: column, sort: direction, sortIndex })),
      defaultState: { sort: null },
    });
}

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
