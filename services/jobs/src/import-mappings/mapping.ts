// What an import mapping says, as it is kept: in its own row, and pinned to the import tables that took it up.
import type { QuoteMark } from '../formats/csv/row-scanner.ts';
import type { Encoding } from '../formats/table-file/text-bytes.ts';
import type { import_mapping } from '../generated/prisma/client.ts';

export const dateStyles = ['MDY', 'DMY', 'ISO'] as const;
export const decimalSeparators = ['.', ','] as const;

/** Entries of a mapping; a file may have more columns than go anywhere. */
export const mostEntries = 1000;

export type ColumnMapping = {
  /** A name of the header; in a file without one the place of the column, from 1. */
  source_column: string;
  /** Null: left out. */
  target_column: string | null;
  /** A date pattern of PostgreSQL; null: the mapping's date style. */
  format: string | null;
  /** Stands in cells that are blank. */
  default: string | null;
  trim: boolean;
  /** True: cells hold what the referenced table is shown by; or the name of another of its columns. */
  lookup: boolean | string;
  /** What cells stand for, by their text (empty: those without a value); null: no value. */
  value_map: Record<string, string | null> | null;
  /** What becomes of values that the map doesn't have. */
  otherwise: 'keep' | 'reject' | { value: string | null };
  /** Of numbers, how many decimal places stay. */
  round: number | null;
};

export type Mapping = {
  date_style: (typeof dateStyles)[number];
  decimal_separator: (typeof decimalSeparators)[number] | null;
  delimiter: string | null;
  quote: QuoteMark | null;
  encoding: Encoding | null;
  has_header: boolean;
  column_mappings: ColumnMapping[];
};

export type PinnedMapping = Mapping & { id: number; name: string };

const plain = {
  ...{ target_column: null, format: null, default: null, trim: false, lookup: false as const },
  ...{ value_map: null, otherwise: 'keep' as const, round: null },
};

/** One entry with everything that it leaves unsaid. */
export const wholeEntry = (entry: Partial<ColumnMapping> & { source_column: string }): ColumnMapping => ({
  ...plain,
  ...entry,
});

/** What the row, or what was pinned of it, says. */
export function mappingOf(row: import_mapping | PinnedMapping): PinnedMapping {
  const { id, name, column_mappings, ...style } = row as PinnedMapping;
  return {
    id,
    name,
    date_style: style.date_style,
    decimal_separator: style.decimal_separator ?? null,
    delimiter: style.delimiter,
    quote: style.quote ?? null,
    encoding: style.encoding ?? null,
    has_header: style.has_header ?? true,
    column_mappings: column_mappings.map(wholeEntry),
  };
}
