// What the editor of a cell offers: the values of its list, or the rows that it may refer to.
import type { Column, Table } from '../api/queries.ts';
import { plainText, validValues } from '../cells/cell-text.ts';
import type { Choice } from './editors/choice-editor.ts';
import { fetchRows } from './rows/row-source.ts';

const limit = 50;

/** Offers values of a column: those with the searched text, and no value where none is needed. */
export async function offerChoices(
  column: Column,
  tables: readonly Table[],
  search: string,
  booleans: { yes: string; no: string },
  signal: AbortSignal,
): Promise<Choice[]> {
  const target = tables.find(({ table_definition_id: id }) => id === column.foreign_key_table_id);
  if (target) return offerRows(target, column, search, signal);
  const all: Choice[] =
    column.data_type === 'boolean'
      ? [
          { value: true, text: booleans.yes },
          { value: false, text: booleans.no },
        ]
      : validValues(column).map((value) => ({ value, text: value }));
  const wanted = search.toLowerCase();
  return all.filter(({ text }) => text.toLowerCase().includes(wanted));
}

async function offerRows(target: Table, column: Column, search: string, signal: AbortSignal): Promise<Choice[]> {
  const keys = target.column_definitions.filter(({ is_primary_key }) => is_primary_key);
  const key = keys.length === 1 ? keys[0] : keys.find(({ name }) => name === column.name);
  if (!key) return [];
  const display = displayColumn(target);
  const query = { tableId: target.table_definition_id, q: search || undefined, asOf: undefined, generation: 0 };
  const window = { filters: {}, sort: [{ column: key.name, direction: 'asc' as const }], start: 0, end: limit };
  const { rows } = await fetchRows(query, window, signal);
  return rows.map((row) => {
    const value = row[key.name];
    const label = display && display !== key && row[display.name] !== null ? plainText(row[display.name]) : undefined;
    return { value, label, text: label === undefined ? plainText(value) : `${plainText(value)} · ${label}` };
  });
}

/** The column that is shown for a row that is referred to (docs/how-to/grid.md, labels). */
function displayColumn({ lookup_display_column_id, column_definitions }: Table): Column | undefined {
  const named = column_definitions.find(({ id }) => id === lookup_display_column_id);
  const texts = column_definitions.filter(({ data_type }) => data_type === 'string' || data_type === 'text');
  const plain = texts.filter((column) => !column.is_primary_key && column.foreign_key_table_id === null);
  return named ?? plain.toSorted((a, b) => a.position - b.position)[0];
}
