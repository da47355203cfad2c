// What records show, filter and sort by: the system columns, then the table's own, by the names
// that callers use.

import { columnName } from '../sql/identifiers.ts';
import type { Column, DeployedTable } from '../tables/table.ts';
import { isRequired } from '../tables/table.ts';
import { typeOf, type ValueType, valueTypes } from '../values/value-types.ts';

export type Field = {
  name: string;
  /** The physical column. */
  sql: string;
  type: ValueType;
  /** False when every live row has a value. */
  nullable: boolean;
  column?: Column;
  /** Of a field that is the label of a reference (`labels.ts`). */
  label?: Label;
};

/** How the label of a reference is found in the referenced table. */
export type Label = {
  /** The physical columns of the row that refer to the record. */
  columns: string[];
  /** Undefined when the caller may not view it: the label is null then. */
  target?: DeployedTable;
  /** The column of that table that it shows. */
  shown?: Column;
  /** The label as of an instant, an expression; of today without one. */
  sqlAt: (at?: string) => string;
  /** Joins the records of today to the row `row`, as `alias`, whose column `shown` is the label. */
  joinSql: (row: string, alias: string) => string;
  /** True in SQL when the row refers to a record whose display value meets the condition. */
  existsSql: (condition: (shown: Field) => string) => string;
};

const system = (name: string, type: ValueType): Field => ({ name, sql: name, type, nullable: false });

/** The system columns that records show. */
export const systemFields: readonly Field[] = [
  system('svc_sk', valueTypes.bigint),
  system('svc_created_at', valueTypes.timestamptz),
  system('svc_updated_at', valueTypes.timestamptz),
  system('svc_is_deleted', valueTypes.boolean),
  system('svc_version', valueTypes.integer),
  { ...system('svc_updated_by', valueTypes.text), nullable: true },
];

/**
 * The physical columns of a table and its history besides the defined ones; `svc_live` is computed
 * from them.
 */
export const systemColumns: readonly string[] = [
  ...systemFields.map((field) => field.sql),
  'svc_channel',
  'svc_request_id',
];

const fieldsByStructure = new WeakMap<object, Map<string, Field>>();

/** The fields of a table by name, in the order in which a record shows them. */
export function fieldsOf(table: Pick<DeployedTable, 'structure'>): Map<string, Field> {
  let fields = fieldsByStructure.get(table.structure);
  if (!fields) {
    fields = new Map(systemFields.map((field) => [field.name, field]));
    for (const column of table.structure.columns)
      fields.set(column.name, {
        name: column.name,
        sql: columnName(column),
        type: typeOf(column),
        nullable: !isRequired(column),
        column,
      });
    fieldsByStructure.set(table.structure, fields);
  }
  return fields;
}
