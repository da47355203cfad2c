// Orphans: rows of a staged file that refer to records that don't exist. In a table that refers to
// itself the file's own rows count as records unless they are rejected, and records that the load
// deletes don't. Pure.

import { columnName, rowLinksName, tableName } from '../../sql/identifiers.ts';
import type { Statement } from '../../sql/statement.ts';
import { type DeployedTable, getColumn } from '../../tables/table.ts';
import type { LoadOptions } from '../plan/load-options.ts';
import type { LoadPlan, Source } from '../plan/load-plan.ts';
import { cellSql, isDeletionSql, typedSql } from '../staging/staged-cells.ts';
import type { Staging } from '../staging/staged-file.ts';
import { type Rejection, reasonSql, rejectSql } from '../staging/staged-sql.ts';
import { isKeptSql, rejectedRowSql } from './rejected-keys-sql.ts';

/**
 * Whether live rows that the file lacks are deleted, and the table with the keys of those that stay
 * because their rows were rejected.
 */
export type DeletionScope = { deletes: boolean; keys?: string };

type ReferenceCheck = {
  /** Of a reference to the table itself: the key it refers to, column by column. */
  own?: { columns: number[]; cells: string[] };
  names: string;
  values: string;
  /** Whether `s` refers to a record that doesn't exist. */
  missing: string;
  /**
   * Of a reference to the table itself: whether `s` refers to `p`, also a row of the file, and to
   * no live row.
   */
  refers?: string;
};

function referenceChecks(name: string, table: DeployedTable, plan: LoadPlan, scope: DeletionScope): ReferenceCheck[] {
  const bySource = new Map(plan.sources.map((source) => [source.column.lineage_id, source]));
  return table.structure.foreign_keys.flatMap((foreignKey) => {
    const sources = foreignKey.columns.flatMap((lineage) => bySource.get(lineage) ?? []);
    if (sources.length < foreignKey.columns.length) return [];
    const target = tableName({ branch_id: table.branch_id, lineage_id: foreignKey.target_lineage_id });
    const cells = sources.map((source) => cellSql(source, 's'));
    const typed = sources.map((source) => typedSql(plan, source, 's'));
    const key = foreignKey.target_columns.map((lineage) => `r.${columnName({ lineage_id: lineage })}`);
    const given = `not ${isDeletionSql(plan, 's')} and ${cells.map((cell) => `${cell} is not null`).join(' and ')}`;
    const live = `select from ${target} r where r.svc_live and (${key.join(', ')}) = (${typed.join(', ')})`;
    const check = {
      names: foreignKey.columns.map((lineage) => getColumn(table.structure, lineage).name).join(', '),
      values: cells.join(` || ', ' || `),
    };
    if (foreignKey.target_lineage_id !== table.lineage_id)
      return { ...check, missing: `${given} and not exists (${live})` };
    // The referenced columns are the key, and every file has all columns of the key.
    const own = foreignKey.target_columns.map((lineage) => typedSql(plan, bySource.get(lineage) as Source, 'p'));
    const isOwn = `not ${isDeletionSql(plan, 'p')} and (${own.join(', ')}) = (${typed.join(', ')})`;
    return {
      ...check,
      own: { columns: foreignKey.target_columns, cells: typed },
      missing:
        `${given} and not exists (${live} and ${staysSql(name, plan, scope)})` +
        ` and not exists (select from ${name} p where ${isOwn})`,
      refers: `${given} and ${isOwn} and not exists (${live})`,
    };
  });
}

// Whether the live row `r`, which no good row of the file writes, stays.
function staysSql(name: string, plan: LoadPlan, { deletes, keys }: DeletionScope): string {
  if (deletes)
    return keys === undefined ? 'false' : `exists (select from ${keys} k where ${isKeptSql(plan, 'r', 'k')})`;
  if (plan.codePosition === undefined) return 'true';
  const equal = plan.key.map((source) => `${typedSql(plan, source, 'd')} = r.${columnName(source.column)}`);
  return `not exists (select from ${name} d where ${isDeletionSql(plan, 'd')} and ${equal.join(' and ')})`;
}

/**
 * Whether any row refers to a record that doesn't exist: one row `found`; undefined when the table
 * has no references.
 */
