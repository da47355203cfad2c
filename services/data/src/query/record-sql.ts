// A row as the JSON text that callers get, written by PostgreSQL. Names travel as parameters: no user text is in the SQL.
import type { DeployedTable } from '../catalogue/structure.ts';
import type { Bind } from '../values/check.ts';
import { fieldsOf } from './fields.ts';
import { concatSql, Values } from './statement.ts';

/** The text of one JSON object for the row in scope: system columns first, then the table's own in their order. */
export function recordSql(table: Pick<DeployedTable, 'structure'>, bind: Bind): string {
  const parts: string[] = [];
  for (const field of fieldsOf(table).values()) {
    parts.push(bind(`${parts.length === 0 ? '{' : ','}${JSON.stringify(field.name)}:`, 'text'));
    parts.push(`coalesce(${field.type.jsonSql(field.sql)}, 'null')`);
  }
  return concatSql([...parts, "'}'"]);
}

type Begun = { values: Values; record: string };
const begun = new WeakMap<object, Begun>();

/** The same, as the beginning of a statement: its values so far, and the expression. Written once for a table. */
export function beginWithRecord(table: Pick<DeployedTable, 'structure'>): Begun {
  let known = begun.get(table.structure);
  if (!known) {
    const values = new Values();
    known = { values, record: recordSql(table, values.bind) };
    begun.set(table.structure, known);
  }
  return { values: new Values(known.values), record: known.record };
}

/** The ETag of a record: its version. */
export const etagOf = (version: number): string => `"${version}"`;
