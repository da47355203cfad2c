// A record as the JSON text that callers get, written by PostgreSQL. The names of a table's own
// columns are parameters: no text of a user is in the SQL.

import { concatSql, Values } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { boundedRecordSql, maxRecordBytes, mayOverflow } from './answer-size.ts';
import { fieldsOf } from './fields.ts';
import { displayedColumns, lookupsSql, planLookups } from './lookups-sql.ts';
import { changeMemberSql } from './proposed-sql.ts';
import type { Reading } from './reading.ts';

/**
 * The JSON object of the row in scope: system columns first, then the table's own in their order,
 * then `svc_lookups`, and `change`, a member of its own.
 */
export function recordSql(
  table: Pick<DeployedTable, 'structure'>,
  bind: Bind,
  {
    lookups,
    change,
    columns,
  }: { lookups?: string | undefined; change?: string | undefined } & Pick<Reading, 'columns'> = {},
): string {
  const { exact_numbers } = table.structure;
  const parts: string[] = [];
  for (const { name, sql, type, nullable, column } of fieldsOf(table).values()) {
    if (column && columns?.has(name) === false) continue;
    const label = `${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    // The numbers of system columns fit into a double.
    const value = type.jsonSql(sql, column && exact_numbers);
    parts.push(column ? bind(label, 'text') : `'${label}'`, value);
    // A deleted row may lack values that are required of a live one.
    if (column || nullable) parts.push(`case when ${sql} is null then 'null' end`);
  }
  if (lookups !== undefined) parts.push(`',"svc_lookups":'`, lookups);
  if (change !== undefined) parts.push(change);
  return concatSql([...parts, "'}'"]);
}

/** The same where the record is the whole answer. */
export function oneRecordSql(table: Pick<DeployedTable, 'structure'>, bind: Bind): string {
  const record = recordSql(table, bind);
  return mayOverflow(1, maxRecordBytes(table)) ? boundedRecordSql(record) : record;
}

/** `maxBytes`: no record is longer. */
type RecordStart = { values: Values; record: string; maxBytes: number };
const startsByStructure = new WeakMap<object, RecordStart>();

/**
 * The start of a statement over rows called `row`: its values so far, the expression of the record,
 * and that of the instant if there is one. Written once for a table; with lookups or some of the
 * columns each time.
 */
export function startWithRecord(
  table: Pick<DeployedTable, 'structure'>,
  { asOf, targets, columns, through }: Reading,
  row: string,
): RecordStart & { at: string | undefined } {
  const instant = ({ bind }: Values) => (asOf === undefined ? undefined : bind(asOf, 'timestamptz'));
  if (targets || columns || through) {
    const values = new Values();
    const at = instant(values);
    const isShown = ({ name }: { name: string }) => columns === undefined || columns.has(name);
    const lookups = targets && planLookups(table, targets).filter(isShown);
    const record = recordSql(table, values.bind, {
      lookups: lookups && lookupsSql(lookups, row, at, values.bind),
      change: through && changeMemberSql,
      columns,
    });
    const shown = { structure: { ...table.structure, columns: table.structure.columns.filter(isShown) } };
    return { values, record, maxBytes: maxRecordBytes(shown, displayedColumns(lookups ?? [])), at };
  }
  let known = startsByStructure.get(table.structure);
  if (!known) {
    const values = new Values();
    known = { values, record: recordSql(table, values.bind), maxBytes: maxRecordBytes(table) };
    startsByStructure.set(table.structure, known);
  }
  const values = new Values(known.values);
  return { ...known, values, at: instant(values) };
}

/** The ETag of a record: its version. */
export const etagOf = (version: number): string => `"${version}"`;
