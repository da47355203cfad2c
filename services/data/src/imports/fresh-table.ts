// A large file for an empty table fills a new table beside it, whose keys, references and indexes
// are made afterwards: that is faster than COPY into the finished table. At the end the new table
// replaces the empty one; readers wait only for that moment. Pure.

import { storage } from '../deployments/schema/ddl.ts';
import { objectsOf } from '../deployments/schema/objects.ts';
import type { TableObject } from '../deployments/schema/table-object.ts';
import { loadingSchema, schemaName, tableName } from '../sql/identifiers.ts';
import type { DeployedTable, Shape } from '../tables/table.ts';

/** With fewer rows, filling the table itself takes no longer. */
export const freshTableRows = 2_000;

export type FreshTable = {
  /** The deployed table, under the name it has while it is filled. */
  table: DeployedTable;
  create: string[];
  /** Makes it equal to the old one, once it is filled. */
  build: string[];
  /** Puts it in the old one's place. */
  replace: string[];
};

const isBuilt: ReadonlySet<TableObject['kind']> = new Set(['key', 'index', 'trigger']);

/**
 * `branch`: all deployed tables of the branch. Undefined when foreign keys of other tables depend
 * on the table, so it can't be replaced.
 */
export function planFreshTable(table: DeployedTable, branch: DeployedTable[], number: number): FreshTable | undefined {
  const isTarget = branch.some((each) =>
    each.structure.foreign_keys.some((foreignKey) => foreignKey.target_table_id === table.table_definition_id),
  );
  if (isTarget) return undefined;
  const shadow: DeployedTable & Shape = { ...table, loading: number };
  const byLineage = new Map(branch.map((each) => [each.lineage_id, each]));
  const objects = objectsOf(shadow, (lineageId) => byLineage.get(lineageId) as DeployedTable);
  const schema = loadingSchema(number);
  const name = tableName(shadow);
  const like = 'including defaults including generated including identity including storage including constraints';
  return {
    table: shadow,
    create: [`create schema ${schema}`, `create table ${name} (like ${tableName(table)} ${like}) with (${storage})`],
    build: [
      `alter table ${name} add primary key (svc_sk)`,
      // LIKE has copied the checks; the history function is the one of the old table.
      ...objects.filter(({ kind }) => isBuilt.has(kind)).map(({ create }) => create),
      ...objects.filter(({ kind }) => kind === 'foreign key').map(({ create }) => create),
      // Before autovacuum runs, the table has no statistics of the order of its rows: a full export
      // would sort them, each with all of its text.
      `analyze ${name}`,
    ],
    replace: [
      `drop table ${tableName(table)}`,
      `alter table ${name} set schema ${schemaName(table.branch_id)}`,
      `drop schema ${schema}`,
    ],
  };
}
