// AG Grid itself as the reference of grid models: the real client-side row model and the real
// filters of ag-grid-community over rows in memory, in Node with a stand-in for the browser's
// document.
import type { ColDef, GridApi, GridOptions } from 'ag-grid-community';
import { Window } from 'happy-dom';
import type { Kind, Model } from './grid-reference.ts';

// biome-ignore lint/suspicious/noExplicitAny: rows of any table
type Row = any;

export type AgGrid = {
  /**
   * Opens a grid over rows, which are ordered by svc_sk because ties keep their order. The function
   * returns the rows that a model shows, in order.
   */
  open(rows: Row[], kinds: Record<string, Kind>): (model: Model) => Row[];
  close(): Promise<void>;
};

const globals = [
  'document',
  'Element',
  'HTMLElement',
  'Node',
  'Event',
  'CustomEvent',
  'KeyboardEvent',
  'MouseEvent',
  'MutationObserver',
  'ResizeObserver',
  'getComputedStyle',
  'requestAnimationFrame',
  'cancelAnimationFrame',
] as const;

/** Installs a document for a test file, and loads AG Grid. */
export async function loadAgGrid(): Promise<AgGrid> {
  const browser = new Window();
  const put = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  put('window', browser);
  for (const name of globals) put(name, browser[name]);

  const grid = await import('ag-grid-community');
  grid.ModuleRegistry.registerModules([
    grid.ClientSideRowModelModule,
    grid.ClientSideRowModelApiModule,
    grid.ColumnApiModule,
    grid.TextFilterModule,
    grid.NumberFilterModule,
    grid.BigIntFilterModule,
    grid.DateFilterModule,
  ]);
  const opened: GridApi<Row>[] = [];
  return {
    open(rowData, kinds) {
      const drawNothing = { animateRows: false, rowBuffer: 0 };
      const options: GridOptions<Row> = { rowData, columnDefs: columnsOf(kinds), ...drawNothing };
      const api = grid.createGrid(
        browser.document.createElement('div') as unknown as Parameters<typeof grid.createGrid>[0],
        options,
      );
      opened.push(api);
      return (model) => show(api, model);
    },
    async close() {
      for (const api of opened) api.destroy();
      await browser.happyDOM.close();
    },
  };
}

const ordered = [
  'equals',
  'notEqual',
  'lessThan',
  'lessThanOrEqual',
  'greaterThan',
  'greaterThanOrEqual',
  'inRange',
  'blank',
  'notBlank',
] as const;

// A column of AG Grid has one filter, ours has several: each of our columns becomes one to sort by
// and one for each filter.
function columnsOf(kinds: Record<string, Kind>): ColDef<Row>[] {
  return Object.entries(kinds).flatMap(([name, kind]) => {
    const column = (filter: string, value: (row: Row) => unknown, filterOptions?: typeof ordered): ColDef<Row> => ({
      colId: `${name} ${filter}`,
      valueGetter: ({ data }) => value(data),
      filter: `ag${filter}ColumnFilter`,
      filterParams: { maxNumConditions: 10, filterOptions },
      cellDataType: false,
      hide: true,
    });
    const plain = (row: Row) => row[name];
    const columns = [{ ...column('sort', plain), filter: false }, column('Text', plain)];
    if (kind === 'number') columns.push(column('Number', plain, ordered));
    if (kind === 'bigint') columns.push(column('BigInt', plain, ordered));
    if (kind === 'moment') columns.push(column('Date', (row) => utcAsLocal(row[name]), ordered));
    if (kind === 'date' || kind === 'instant') columns.push(column('Date', (row) => dayOf(row[name]), ordered));
    return columns;
  });
}

// AG Grid's dates are midnights of the browser's zone; the day is the one of UTC, as
// docs/how-to/grid.md says.
function dayOf(value: string | null): Date | null {
  if (value === null) return null;
  const [year, month, day] = value.slice(0, 10).split('-').map(Number) as [number, number, number];
  return new Date(year, month - 1, day);
}

const utcAsLocal = (value: string) => new Date(value.replace('Z', ''));

const filterNames: Record<string, string> = { text: 'Text', number: 'Number', bigint: 'BigInt', date: 'Date' };

function show(api: GridApi<Row>, { filterModel, sortModel }: Model): Row[] {
  const filters = Object.entries(filterModel).map(([name, filter]) => [
    `${name} ${filterNames[filter.filterType]}`,
    filter,
  ]);
  // AG Grid changes the model that it gets.
  api.setFilterModel(structuredClone(Object.fromEntries(filters)));
  api.applyColumnState({
    state: firstOfEach(sortModel).map(({ colId, sort, type }, sortIndex) => ({
      colId: `${colId} sort`,
      sort,
      sortType: type ?? 'default',
      sortIndex,
    })),
    defaultState: { sort: null },
  });
  const kept = api.getFilterModel();
  for (const [column, filter] of filters)
    if (!kept[column as string]) throw new Error(`AG Grid refused ${JSON.stringify(filter)}`);
  const shown: Row[] = [];
  api.forEachNodeAfterFilterAndSort((node) => shown.push(node.data));
  return shown;
}

// A column is sorted by once; a second time has no effect.
function firstOfEach(sortModel: Model['sortModel']): Model['sortModel'] {
  return sortModel.filter((item, i) => sortModel.findIndex(({ colId }) => colId === item.colId) === i);
}
