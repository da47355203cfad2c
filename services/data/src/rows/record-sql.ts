// A row as the JSON text that callers get, written by PostgreSQL. Names of a table's own columns travel as parameters: no user
// text is in the SQL.

import { concatSql, Values } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { longestRecord, mayOverflow, wholeSql } from './answer-size.ts';
import { fieldsOf } from './fields.ts';
import { lookupsSql, planLookups, shownBy } from './lookups-sql.ts';
import type { Reading } from './reading.ts';

/** The text of one JSON object for the row in scope: system columns first, then the table's own in their order, then `svc_lookups`. */
export function recordSql(table: Pick<DeployedTable, 'structure'>, bind: Bind, lookups?: string): string {
  const { exact_numbers } = table.structure;
  const parts: string[] = [];
  for (const { name, sql, type, nullable, column } of fieldsOf(table).values()) {
    const label = `${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    // System columns are numbers a double holds.
    const value = type.jsonSql(sql, column && exact_numbers);
    parts.push(column ? bind(label, 'text') : `'${label}'`, value);
    // A deleted row may lack what a live one must have.
    if (column || nullable) parts.push(`case when ${sql} is null then 'null' end`);
  }
  if (lookups !== undefined) parts.push(`',"svc_lookups":'`, lookups);
  return concatSql([...parts, "'}'"]);
}

/** The same where the record is an answer of its own. */
export function oneRecordSql(table: Pick<DeployedTable, 'structure'>, bind: Bind): string {
  const record = recordSql(table, bind);
  return mayOverflow(1, longestRecord(table)) ? wholeSql(record) : record;
}

/** `longest`: no record is longer, in bytes. */
type Begun = { values: Values; record: string; longest: number };
const begun = new WeakMap<object, Begun>();

/**
 * The same as the beginning of a statement over rows called `row`: its values so far, the expression, and the instant's if there
 * is one. Written once for a table, but with lookups each time.
 */
export function beginWithRecord(
  table: Pick<DeployedTable, 'structure'>,
  { asOf, targets }: Reading,
  row: string,
): Begun & { at: string | undefined } {
  const instant = ({ bind }: Values) => (asOf === undefined ? undefined : bind(asOf, 'timestamptz'));
  if (targets) {
    const values = new Values();
    const at = instant(values);
    const lookups = planLookups(table, targets);
    const record = recordSql(table, values.bind, lookupsSql(lookups, row, at, values.bind));
    return { values, record, longest: longestRecord(table, shownBy(lookups)), at };
  }
  let known = begun.get(table.structure);
  if (!known) {
    const values = new Values();
    known = { values, record: recordSql(table, values.bind), longest: longestRecord(table) };
    begun.set(table.structure, known);
  }
  const values = new Values(known.values);
  return { ...known, values, at: instant(values) };
}

/** The ETag of a record: its version. */
export const etagOf = (version: number): string => `"${version}"`;
