// Constraints and indexes of a deployed table, as named objects that compare by text: a deployment
// drops and adds the difference of two lists. Every constraint holds among rows that are not
// deleted (docs/adr/0004-constraints-among-live-rows.md).

import {
  columnName,
  foreignKeyConstraint,
  foreignKeyIndex,
  keyConstraint,
  requiredConstraint,
  tableName,
  tableSchema,
  updatedIndex,
  valuesConstraint,
} from '../../sql/identifiers.ts';
import { quoteLiteral } from '../../sql/literals.ts';
import type { Shape } from '../../tables/table.ts';
import { type Column, type ForeignKey, getColumn, isRequired, keyColumns } from '../../tables/table.ts';
import { typeOf } from '../../values/value-types.ts';
import { hierarchyObjects } from './hierarchy-triggers.ts';
import { historyObjects } from './history-ddl.ts';
import type { TableObject } from './table-object.ts';

const storedTypes = (columns: Column[]) => columns.map((column) => typeOf(column).physical(column)).join(', ');
// PostgreSQL keeps an index when a column gets longer, and rebuilds it when the column gets
// shorter.
const comparedTypes = (columns: Column[]) => columns.map((column) => typeOf(column).base).join(', ');

/**
 * Everything but the columns, in the order of creation. `findTable`: the referenced tables, by
 * lineage.
 */
export function objectsOf(table: Shape, findTable: (lineageId: number) => Shape): TableObject[] {
  return [
    updatedObject(table),
    ...keyObject(table),
    ...requiredObject(table),
    ...valuesObjects(table),
    ...historyObjects(table),
    ...hierarchyObjects(table),
    ...table.structure.foreign_keys.flatMap((foreignKey) => foreignKeyObjects(table, foreignKey, findTable)),
  ];
}

function constraint(
  table: Shape,
  kind: TableObject['kind'],
  name: string,
  definition: string,
  types: string,
): TableObject {
  const create = `alter table ${tableName(table)} add constraint ${name} ${definition}`;
  return {
    kind,
    name,
    signature: `${create} on ${types}`,
    create,
    drop: `alter table ${tableName(table)} drop constraint ${name}`,
  };
}

// Holds at once for every row that is written; the deployment has counted the rows that break it,
// and PostgreSQL validates the existing ones later.
function validatedLater(table: Shape, made: TableObject): TableObject {
  const deferred = `alter table ${tableName(table)} validate constraint ${made.name}`;
  return { ...made, online: { immediate: [`${made.create} not valid`], deferred } };
}

function index(table: Shape, name: string, columns: string, on: Column[]): TableObject {
  const place = `${name} on ${tableName(table)} (${columns})`;
  const path = `${tableSchema(table)}.${name}`;
  return {
    kind: 'index',
    name,
    signature: `create index ${place} on ${comparedTypes(on)}`,
    create: `create index ${place}`,
    // On a large table it may not exist yet.
    drop: `drop index if exists ${path}`,
    online: {
      immediate: [],
      cleanup: `drop index concurrently if exists ${path}`,
      deferred: `create index concurrently ${place}`,
    },
  };
}

const updatedObject = (table: Shape) => index(table, updatedIndex(table), 'svc_updated_at', []);

// svc_live is null for deleted rows, and nulls are distinct: a deleted row holds no key.
function keyObject(table: Shape): TableObject[] {
  const key = keyColumns(table.structure);
  if (key.length === 0) return [];
  const definition = `unique (${[...key.map(columnName), 'svc_live'].join(', ')})`;
  return [constraint(table, 'key', keyConstraint(table), definition, comparedTypes(key))];
}

function requiredObject(table: Shape): TableObject[] {
  const required = table.structure.columns.filter(isRequired);
  if (required.length === 0) return [];
  const all = required.map((column) => `${columnName(column)} is not null`).join(' and ');
  const definition = `check (svc_is_deleted or (${all}))`;
  const check = constraint(table, 'check', requiredConstraint(table), definition, storedTypes(required));
  return [validatedLater(table, check)];
}

function valuesObjects(table: Shape): TableObject[] {
  return table.structure.columns
    .filter((column) => column.valid_values.length > 0)
    .map((column) => {
      const name = columnName(column);
      const list = column.valid_values.map(quoteLiteral).join(', ');
      const definition = `check (svc_is_deleted or ${name} is null or ${name} = any (array[${list}]::${typeOf(column).base}[]))`;
      const check = constraint(table, 'check', valuesConstraint(column), definition, storedTypes([column]));
      return validatedLater(table, check);
    });
}

// A row still referred to can't become deleted (its svc_live would turn null); a deleted row refers
// to no row (MATCH SIMPLE).
function foreignKeyObjects(
  table: Shape,
  foreignKey: ForeignKey,
  findTable: (lineageId: number) => Shape,
): TableObject[] {
  const target = findTable(foreignKey.target_lineage_id);
  const columns = foreignKey.columns.map((lineage) => getColumn(table.structure, lineage));
  const targets = foreignKey.target_columns.map((lineage) => getColumn(target.structure, lineage));
  const first = foreignKey.columns[0] as number;
  const names = columns.map(columnName);
  const definition =
    `foreign key (${[...names, 'svc_live'].join(', ')}) references ${tableName(target)}` +
    ` (${[...targets.map(columnName), 'svc_live'].join(', ')})`;
  // The order that grids request: rows without a value first, ties by svc_sk.
  const ordered = columns.map((column) => `${columnName(column)}${isRequired(column) ? '' : ' nulls first'}`);
  const name = foreignKeyConstraint(table.lineage_id, first);
  const types = comparedTypes([...columns, ...targets]);
  return [
    index(table, foreignKeyIndex(table.lineage_id, first), [...ordered, 'svc_sk'].join(', '), columns),
    validatedLater(table, constraint(table, 'foreign key', name, definition, types)),
  ];
}
