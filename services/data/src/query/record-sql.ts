// A row as the JSON text that callers get, written by PostgreSQL. Names travel as parameters: no user text is in the SQL.
import type { DeployedTable } from '../catalogue/structure.ts';
import type { Bind } from '../values/check.ts';
import { fieldsOf } from './fields.ts';
import { concatSql } from './statement.ts';

/** The text of one JSON object for the row in scope: system columns first, then the table's own in their order. */
export function recordSql(table: Pick<DeployedTable, 'structure'>, bind: Bind): string {
  const parts: string[] = [];
  for (const field of fieldsOf(table).values()) {
    parts.push(bind(`${parts.length === 0 ? '{' : ','}${JSON.stringify(field.name)}:`, 'text'));
    parts.push(`coalesce(${field.type.jsonSql(field.sql)}, 'null')`);
  }
  return concatSql([...parts, "'}'"]);
}

/** The ETag of a record: its version. */
export const etagOf = (version: number): string => `"${version}"`;
