// The export that a person asks for, as the API takes it.
import type { Filters, SortOrder } from '../../address/view.ts';
import type { Table } from '../../api/queries.ts';
import type { Export, NewExport } from '../queries.ts';

/** What is seen of a table. */
export type ExportedView = {
  filters: Filters;
  sort: SortOrder[];
  q: string | undefined;
  asOf: string | undefined;
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
    ...(isForEditing ? { for_editing: true } : columnsOf(table, choices)),
    ...(!isForEditing && hasLabels && { include_lookups: true }),
  };
}

const systemColumns = ['svc_sk', 'svc_created_at', 'svc_updated_at'];

function columnsOf(table: Table, { columns, hasSystemColumns }: ExportChoices): Pick<NewExport, 'columns'> {
  const all = table.column_definitions.map(({ name }) => name);
  const chosen = columns.length === 0 ? all : all.filter((name) => columns.includes(name));
  if (!hasSystemColumns) return { columns: chosen };
  // Without a list the file has all of them, those of the system first.
  return chosen.length === all.length ? {} : { columns: [...systemColumns, ...chosen] };
}
