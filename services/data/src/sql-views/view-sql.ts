// A read-only view of a deployed table with the names that people know, for SQL clients. Pure.

import { fieldsOf } from '../rows/fields.ts';
import { quoteName, tableName, viewName } from '../sql/identifiers.ts';
import { quoteLiteral } from '../sql/literals.ts';
import type { DeployedTable, WantedTable } from '../tables/table.ts';

/** What a view is made from: a table as it is in the catalogue or will be. */
export type Viewed = DeployedTable | WantedTable;

/**
 * Makes the view, with the descriptions as comments. It shows the live rows, with the columns of a
 * record in their order.
 */
export function createViewSql(table: Viewed): string[] {
  const name = viewName(table);
  const shown = [...fieldsOf(table).values()].filter((field) => field.sql !== 'svc_is_deleted');
  const columns = shown.map((field) => `${field.sql} as ${quoteName(field.name)}`).join(', ');
  const { description } = table.structure;
  const comments = shown.flatMap(({ name: column, column: { description: text } = { description: '' } }) =>
    text === '' ? [] : [`comment on column ${name}.${quoteName(column)} is ${quoteLiteral(text)}`],
  );
  return [
    `create view ${name} as select ${columns} from ${tableName(table)} where not svc_is_deleted`,
    `comment on view ${name} is ${quoteLiteral(description === '' ? table.name : `${table.name}: ${description}`)}`,
    ...comments,
  ];
}

/**
 * Drops the view, if it exists, with everything that others have built on it: a dependent view
 * would keep the table from changing.
 */
export const dropViewSql = (table: Viewed): string => `drop view if exists ${viewName(table)} cascade`;
