// The style of a file as its sample proves it: one date order and one decimal separator for all
// columns. What stays ambiguous is reported. Pure.
import { filledCells, type Sample } from './read-sample.ts';
import { type Dates, readDates } from './sample-dates.ts';
import { type Numbers, readNumbers, type Separator } from './sample-numbers.ts';

export type ColumnTraits = { cells: string[]; dates: Dates | undefined; numbers: Numbers | undefined };

export type SampleStyle = {
  columns: ColumnTraits[];
  /** Undefined: neither the sample nor the default decides, or there is nothing to decide. */
  dateStyle: 'DMY' | 'MDY' | undefined;
  decimalSeparator: Separator | undefined;
  /** Whether columns prove different separators, although a mapping has only one. */
  hasBothSeparators: boolean;
  /** Columns of the header that can be read in two ways. */
  ambiguousDates: string[];
  ambiguousNumbers: string[];
};

/**
 * The order or separator that some column proves and none contradicts. Where none proves an order,
 * `defaultOrder` applies.
 */
export function readStyle(sample: Sample, defaultOrder?: 'DMY' | 'MDY'): SampleStyle {
  const columns = sample.header.map((_, position): ColumnTraits => {
    const cells = filledCells(sample, position);
    return { cells, dates: readDates(cells), numbers: readNumbers(cells) };
  });
  const orders = columns.flatMap(({ dates }) =>
    dates && (dates.order === 'DMY' || dates.order === 'MDY') ? [dates.order] : [],
  );
  const dateStyle = orders.length === 0 ? defaultOrder : singleValue(orders);
  const separators = columns.flatMap(({ numbers }) =>
    numbers && numbers.separator !== 'either' && numbers.separator !== 'none' ? [numbers.separator] : [],
  );
  const decimalSeparator = singleValue(separators);
  const named = (matches: (column: ColumnTraits) => boolean) =>
    sample.header.filter((_, position) => matches(columns[position] as ColumnTraits));
  return {
    columns,
    dateStyle,
    decimalSeparator,
    hasBothSeparators: new Set(separators).size > 1,
    ambiguousDates: dateStyle ? [] : named(({ dates }) => dates?.order === 'either'),
    ambiguousNumbers: decimalSeparator ? [] : named(({ numbers }) => numbers?.separator === 'either'),
  };
}

function singleValue<T>(proved: T[]): T | undefined {
  return new Set(proved).size === 1 ? proved[0] : undefined;
}
