// The only file that makes SQL identifiers. It makes them from numbers: ids that stay the same
// across branches and renames, and need no quoting. The names of views are the exception; they are
// for people (`sql-views/`), and no statement of ours reads views.

function id(number: number): string {
  if (!Number.isSafeInteger(number) || number <= 0) throw new Error(`${number} is no id`);
  return String(number);
}

/** `loading`: the number of the load that fills a new table, which no other transaction sees. */
type TablePlace = { branch_id: number; lineage_id: number; loading?: number };

/** The schema that holds the deployed tables of a branch. */
export const schemaName = (branchId: number): string => `b_${id(branchId)}`;

/** The physical table, with its schema. */
export const tableName = (table: TablePlace): string => `${tableSchema(table)}.${bareTableName(table)}`;

/** The schema a table is in. */
export const tableSchema = (table: TablePlace): string =>
  table.loading === undefined ? schemaName(table.branch_id) : loadingSchema(table.loading);

/** The schema in which a load fills a new table before it replaces the empty one. */
export const loadingSchema = (number: number): string => `l_${id(number)}`;

/** The physical table inside its schema. */
export const bareTableName = (table: { lineage_id: number }): string => `t_${id(table.lineage_id)}`;

/**
 * The table that keeps the superseded versions of its rows; the function and the trigger that fill
 * it have the same name.
 */
export const historyName = (table: TablePlace): string => `${schemaName(table.branch_id)}.${bareHistoryName(table)}`;

/** That name inside the schema. */
export const bareHistoryName = (table: { lineage_id: number }): string => `h_${id(table.lineage_id)}`;

/** The physical column of a column definition. */
export const columnName = (column: { lineage_id: number }): string => `c_${id(column.lineage_id)}`;

/** The key of a column in the cells of an operation (`change-requests/`), as a literal. */
export const cellKey = (column: { lineage_id: number }): string => `'${id(column.lineage_id)}'`;

/** The relation of the operations that a change request has on a table, within a statement. */
export const operationsName = (table: { lineage_id: number }): string => `op_${id(table.lineage_id)}`;

/**
 * The operations of a change request on a table while they are applied; dropped with the
 * transaction.
 */
export const applicationName = (table: { lineage_id: number }): string => `pg_temp.q_${id(table.lineage_id)}`;

/** The problems of all of them. */
export const operationProblemsName = 'pg_temp.operation_problems';

/** A retired column, whose values are kept for a while; `revision` makes it unique. */
export const retiredColumnName = (columnLineageId: number, revision: number): string =>
  `x_${id(columnLineageId)}_${id(revision)}`;

/** A retired table, which can be restored for a while. */
export const retiredTableName = (retiredId: number): string => `r_${id(retiredId)}`;

/** Its history. */
export const retiredHistoryName = (retiredId: number): string => `rh_${id(retiredId)}`;

/** The primary key, unique among live rows; foreign keys refer to it. */
export const keyConstraint = (table: { lineage_id: number }): string => `k_${id(table.lineage_id)}`;

/** The constraint that required columns of live rows have values. */
export const requiredConstraint = (table: { lineage_id: number }): string => `n_${id(table.lineage_id)}`;

/** The list of allowed values of one column. */
export const valuesConstraint = (column: { lineage_id: number }): string => `v_${id(column.lineage_id)}`;

/** The foreign key that begins with this column. */
export const foreignKeyConstraint = (tableLineageId: number, columnLineageId: number): string =>
  `f_${id(tableLineageId)}_${id(columnLineageId)}`;

/** The index that serves that foreign key. */
export const foreignKeyIndex = (tableLineageId: number, columnLineageId: number): string =>
  `i_${id(tableLineageId)}_${id(columnLineageId)}`;

/**
 * The function that keeps cycles out of the hierarchy that begins with this column; the names of
 * its triggers begin like it.
 */
export const hierarchyName = (table: TablePlace, columnLineageId: number): string =>
  `${schemaName(table.branch_id)}.${bareHierarchyName(table, columnLineageId)}`;

/** That name inside the schema. */
export const bareHierarchyName = (table: { lineage_id: number }, columnLineageId: number): string =>
  `y_${id(table.lineage_id)}_${id(columnLineageId)}`;

/** The index on svc_updated_at. */
export const updatedIndex = (table: { lineage_id: number }): string => `u_${id(table.lineage_id)}`;

const gridKinds = { ascending: 'a', descending: 'd', words: 'w' } as const;

/**
 * The columns of an index of the grid: a column by its lineage, or a system column by its negative
 * place; `equalId`: a column in front of it.
 */
