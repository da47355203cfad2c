// Which tables depend on a table: those with a column that refers to it, and those behind them.
import type { Column, Table } from '../../api/queries.ts';

export type Referring = { table: Table; columns: Column[] };

/** The tables whose columns refer to the table; its own column of a hierarchy counts too. */
export function directlyReferring(id: number, tables: Table[]): Referring[] {
  return tables.flatMap((table) => {
    const columns = table.column_definitions.filter((column) => column.foreign_key_table_id === id);
    return columns.length > 0 ? [{ table, columns }] : [];
  });
}

/** The tables that refer to one of those, and so on, each once. */
export function indirectlyReferring(id: number, tables: Table[]): Table[] {
  const known = new Set([id, ...directlyReferring(id, tables).map(({ table }) => table.id)]);
  const direct = [...known].filter((other) => other !== id);
  const found: Table[] = [];
  const waiting = direct;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    for (const { table } of directlyReferring(next, tables)) {
      if (known.has(table.id)) continue;
      known.add(table.id);
      found.push(table);
      waiting.push(table.id);
    }
  return found;
}
