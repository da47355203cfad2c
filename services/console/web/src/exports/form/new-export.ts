// The export that a person asks for, as the API takes it.
import { type ColumnLayout, completed } from '../../address/column-layout.ts';
import type { Filters, SortOrder } from '../../address/view.ts';
import type { Table } from '../../api/queries.ts';
import type { Export, NewExport } from '../queries.ts';

/** What is seen of a table. */
export type ExportedView = {
  filters: Filters;
  sort: SortOrder[];
  q: string | undefined;
  asOf: string | undefined;
  columns: ColumnLayout;
};

export type ExportChoices = {
  format: Export['format'];
  /** The names of the columns; empty for all of them. */
  columns: string[];
  hasSystemColumns: boolean;
  hasLabels: boolean;
  /** A workbook to edit and import again has its own columns. */
  isForEditing: boolean;
  asOf: string | undefined;
};

/** The columns that are seen, in the order in which they are. */
export const seenColumns = (table: Table, view: ExportedView | undefined): string[] =>
  placesOf(table, view).flatMap(({ column, hidden }) => (hidden ? [] : [column]));

const placesOf = ({ column_definitions }: Table, view: ExportedView | undefined): ColumnLayout =>
  completed(
    view?.columns ?? [],
    column_definitions.map(({ name }) => name),
  );

/**
 * All columns with those of the system, of all rows, is an export that others can download, too.
 */
export function newExport(table: Table, choices: ExportChoices, view: ExportedView | undefined): NewExport {
  const { format, hasLabels, asOf } = choices;
  const isForEditing = choices.isForEditing && format === 'xlsx';
  const { filters = {}, sort = [], q } = view ?? {};
  return {
    branch_id: table.branch_id,
    table_definition_key: table.key,
    pattern: 'full',
    format,
    ...(asOf !== undefined && { as_of: asOf }),
    ...(Object.keys(filters).length > 0 && { filterModel: filters as NonNullable<NewExport['filterModel']> }),
    ...(sort.length > 0 && { sortModel: sort.map(({ column, direction }) => ({ colId: column, sort: direction })) }),
    ...(q !== undefined && { q }),
    ...(isForEditing ? { for_editing: true } : columnsOf(table, choices, view)),
    ...(!isForEditing && hasLabels && { include_lookups: true }),
  };
}

const systemColumns = ['svc_sk', 'svc_created_at', 'svc_updated_at'];

function columnsOf(
  table: Table,
  { columns, hasSystemColumns }: ExportChoices,
  view: ExportedView | undefined,
): Pick<NewExport, 'columns'> {
  const all = placesOf(table, view).map(({ column }) => column);
  const chosen = columns.length === 0 ? all : all.filter((name) => columns.includes(name));
  if (!hasSystemColumns) return { columns: chosen };
  // Without a list the file has all of them, those of the system first.
  const isUsual = table.column_definitions.every(({ name }, at) => chosen[at] === name);
  return isUsual ? {} : { columns: [...systemColumns, ...chosen] };
}