type GridIndexColumns = { kind: keyof typeof gridKinds; columnId: number; equalId?: number };

/** An index of the grid. */
export const gridIndexName = (tableLineageId: number, { kind, columnId, equalId }: GridIndexColumns): string =>
  `g_${id(tableLineageId)}_${equalId === undefined ? '' : `e${id(equalId)}`}${gridKinds[kind]}${columnId < 0 ? `s${id(-columnId)}` : id(columnId)}`;

/** The pattern of these names, as a regular expression of PostgreSQL. */
export const gridIndexPattern = '^g_[0-9]+_(e[0-9]+)?[adw]s?[0-9]+$';

/** The path of an index that a query found by that pattern. */
export function gridIndexPath(schema: string, name: string): string {
  if (!/^b_[0-9]+$/.test(schema) || !new RegExp(gridIndexPattern).test(name))
    throw new Error(`${name} is no index of the grid`);
  return `${schema}.${name}`;
}

/** The statistics of an index by words. */
export const gridStatisticsName = (table: TablePlace, columnId: number): string =>
  `${tableSchema(table)}.gs_${id(table.lineage_id)}_${id(columnId)}`;

/** The pattern of the names of indexes on one of these columns. */
export const gridIndexesOn = (columns: { lineage_id: number }[]): string => {
  const any = columns.map((column) => id(column.lineage_id)).join('|');
  return `^g_[0-9]+_(e(${any})[ad]s?[0-9]+|(e[0-9]+)?[adw](${any}))$`;
};

/** The table that a file is staged in on its way into a deployed table. */
export const stagingName = (number: number): string => `staging.s_${id(number)}`;

/**
 * The rejected rows of a staged file. This table and the following are dropped with its
 * transaction.
 */
export const rejectionsName = (number: number): string => `pg_temp.x_${id(number)}`;

/** The kept cells of the rejected rows, and the reasons. */
export const reasonsName = (number: number): string => `pg_temp.w_${id(number)}`;

/** The names that several records of a referenced table share, for a cell in that place. */
export const ambiguousName = (number: number, position: number): string =>
  `pg_temp.a_${id(number)}_${id(position + 1)}`;

/** The keys of the rejected rows. */
export const rejectedKeysName = (number: number): string => `pg_temp.k_${id(number)}`;

/** The references among the rejected rows. */
export const rowLinksName = (number: number): string => `pg_temp.l_${id(number)}`;

/** The references among the live rows that the file lacks. */
export const liveLinksName = (number: number): string => `pg_temp.v_${id(number)}`;

/** A cell of a staged file, by its place in the line. */
export const stagedColumn = (position: number): string => `f_${id(position + 1)}`;

/** The rows of a merge and their outcomes in a table; dropped with its transaction. */
export const mergeName = (table: { lineage_id: number }): string => `pg_temp.m_${id(table.lineage_id)}`;

const mergedForms = { key: 'k', source: 's', misfit: 'x', base: 'b', target: 't', outcome: 'o', state: 'p' } as const;

/**
 * A column of it: the value on a side, whether the source's value doesn't fit, the outcome, and its
 * state.
 */
export const mergedColumn = (form: keyof typeof mergedForms, column: { lineage_id: number }): string =>
  `${mergedForms[form]}_${id(column.lineage_id)}`;

/** The schema of the views for people with an SQL client, of the deployed tables of a branch. */
export const viewSchema = (branchId: number): string => `v_${id(branchId)}`;

/** The pattern of these names, as a regular expression. */
export const viewSchemaPattern = '^v_[0-9]{1,9}$';

const maxNameBytes = 63; // bytes

/**
 * The view of a deployed table: named by its key, whose end becomes `~` and a number when it is too
 * long for a name.
 */
export function viewName({ branch_id, lineage_id, key }: TablePlace & { key: string }): string {
  const end = `~${id(lineage_id)}`; // a key has no such sign, so no two views have the same name
  const name = Buffer.byteLength(key) > maxNameBytes ? firstBytes(key, maxNameBytes - end.length) + end : key;
  return `${viewSchema(branch_id)}.${quoteName(name)}`;
}

function firstBytes(text: string, bytes: number): string {
  let begin = '';
  for (const character of text) {
    if (Buffer.byteLength(begin + character) > bytes) break;
    begin += character;
  }
  return begin;
}

/** Any text as a quoted name, as PostgreSQL's quote_ident writes it; U+0000 is in no name. */
export function quoteName(text: string): string {
  if (text === '' || text.includes('\u0000') || !text.isWellFormed()) throw new Error('this text can be no name');
  return `"${text.replaceAll('"', '""')}"`;
}
