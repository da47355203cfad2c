// The filter that finds the rows with one value, in the model that the filter of its column takes.
import type { Filters } from '../address/view.ts';
import type { Column } from '../api/queries.ts';
import { isNumeric, plainText } from '../cells/cell-text.ts';

/** The filter of a column for one value. */
export function equalsFilter(column: Column, value: unknown): Filters[string] {
  const text = plainText(value);
  if (column.data_type === 'bigint') return { filterType: 'bigint', type: 'equals', filter: text };
  if (isNumeric(column)) return { filterType: 'number', type: 'equals', filter: text };
  if (column.data_type === 'date') return { filterType: 'date', type: 'equals', dateFrom: text };
  return { filterType: 'text', type: 'equals', filter: text };
}
