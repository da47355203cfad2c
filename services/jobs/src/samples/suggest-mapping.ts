// Suggests an import mapping from a sample of a file, with notes for the caller.
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { CsvStyle } from '../formats/csv/csv-reader.ts';
import { foldName } from '../formats/table-file/column-names.ts';
import { expectedNames } from '../import-mappings/column-plan.ts';
import { type ColumnMapping, type Mapping, maxEntries } from '../import-mappings/mapping.ts';
import type { MappedTable } from '../import-mappings/mapping-checks.ts';
import { matchColumns, type TargetColumn } from './match-columns.ts';
import { readSample } from './read-sample.ts';
import type { SampleStyle } from './sample-style.ts';

type SampleInput = {
  sample: string;
  delimiter?: CsvStyle['delimiter'];
  quote?: CsvStyle['quote'];
  has_header?: boolean | undefined;
};

/**
 * Writes nothing. `dateStyle` applies where the sample leaves the order of dates open. An
 * unreadable sample is 422.
 */
export async function suggestMapping(
  table: MappedTable,
  { tableDefinitionId, dateStyle }: { tableDefinitionId: number; dateStyle: Mapping['date_style'] },
  { sample: text, delimiter, quote, has_header = true }: SampleInput,
) {
  // Each table is requested once, however many columns refer to it.
  const ids = new Set(table.columns.flatMap(({ foreign_key_table_id: id }) => (id ? [id] : [])));
  const seen = new Map(await Promise.all([...ids].map(async (id) => [id, await findVisible(table, id)] as const)));
  const targets = table.columns.map(
    (column): TargetColumn => ({ ...column, refersTo: seen.get(column.foreign_key_table_id ?? 0) }),
  );
  const sample = await readSample(text, {
    ...{ delimiter, quote, hasHeader: has_header },
    expected: expectedNames(table.columns, null),
    width: table.columns.length,
  });
  const width = sample.header.length;
  if (width > maxEntries)
    throw validationFailed({
      code: 'too_many',
      message: `A mapping has at most ${maxEntries} columns; the sample has ${width}.`,
    });
  const { style, entries, unmatchedTargets, questions } = matchColumns(
    sample,
    targets,
    has_header,
    dateStyle === 'ISO' ? undefined : dateStyle,
  );
  const left = entries.filter(({ entry }) => entry.target_column === null).map(({ entry }) => entry.source_column);
  const isText = sample.format === 'csv' || sample.format === 'tsv';
  return {
    import_mapping: {
      table_definition_id: tableDefinitionId,
      date_style: style.dateStyle ?? ('ISO' as const),
      decimal_separator: separatorOf(style),
      delimiter: sample.delimiter as Mapping['delimiter'],
      quote: quote ?? (isText && sample.quote === "'" ? ("'" as const) : null),
      has_header,
      column_mappings: withoutDuplicates(entries.map(({ entry }) => entry)),
    },
    columns: entries.map(({ entry, confidence, notes }) => ({
      source_column: entry.source_column,
      target_column: entry.target_column,
      confidence,
      notes,
    })),
    unmatched_source_columns: left,
    unmatched_target_columns: unmatchedTargets,
    ambiguous_date_columns: style.ambiguousDates,
    questions: [...questions, ...headerQuestions(sample.header)],
    format: sample.format,
    rows: sample.rows.length,
  };
}

// Columns without a unique name cannot be mapped.
function withoutDuplicates(entries: ColumnMapping[]): ColumnMapping[] {
  const seen = new Set(['']);
  return entries.filter(({ source_column }) => {
    const name = foldName(source_column);
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

function headerQuestions(header: string[]): string[] {
  const names = header.map(foldName);
  const unnamed = names.flatMap((name, i) => (name === '' ? [i + 1] : []));
  const seen = new Set(['']);
  const twice = new Set<string>();
  for (const [i, name] of names.entries()) {
    if (seen.has(name) && name !== '') twice.add(header[i] as string);
    seen.add(name);
  }
  return [
    ...(unnamed.length === 0 ? [] : [`Column ${unnamed.join(', ')} of the file has no name; give it one in the file.`]),
    ...(twice.size === 0
      ? []
      : [`${[...twice].join(', ')} stands in the header more than once; rename one in the file.`]),
  ];
}

// A decimal point is the default, but grouped digits need it stated.
function separatorOf({ decimalSeparator, columns }: SampleStyle): Mapping['decimal_separator'] {
  if (decimalSeparator === ',') return ',';
  return columns.some(({ numbers }) => numbers?.isGrouped && numbers.separator !== 'either') ? '.' : null;
}

// Tables that the caller may not view are left out.
async function findVisible({ findTarget }: MappedTable, id: number) {
  try {
    return await findTarget(id);
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'forbidden') return undefined;
    throw error;
  }
}
