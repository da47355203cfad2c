// The columns of the grid, from those of the table.
import type { ColDef, ICellRendererParams, ValueGetterParams } from 'ag-grid-community';
import type { Column, Row } from '../api/queries.ts';
import { type CellFormats, cellText, isNumeric, validValues } from '../cells/cell-text.ts';
import { readNumber } from '../cells/exact-numbers.ts';
import { type EditorSettings, editedColumn, isChosen } from './editing.ts';
import { type OfferedValues, SetFilter, type SetFilterTexts } from './set-filter.ts';

export type ColumnSettings = {
  formats: CellFormats;
  offer: (columnName: string, search: string) => Promise<OfferedValues>;
  setFilterTexts: SetFilterTexts;
  booleans: { yes: string; no: string };
  changedName: string;
  requiredName: string;
  editors: EditorSettings;
};

const changedColumn = 'svc_updated_at';

const widths: Partial<Record<Column['data_type'], number>> = {
  boolean: 110,
  date: 130,
  time: 110,
  datetime: 190,
  timestamptz: 200,
  uuid: 310,
  text: 280,
  json: 280,
};

/** Keys are pinned at the start, and stay in view while one scrolls. */
export function gridColumns(columns: readonly Column[], settings: ColumnSettings): ColDef<Row>[] {
  const own = columns
    .toSorted((a, b) => Number(b.is_primary_key) - Number(a.is_primary_key) || a.position - b.position)
    .map((column) => gridColumn(column, settings));
  return [...own, changed(settings)];
}

/** When a row was changed last: every table has it, and can be filtered and sorted by it. */
function changed({ formats, changedName }: ColumnSettings): ColDef<Row> {
  // A row that is new has not been changed by anybody.
  const text = (row: Row | undefined) =>
    row?.svc_updated_at ? formats.instant.format(Date.parse(row.svc_updated_at)) : '';
  return {
    colId: changedColumn,
    headerName: changedName,
    cellDataType: false,
    valueGetter: ({ data }) => data?.svc_updated_at,
    valueFormatter: ({ data }) => text(data),
    tooltipValueGetter: ({ data }) => data?.svc_updated_at,
    width: 190,
    cellClass: 'cell-quiet',
    filter: 'agDateColumnFilter',
    filterParams: { buttons: ['reset'], maxNumConditions: 4 },
  };
}

function gridColumn(column: Column, settings: ColumnSettings): ColDef<Row> {
  const { look } = settings.editors;
  const text = (row: Row | undefined) => (row ? cellText(look.shown(row), column, settings.formats) : '');
  const tip = (row: Row | undefined) => (row && look.problem(row, column.name)) ?? longText(text(row));
  return {
    colId: column.name,
    headerName: column.name,
    headerTooltip: describe(column, settings.requiredName),
    cellDataType: false,
    valueGetter: ({ data }: ValueGetterParams<Row>) => data && look.shown(data)[column.name],
    valueFormatter: ({ data }) => text(data),
    tooltipValueGetter: ({ data }) => tip(data),
    sortable: true,
    resizable: true,
    width: widths[column.data_type] ?? (isNumeric(column) ? 140 : 190),
    pinned: column.is_primary_key ? 'left' : null,
    cellClass: cellClass(column),
    headerClass: rightAligned(column) ? 'ag-right-aligned-header' : '',
    ...(column.data_type === 'boolean' && { cellRenderer: booleanCell(settings.booleans) }),
    ...(validValues(column).length > 0 && { cellRenderer: pillCell }),
    ...filterOf(column, settings),
    ...editedColumn(column, settings.editors),
  };
}

// Short texts are seen in full.
const longText = (text: string) => (text.length > 20 ? text : undefined);

/** What a column holds: `decimal(10,2) · required`. */
function describe(column: Column, requiredName: string): string {
  const { data_type, length, scale, is_required, valid_values, description } = column;
  const size = length === null ? '' : scale === null ? `(${length})` : `(${length},${scale})`;
  const parts = [`${data_type}${size}`, is_required ? requiredName : '', valid_values ?? '', description ?? ''];
  return parts.filter((part) => part !== '').join(' · ');
}

function rightAligned(column: Column): boolean {
  return isNumeric(column) && !column.is_primary_key && column.foreign_key_table_id === null;
}

function cellClass(column: Column): string[] {
  return [
    column.is_primary_key || column.data_type === 'uuid' ? 'cell-key' : '',
    rightAligned(column) ? 'ag-right-aligned-cell' : '',
  ].filter((name) => name !== '');
}

function filterOf(column: Column, settings: ColumnSettings): Pick<ColDef<Row>, 'filter' | 'filterParams'> {
  const { offer, setFilterTexts: texts } = settings;
  if (isChosen(column)) return { filter: SetFilter, filterParams: { offer, texts } };
  const buttons = { buttons: ['reset'], maxNumConditions: 4 };
  if (column.data_type === 'bigint') return { filter: 'agBigIntColumnFilter', filterParams: buttons };
  if (isNumeric(column)) return { filter: 'agNumberColumnFilter', filterParams: { ...buttons, ...exact(settings) } };
  const isDay = column.data_type === 'date' || column.data_type === 'datetime' || column.data_type === 'timestamptz';
  if (isDay) return { filter: 'agDateColumnFilter', filterParams: buttons };
  return { filter: 'agTextColumnFilter', filterParams: buttons };
}

// A number as text goes to the API with all its digits, which a number of JavaScript has not.
function exact({ formats: { signs } }: ColumnSettings) {
  return {
    allowedCharPattern: '\\d\\-.,\\s',
    numberParser: (text: string | null) => (text === null ? null : readNumber(text, signs)),
    numberFormatter: (value: unknown) =>
      value === null || value === undefined ? null : String(value).replace('.', signs.decimal),
  };
}

// Elements, not HTML text: values are never parsed, and Trusted Types refuse such text.
function booleanCell({ yes, no }: ColumnSettings['booleans']) {
  return ({ value }: ICellRendererParams<Row>) => {
    const cell = document.createElement('span');
    if (typeof value !== 'boolean') return cell;
    cell.className = value ? 'cell-yes' : 'cell-no';
    cell.textContent = value ? '✓' : '–';
    cell.ariaLabel = value ? yes : no;
    cell.role = 'img';
    return cell;
  };
}

function pillCell({ value }: ICellRendererParams<Row>): HTMLElement {
  const cell = document.createElement('span');
  if (value === null || value === undefined) return cell;
  cell.className = 'cell-pill';
  cell.textContent = String(value);
  return cell;
}
