// What a paste would do to a table, before it does it. Pure: the rows that it needs are given.
import type { Column, Row } from '../../api/queries.ts';
import { plainText } from '../../cells/cell-text.ts';
import { readTyped, type TypingHabits } from '../../cells/typed-values.ts';
import { type EditPlan, isSame, lacks, type Values } from '../edits.ts';

/** How the lines of the clipboard find their rows: by the key in them, or by their place. */
export type PasteShape = {
  by: 'key' | 'place';
  /** The column of each cell of a line; undefined where there is none to write. */
  columns: (Column | undefined)[];
  lines: string[][];
  /** Names in the first line, or places beyond the last column, that no column takes. */
  ignored: string[];
};

/** The columns by name as they are shown; undefined for those that can't be written here. */
export type ShownColumns = ReadonlyMap<string, Column | undefined>;

/**
 * The shape of a paste. A first line of column names decides the columns, and lines find their rows
 * by the key where the names have all of it; else the block lies on the grid from the focused cell.
 */
export function shapeOf(cells: string[][], shown: ShownColumns, from: string): PasteShape {
  const [names = [], ...lines] = cells;
  const columns = [...shown.values()].filter((column) => column !== undefined);
  const byName = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
  const named = names.map((name) => byName.get(name.trim().toLowerCase()));
  const keys = columns.filter(({ is_primary_key }) => is_primary_key);
  const isHead = lines.length > 0 && named.some(Boolean) && keys.length > 0 && keys.every((key) => named.includes(key));
  if (isHead) return { by: 'key', columns: named, lines, ignored: names.filter((_, place) => !named[place]) };
  const places = [...shown.keys()];
  const start = Math.max(0, places.indexOf(from));
  const width = Math.max(0, ...cells.map((line) => line.length));
  const block = Array.from({ length: width }, (_, place) => shown.get(places[start + place] ?? ''));
  const beyond = Math.max(0, start + width - places.length);
  return { by: 'place', columns: block, lines: cells, ignored: beyond > 0 ? [String(beyond)] : [] };
}

/** A text that tells the key of a line or a row apart from all others. */
export function keyOf(values: Values, keys: readonly Column[]): string {
  return JSON.stringify(keys.map(({ name }) => plainText(values[name])));
}

/** The values of a line by column. */
export function valuesOf(line: readonly string[], { columns }: PasteShape, habits: TypingHabits): Values {
  const pairs = columns.flatMap((column, place) =>
    column && place < line.length ? [[column.name, readTyped(line[place] as string, column, habits)] as const] : [],
  );
  return Object.fromEntries(pairs);
}

/**
 * The plan of a paste, from the row that each line has found; a line without a row makes a new one.
 * `shown` answers a row with the edits that it has already.
 */
export function planPaste(
  lines: readonly Values[],
  rows: readonly (Row | undefined)[],
  shown: (row: Row) => Row,
): EditPlan {
  const plan: EditPlan = { changes: [], created: [], unchanged: 0 };
  for (const [place, values] of lines.entries()) {
    const row = rows[place];
    if (!row) {
      const given = Object.entries(values).filter(([, value]) => value !== null);
      if (given.length > 0) plan.created.push(Object.fromEntries(given));
      continue;
    }
    const changes = Object.entries(values)
      .filter(([column, value]) => !isSame(shown(row)[column], value))
      .map(([column, value]) => ({ row, column, value }));
    if (changes.length === 0) plan.unchanged += 1;
    plan.changes.push(...changes);
  }
  return plan;
}

/** The required columns that new rows leave blank, in the order of the table. */
export function blanksOf(created: readonly Values[], columns: readonly Column[]): { column: string; rows: number }[] {
  return columns
    .map((column) => ({ column: column.name, rows: created.filter((values) => lacks(values, column)).length }))
    .filter(({ rows }) => rows > 0);
}
