// The content of an import mapping, as stored in its own row and copied into the import tables that
// use it.
import type { QuoteMark } from '../formats/csv/row-scanner.ts';
import type { Encoding } from '../formats/table-file/text-bytes.ts';
import type { import_mapping } from '../generated/prisma/client.ts';

export const dateStyles = ['MDY', 'DMY', 'ISO'] as const;
export const decimalSeparators = ['.', ','] as const;

/** The limit of entries; a file may have more columns than are imported. */
export const maxEntries = 1000;

export type ColumnMapping = {
  /** A name in the header; in a file without a header the position of the column, from 1. */
  source_column: string;
  /** Null: left out. */
  target_column: string | null;
  /** A date pattern of PostgreSQL; null: the mapping's date style. */
  format: string | null;
  /** Replaces blank cells. */
  default: string | null;
  trim: boolean;
  /**
   * True: cells hold the display value of the referenced table; or the name of another of its
   * columns.
   */
  lookup: boolean | string;
  /** Replacements by the text of cells (empty: cells without a value); null: no value. */
  value_map: Record<string, string | null> | null;
  /** What happens to values that the map lacks. */
  otherwise: 'keep' | 'reject' | { value: string | null };
  /** Decimal places that numbers keep. */
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

const entryDefaults = {
  ...{ target_column: null, format: null, default: null, trim: false, lookup: false as const },
  ...{ value_map: null, otherwise: 'keep' as const, round: null },
};

/** An entry with all defaults filled in. */
export const completeEntry = (entry: Partial<ColumnMapping> & { source_column: string }): ColumnMapping => ({
  ...entryDefaults,
  ...entry,
});

/** The mapping of a row, or of the copy in an import table. */
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
    column_mappings: column_mappings.map(completeEntry),
  };
}
