// Which column of a file goes to which column of the table: by the mapping, else by equal name. Pure.
import type { ColumnSource } from '@almanac/protos/generated/almanac/data/v1/ColumnSource.ts';
import { fileError, quoted } from '../csv/file-error.ts';

export const transactionCode = 'svc_transaction_code';

/** Written beside the rows by exports and into the files of rejected rows; not the file's to set, and left out when read. */
const systemColumns = new Set([
  'svc_sk',
  'svc_created_at',
  'svc_updated_at',
  'svc_is_deleted',
  'svc_version',
  'svc_updated_by',
  'svc_row',
  'svc_errors',
]);

export type ColumnMapping = { source_column: string; target_column: string | null; format?: string | null };

export type PinnedMapping = {
  id: number;
  name: string;
  date_style: string;
  delimiter: string | null;
  column_mappings: ColumnMapping[];
};

type TableColumn = { name: string; is_primary_key: boolean };

type Plan = { columns: ColumnSource[] };

const fold = (name: string) => name.trim().toLowerCase();

/** Names that a right header would hold, in lower case: for finding the delimiter. */
export function expectedNames(columns: readonly TableColumn[], mapping: PinnedMapping | null): Set<string> {
  const sources = mapping?.column_mappings.map(({ source_column }) => fold(source_column)) ?? [];
  return new Set([...columns.map(({ name }) => fold(name)), ...sources, transactionCode]);
}

/**
 * Places every column of the header: mapped, equal by name regardless of case, ignored by a mapping to nothing, or a system
 * column of an export. Any other column is an error, and so is a key column that the file lacks; all problems come together.
 */
export function planColumns(
  header: readonly string[],
  table: readonly TableColumn[],
  mapping: PinnedMapping | null,
  pattern: string,
): Plan {
  const names = new Map(table.map(({ name }) => [fold(name), name]));
  names.set(transactionCode, transactionCode);
  const mapped = new Map(mapping?.column_mappings.map((entry) => [fold(entry.source_column), entry]));
  const problems: string[] = [];
  const unknown: string[] = [];
  const sources = new Map<string, { position: number; source: string }>();
  const columns: ColumnSource[] = [];
  for (const [position, source] of header.entries()) {
    const entry = mapped.get(fold(source));
    if (entry ? entry.target_column === null : systemColumns.has(fold(source))) continue;
    const target = names.get(fold(entry?.target_column ?? source));
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
    columns.push({ position, target_column: target, date_format: entry?.format ?? '' });
  }
  if (unknown.length > 0) problems.push(unknownColumns(unknown));
  const missing = table.filter(({ name, is_primary_key }) => is_primary_key && !sources.has(name));
  if (missing.length > 0)
    problems.push(`The file has no column for the key: ${missing.map(({ name }) => name).join(', ')}.`);
  problems.push(...transactionProblems(sources.has(transactionCode), pattern));
  if (problems.length > 0) throw fileError(problems);
  return { columns };
}

function unknownColumns(unknown: string[]): string {
  const shown = unknown.slice(0, 20).join(', ');
  const more = unknown.length > 20 ? ` and ${unknown.length - 20} more` : '';
  return `The table has no column for ${shown}${more}; map ${unknown.length === 1 ? 'it' : 'them'} in an import mapping (to null to leave out).`;
}

function transactionProblems(given: boolean, pattern: string): string[] {
  if (pattern === 'incremental_with_delete')
    return given ? [] : [`The pattern ${pattern} needs the column ${transactionCode}.`];
  return given
    ? [`The column ${transactionCode} goes with the pattern incremental_with_delete, not with ${pattern}.`]
    : [];
}
