// What a cell shows, by the data type of its column.
import type { Column, Row } from '../api/queries.ts';
import { layOutNumber, type NumberSigns, numberSigns } from './exact-numbers.ts';

export type CellFormats = { signs: NumberSigns; instant: Intl.DateTimeFormat };

export function cellFormats(locale: string): CellFormats {
  const instant = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  return { signs: numberSigns(locale), instant };
}

const numeric = new Set<Column['data_type']>(['integer', 'bigint', 'smallint', 'decimal', 'real', 'double']);

export function isNumeric({ data_type }: Column): boolean {
  return numeric.has(data_type);
}

/** The values that a column is limited to: `valid_values` has them separated by bars. */
export function validValues({ valid_values }: Column): string[] {
  return (valid_values ?? '')
    .split('|')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** The text of a value, the same in a cell, in the panel and in a tooltip. */
export function valueText(value: unknown, column: Column, { signs, instant }: CellFormats): string {
  if (value === null || value === undefined) return '';
  // Codes that are integers are no quantities: a key is shown as it is typed.
  if (isNumeric(column) && !isIdentifier(column)) return layOutNumber(String(value), signs);
  if (column.data_type === 'timestamptz') return instantText(String(value), instant);
  if (column.data_type === 'datetime') return String(value).replace('T', ' ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The value, and what it refers to: `DE · Germany`. */
export function cellText(row: Row, column: Column, formats: CellFormats): string {
  const text = valueText(row[column.name], column, formats);
  const label = row.svc_lookups?.[column.name];
  return label === undefined || label === null || String(label) === text ? text : `${text} · ${String(label)}`;
}

/** The value for other programs: as the API sends it. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** What a row is called: the values of its primary key. */
export const keyText = (row: Readonly<Record<string, unknown>>, columns: readonly Column[]): string =>
  columns
    .filter(({ is_primary_key }) => is_primary_key)
    .map(({ name }) => plainText(row[name]))
    .join(' · ');

function isIdentifier(column: Column): boolean {
  return column.is_primary_key || column.foreign_key_table_id !== null;
}

function instantText(text: string, format: Intl.DateTimeFormat): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : format.format(time);
}
