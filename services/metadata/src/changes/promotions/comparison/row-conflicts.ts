// Conflicts of rows as promotions show and resolve them: `value` of a cell, `row` of a row that one
// side deleted and the other changed. Data sends values as JSON texts; numbers that JavaScript
// can't hold exactly stay texts.
import type { RowConflict__Output } from '@almanac/protos/generated/almanac/data/v1/RowConflict.ts';
import type { RowResolution } from '@almanac/protos/generated/almanac/data/v1/RowResolution.ts';
import type { GivenResolution } from './conflict-resolutions.ts';
import type { Conflict } from './table-merge.ts';

const ofCell = 'value';
const ofRow = 'row';

/** True for a resolution about rows; any other is about definitions. */
export const isAboutRows = ({ attribute }: Pick<GivenResolution, 'attribute'>): boolean =>
  attribute === ofCell || attribute === ofRow;

/** A primary key as data takes it: the texts of its values. */
export const keyTexts = (key: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(key).map(([name, value]) => [name, String(value)]));

/**
 * A resolution about rows as data takes it. Without a row it applies to all rows, without a column
 * to all cells.
 */
export const rowResolution = ({ table, column, attribute, row, resolution }: GivenResolution): RowResolution => ({
  table,
  column: column ?? '',
  row_key: keyTexts(row ?? {}),
  is_row: attribute === ofRow,
  resolution,
});

/** A conflict of rows, as data sends it, in the shape of promotions. */
export function readRowConflict(conflict: RowConflict__Output): Conflict {
  const { table, row_key, column, base, source, target, resolution } = conflict;
  return {
    table,
    column: column === '' ? null : column,
    attribute: column === '' ? ofRow : ofCell,
    row: readExactly(row_key) as Record<string, unknown>,
    base: readExactly(base),
    source: readExactly(source),
    target: readExactly(target),
    resolution: resolution === 'source' || resolution === 'target' ? resolution : null,
  };
}

function readExactly(text: string): unknown {
  const keepDigits = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
      ? context.source
      : value;
  return JSON.parse(text, keepDigits as (name: string, value: unknown) => unknown);
}
