// Assigns the columns of a file to columns of the table: by the import mapping, else by equal name.
// Pure.
import type { CellValues } from '@almanac/protos/generated/almanac/data/v1/CellValues.ts';
import type { ColumnSource } from '@almanac/protos/generated/almanac/data/v1/ColumnSource.ts';
import { foldName } from '../formats/table-file/column-names.ts';
import { fileError, quoted } from '../formats/table-file/file-error.ts';
import type { FileFormat } from '../formats/table-file/file-format.ts';
import { versionColumns } from '../formats/xlsx/editing-sheets.ts';
import { type ColumnMapping, completeEntry, type PinnedMapping } from './mapping.ts';

export const transactionCode = 'svc_transaction_code';

/** Whether the rows of a file carry a transaction code. */
export const needsTransactionCode = (pattern: string): boolean => pattern === 'incremental_with_delete';

/**
 * Columns that exports and files of rejected rows have besides the table's. Imports ignore them.
 */
export const systemColumns: ReadonlySet<string> = new Set([
  'svc_sk',
  'svc_created_at',
  'svc_updated_at',
  'svc_is_deleted',
  'svc_version',
  'svc_updated_by',
  'svc_row',
  'svc_errors',
]);

type TableColumn = { name: string; is_primary_key: boolean };

/** `versioned`: each row carries the id and version of the row that it edits. */
type ColumnPlan = { columns: ColumnSource[]; versioned: boolean };

/** How data reads a file column, from an entry of the mapping. */
export const toColumnSource = (entry: ColumnMapping, position: number, target_column: string): ColumnSource => ({
  ...(entry.value_map === null && entry.round === null
    ? { position }
    : { position: -1, values: { position, ...toValues(entry) } }),
  target_column,
  date_format: entry.format ?? '',
  trim: entry.trim,
  ...(entry.default === null ? {} : { default_value: entry.default }),
  ...(entry.lookup === false ? {} : { lookup: entry.lookup === true ? '' : entry.lookup }),
});

const toValues = ({ value_map, otherwise, round }: ColumnMapping): CellValues => ({
  map: value_map === null ? '' : JSON.stringify(value_map),
  otherwise: typeof otherwise === 'string' ? otherwise : 'value',
  ...(typeof otherwise === 'string' || otherwise.value === null ? {} : { otherwise_value: otherwise.value }),
  ...(round === null ? {} : { round }),
});

/** The position of the column in the file. */
export const positionOf = ({ position = 0, values }: ColumnSource): number => values?.position ?? position;

/** The names that a correct header would contain, as a hint for detecting the delimiter. */
export function expectedNames(columns: readonly TableColumn[], mapping: PinnedMapping | null): Set<string> {
  const sources = mapping?.column_mappings.map(({ source_column }) => foldName(source_column)) ?? [];
  return new Set([...columns.map(({ name }) => foldName(name)), ...sources, transactionCode]);
}

/**
 * Assigns every column of the header: by the mapping, by equal name regardless of case, ignored by
 * a mapping to null, or a system column of an export. Any other column is an error, and so is a
 * missing key column; all problems are reported at once.
 */
export function planColumns(
  header: readonly string[],
  table: readonly TableColumn[],
  mapping: PinnedMapping | null,
  { pattern, safe_cells: guarded, fileFormat }: { pattern: string; safe_cells: boolean; fileFormat: FileFormat },
): ColumnPlan {
  const names = new Map(table.map(({ name }) => [foldName(name), name]));
  names.set(transactionCode, transactionCode);
  const entries =
    mapping && isPositional(mapping) ? entriesByPosition(table, header.length) : (mapping?.column_mappings ?? []);
  const mapped = new Map(entries.map((entry) => [foldName(entry.source_column), entry]));
  const versioned = fileFormat === 'xlsx' && pattern === 'incremental' && isForEditing(header, mapped);
  if (versioned) for (const name of versionColumns) names.set(name, name);
  const problems: string[] = [];
  const unknown: string[] = [];
  const sources = new Map<string, { position: number; source: string }>();
  const columns: ColumnSource[] = [];
  for (const [position, source] of header.entries()) {
    const entry = mapped.get(foldName(source));
    const isSystem = systemColumns.has(foldName(source)) && !names.has(foldName(source));
    if (entry ? entry.target_column === null : isSystem) continue;
    const target = names.get(foldName(entry?.target_column ?? source));
    if (target === undefined) {
      unknown.push(source === '' ? `column ${position + 1} (without a name)` : quoted(source));
      continue;
    }
    const other = sources.get(target);
    if (other) {
      problems.push(
        `The columns ${quoted(other.source)} (${other.position + 1}) and ${quoted(source)} (${position + 1}) both give ${target}.`,
      );
      continue;
    }
    sources.set(target, { position, source });
    columns.push({
      ...(entry ? toColumnSource(entry, position, target) : { position, target_column: target }),
      guarded,
    });
  }
  if (unknown.length > 0) problems.push(unknownColumns(unknown, sources.size === 0));
  const missing = table.filter(({ name, is_primary_key }) => is_primary_key && !sources.has(name));
  if (missing.length > 0)
    problems.push(`The file has no column for the key: ${missing.map(({ name }) => name).join(', ')}.`);
  problems.push(...transactionProblems(sources.has(transactionCode), pattern));
  if (problems.length > 0) throw fileError(problems);
  return { columns, versioned };
}

// Only exports for editing have the version columns, so a workbook with them was made for editing,
// whichever program saved it last.
const isForEditing = (header: readonly string[], mapped: ReadonlyMap<string, ColumnMapping>) =>
  versionColumns.every((name) => !mapped.has(name) && header.some((source) => foldName(source) === name));

// Whether columns are assigned by position alone.
const isPositional = ({ has_header, column_mappings }: PinnedMapping) => !has_header && column_mappings.length === 0;

/** The number of columns that a file without a header should have. */
export const expectedWidth = (table: readonly TableColumn[], mapping: PinnedMapping | null): number =>
  mapping && !isPositional(mapping)
    ? Math.max(...mapping.column_mappings.map(({ source_column }) => Number(source_column) || 0))
    : table.length;

function entriesByPosition(table: readonly TableColumn[], width: number): ColumnMapping[] {
  if (width !== table.length)
    throw fileError(
      `The file has no header and ${width} columns, the table has ${table.length}; say in the mapping which goes where.`,
    );
  return table.map(({ name }, i) => completeEntry({ source_column: String(i + 1), target_column: name }));
}

function unknownColumns(unknown: string[], all: boolean): string {
  const shown = unknown.slice(0, 20).join(', ');
  const more = unknown.length > 20 ? ` and ${unknown.length - 20} more` : '';
  return `The table has no column for ${shown}${more}; map ${unknown.length === 1 ? 'it' : 'them'} in an import mapping (to null to leave out).${all ? ' If the first line is no header, say so in the mapping (has_header: false).' : ''}`;
}

function transactionProblems(given: boolean, pattern: string): string[] {
  if (needsTransactionCode(pattern))
    return given ? [] : [`The pattern ${pattern} needs the column ${transactionCode}.`];
  return given
    ? [`The column ${transactionCode} goes with the pattern incremental_with_delete, not with ${pattern}.`]
    : [];
}