export function findOrphansSql(
  { name }: Staging,
  table: DeployedTable,
  plan: LoadPlan,
  scope: DeletionScope,
): Statement | undefined {
  const checks = referenceChecks(name, table, plan, scope);
  if (checks.length === 0) return undefined;
  const found = checks.map((check) => `exists (select from ${name} s where ${check.missing})`).join(' or ');
  return { text: `select ${found} as found`, values: [] };
}

/**
 * Keeps until the end of the transaction which rows of the file refer to which others: `child` to
 * `parent`. None when the table doesn't refer to itself.
 */
export function linkRowsSql(staging: Staging, table: DeployedTable, plan: LoadPlan, scope: DeletionScope): string[] {
  const { name } = staging;
  const links = referenceChecks(name, table, plan, scope).flatMap(({ refers }, reference) =>
    refers === undefined
      ? []
      : `select p.svc_row as parent, s.svc_row as child, ${reference} as reference from ${name} s, ${name} p where ${refers}`,
  );
  if (links.length === 0) return [];
  return [
    `drop table if exists ${rowLinksName(staging.number)}`, // of an earlier round
    `create temporary table ${rowLinksName(staging.number)} on commit drop as ${links.join(' union all ')}`,
    `create index on ${rowLinksName(staging.number)} (parent)`,
  ];
}

/**
 * Rejects the orphans, and the rows that refer to them, however long the chain is. `linked`: the
 * references among rows are kept; `rejected`: so are the keys of the rows rejected before. Each
 * step along a chain is an index lookup: a join might read all references each time.
 */
export function rejectOrphansSql(
  staging: Staging,
  table: DeployedTable,
  plan: LoadPlan,
  options: LoadOptions,
  { linked, rejected, ...scope }: DeletionScope & { linked: boolean; rejected: boolean },
): Rejection {
  const checks = referenceChecks(staging.name, table, plan, scope);
  const first = checks.map(({ missing, own }, reference) => {
    const cause = own && rejected ? rejectedRowSql(staging, plan, own.columns, own.cells) : 'null::bigint';
    return `select s.svc_row, ${reference} as reference, ${cause} as cause from ${staging.name} s where ${missing}`;
  });
  const isChain = checks.filter(({ own }) => own).length === 1;
  return rejectSql(
    staging,
    options,
    () => foundOrphansSql(first.join(' union all '), linked ? rowLinksName(staging.number) : undefined, isChain),
    ({ bind }) => {
      const reasons = checks.map(({ names, values, own }, reference) => {
        const message = `${names} must refer to a record of the referenced table`;
        const cause =
          own && `${bind(`${message}; that of the file is rejected because of row `, 'text')} || f.cause::text`;
        return `case when ${reference} = any(f.broken) then ${reasonSql(bind, names, values, message, cause)} end`;
      });
      return `to_jsonb(array_remove(array[${reasons.join(', ')}], null))`;
    },
  );
}

// Rows `svc_row`, `broken`, `cause`. A row that refers to no record is a cause, and so is a row
// rejected before. All others are consequences with one cause each. Where each row refers to at
// most one other (`isChain`), the cause is found by following the references down from the causes;
// else the cause is the row referred to, as there would be too many paths from causes to rows.
function foundOrphansSql(first: string, links: string | undefined, isChain: boolean): string {
  const next = (from: string) =>
    `cross join lateral (select child, reference from ${links} where parent = ${from}.svc_row offset 0) l`;
  const chain = links === undefined ? '' : ` union select l.child, l.reference from orphan o ${next('o')}`;
  const isNoRoot = (child: string) => `${child} not in (select svc_row from root)`;
  const followed =
    links === undefined
      ? ''
      : isChain
        ? ` union all select l.child, coalesce(c.cause, c.svc_row) from caused c ${next('c')} where ${isNoRoot('l.child')}`
        : ` union all select l.child, min(l.parent) from ${links} l where l.parent in (select svc_row from orphan)` +
          ` and ${isNoRoot('l.child')} group by l.child`;
  return (
    `with recursive first as materialized (${first}),` +
    ' root as materialized (select svc_row, case when bool_and(cause is not null) then min(cause) end as cause from first group by svc_row),' +
    ` orphan(svc_row, reference) as (select svc_row, reference from first${chain}),` +
    ` caused(svc_row, cause) as (select svc_row, cause from root${followed})` +
    ' select o.svc_row, o.broken, c.cause from (select svc_row, array_agg(reference) as broken from orphan group by svc_row) o' +
    ' join caused c on c.svc_row = o.svc_row'
  );
}
