// The values that a set filter offers: those of the rows that the other filters find.

import type { Filters } from '../address/view.ts';
import { client } from '../api/client.ts';
import type { RowQuery } from './rows/row-source.ts';
import type { OfferedValues } from './set-filter.ts';

const limit = 200;

export type ValueTexts = { blank: string; yes: string; no: string };

/** Asks for the values of a column, the most frequent first. */
export async function offerValues(
  { tableId, q, asOf }: RowQuery,
  filters: Filters,
  column: string,
  search: string,
  locale: string,
  texts: ValueTexts,
): Promise<OfferedValues> {
  const { values, truncated } = await client.post('/table_data/values', {
    body: {
      table_definition_id: tableId,
      column,
      filterModel: filters,
      limit,
      ...(search && { search }),
      ...(q && { q }),
      ...(asOf && { as_of: asOf }),
    },
  });
  const counts = new Intl.NumberFormat(locale);
  return {
    truncated,
    values: values.map(({ value, label, count }) => ({
      value: value === null || value === undefined ? null : String(value),
      text: valueName(value, label, texts),
      count: counts.format(count),
    })),
  };
}

function valueName(value: unknown, label: unknown, { blank, yes, no }: ValueTexts): string {
  if (value === null || value === undefined || value === '') return blank;
  if (typeof value === 'boolean') return value ? yes : no;
  return label === null || label === undefined ? String(value) : `${String(value)} · ${String(label)}`;
}
