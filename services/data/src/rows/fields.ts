// What of a row can be shown, filtered and sorted: the system columns, then the table's own, by the names callers use.

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
};

const system = (name: string, type: ValueType): Field => ({ name, sql: name, type, nullable: false });

export const systemFields: readonly Field[] = [
  system('svc_sk', valueTypes.bigint),
  system('svc_created_at', valueTypes.timestamptz),
  system('svc_updated_at', valueTypes.timestamptz),
  system('svc_is_deleted', valueTypes.boolean),
  system('svc_version', valueTypes.integer),
  { ...system('svc_updated_by', valueTypes.text), nullable: true },
];

/** Every physical column of a table and of its history that isn't made from a column definition; `svc_live` follows from these. */
export const systemColumns: readonly string[] = [
  ...systemFields.map((field) => field.sql),
  'svc_channel',
  'svc_request_id',
];

const remembered = new WeakMap<object, Map<string, Field>>();

/** The fields of a table by name, in the order in which a record shows them. */
export function fieldsOf(table: Pick<DeployedTable, 'structure'>): Map<string, Field> {
  let fields = remembered.get(table.structure);
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
    remembered.set(table.structure, fields);
  }
  return fields;
}
