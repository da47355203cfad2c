// Finds what a paste is about: the rows of its lines, and what its references mean.
import { client } from '../../api/client.ts';
import type { Column, Row, Table } from '../../api/queries.ts';
import { plainText } from '../../cells/cell-text.ts';
import type { TypingHabits } from '../../cells/typed-values.ts';
import { fetchRows, type RowQuery, type RowWindow } from '../../grid/rows/row-source.ts';
import type { Values } from '../edits.ts';
import { keyOf, type PasteShape, valuesOf } from './paste-plan.ts';

/** Longer ones are imports. */
export const longestPaste = 5_000;

export type PastePlace = {
  table: Table;
  tables: readonly Table[];
  query: RowQuery;
  view: Pick<RowWindow, 'filters' | 'sort'>;
};

/** The rows at so many places, from the first that is pasted into. */
type RowsAtPlaces = (count: number) => Promise<(Row | undefined)[]>;

export type ReadPaste = { lines: Values[]; rows: (Row | undefined)[] };

const windowSize = 1_000;

export async function readPaste(
  shape: PasteShape,
  place: PastePlace,
  habits: TypingHabits,
  rowsAtPlaces: RowsAtPlaces,
): Promise<ReadPaste> {
  const lines = shape.lines.map((line) => valuesOf(line, shape, habits));
  await readReferences(lines, shape, place);
  const rows = shape.by === 'key' ? await findByKey(lines, place) : await rowsAtPlaces(lines.length);
  return { lines, rows };
}

/** The rows from a place of the view on; undefined where there is none. */
export async function findByPlace(start: number, count: number, { query, view }: PastePlace) {
  const rows: (Row | undefined)[] = [];
  for (let at = start; at < start + count; at += windowSize) {
    const end = Math.min(at + windowSize, start + count);
    const found = await fetchRows(query, { ...view, start: at, end });
    for (let place = 0; place < end - at; place += 1) rows.push(found.rows[place]);
  }
  return rows;
}

// Whatever is filtered away counts too: a key is in the table or it is not.
async function findByKey(lines: readonly Values[], { table, query }: PastePlace) {
  const keys = table.column_definitions.filter(({ is_primary_key }) => is_primary_key);
  const found = new Map<string, Row>();
  for (let at = 0; at < lines.length; at += windowSize) {
    const part = lines.slice(at, at + windowSize);
    const filters = Object.fromEntries(keys.map(({ name }) => [name, setOf(part.map((line) => line[name]))]));
    let rowCount = 1;
    for (let start = 0; start < rowCount; start += windowSize) {
      const page = await fetchRows({ ...query, q: undefined }, { filters, sort: [], start, end: start + windowSize });
      for (const row of page.rows) found.set(keyOf(row, keys), row);
      rowCount = page.rowCount;
    }
  }
  return lines.map((line) => found.get(keyOf(line, keys)));
}

/** Puts keys in place of labels: `Germany` becomes `DE` where no country has the key `Germany`. */
async function readReferences(lines: Values[], shape: PasteShape, place: PastePlace) {
  for (const column of shape.columns) {
    if (!column || column.foreign_key_table_id === null) continue;
    const texts = [...new Set(lines.map((line) => plainText(line[column.name])).filter((text) => text !== ''))];
    const keys = texts.length > 0 ? await keysOf(column, texts, place) : new Map<string, unknown>();
    for (const line of lines) {
      const key = keys.get(plainText(line[column.name]));
      if (key !== undefined) line[column.name] = key;
    }
  }
}

async function keysOf(column: Column, texts: string[], { table, tables, query }: PastePlace) {
  const target = tables.find(({ table_definition_id: id }) => id === column.foreign_key_table_id);
  const keys = target?.column_definitions.filter(({ is_primary_key }) => is_primary_key) ?? [];
  const [key] = keys;
  // A reference of several columns, or to a table that one may not see, is left as it is.
  if (!target || !key || keys.length > 1) return new Map<string, unknown>();
  const found = new Map<string, unknown>();
  for (let at = 0; at < texts.length; at += windowSize) {
    const part = texts.slice(at, at + windowSize);
    const window = { filters: { [key.name]: setOf(part) }, sort: [], start: 0, end: windowSize };
    const referred = { ...query, tableId: target.table_definition_id, q: undefined };
    const known = new Set((await fetchRows(referred, window)).rows.map((row) => plainText(row[key.name])));
    const labels = part.filter((text) => !known.has(text));
    if (labels.length === 0) continue;
    const { resolved } = await client.post('/table_data/resolve', {
      body: { table_definition_id: table.table_definition_id, column: column.name, labels },
    });
    for (const { label, values } of resolved) found.set(label, values?.[column.name]);
  }
  return found;
}

function setOf(values: readonly unknown[]) {
  const texts = values.map((value) => ((value ?? null) === null ? null : plainText(value)));
  return { filterType: 'set' as const, values: [...new Set(texts)] };
}
