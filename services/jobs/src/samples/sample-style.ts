// How a whole file is written, as far as its sample proves it: one date style and one decimal separator for all columns. What the
// values leave open stays open and is named. Pure.
import { filledCells, type Sample } from './read-sample.ts';
import { type Dates, readDates } from './sample-dates.ts';
import { type Numbers, readNumbers, type Separator } from './sample-numbers.ts';

export type ColumnLook = { cells: string[]; dates: Dates | undefined; numbers: Numbers | undefined };

export type SampleStyle = {
  columns: ColumnLook[];
  /** Undefined: neither the sample tells nor what is usual, or there is nothing to tell. */
  dateStyle: 'DMY' | 'MDY' | undefined;
  decimalSeparator: Separator | undefined;
  /** Whether different columns prove different ones, of which a mapping has only one. */
  hasBothSeparators: boolean;
  /** Of the header, columns that could be read in two ways. */
  ambiguousDates: string[];
  ambiguousNumbers: string[];
};

/**
 * A style is the file's when some column proves it and none proves the other; where none proves
 * any, dates are taken as `usual`.
 */
export function readStyle(sample: Sample, usual?: 'DMY' | 'MDY'): SampleStyle {
  const columns = sample.header.map((_, position): ColumnLook => {
    const cells = filledCells(sample, position);
    return { cells, dates: readDates(cells), numbers: readNumbers(cells) };
  });
  const orders = columns.flatMap(({ dates }) =>
    dates && (dates.order === 'DMY' || dates.order === 'MDY') ? [dates.order] : [],
  );
  const dateStyle = orders.length === 0 ? usual : only(orders);
  const separators = columns.flatMap(({ numbers }) =>
    numbers && numbers.separator !== 'either' && numbers.separator !== 'none' ? [numbers.separator] : [],
  );
  const decimalSeparator = only(separators);
  const named = (isMeant: (column: ColumnLook) => boolean) =>
    sample.header.filter((_, position) => isMeant(columns[position] as ColumnLook));
  return {
    columns,
    dateStyle,
    decimalSeparator,
    hasBothSeparators: new Set(separators).size > 1,
    ambiguousDates: dateStyle ? [] : named(({ dates }) => dates?.order === 'either'),
    ambiguousNumbers: decimalSeparator ? [] : named(({ numbers }) => numbers?.separator === 'either'),
  };
}

function only<T>(proved: T[]): T | undefined {
  return new Set(proved).size === 1 ? proved[0] : undefined;
}
