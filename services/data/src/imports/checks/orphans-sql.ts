// Rows of a staged file that refer to records that aren't there. In a table that refers to itself the file's own rows are records too, as long
// as they are not rejected, and records that the load deletes are none. Pure.

import { columnName, rowLinksName, tableName } from '../../sql/identifiers.ts';
import type { Statement } from '../../sql/statement.ts';
import { type DeployedTable, getColumn } from '../../tables/table.ts';
import type { LoadOptions } from '../plan/load-options.ts';
import type { LoadPlan, Source } from '../plan/load-plan.ts';
import { cellSql, isDeletionSql, typedSql } from '../staging/staged-cells.ts';
import type { Staging } from '../staging/staged-file.ts';
import { type Rejection, reasonSql, rejectSql } from '../staging/staged-sql.ts';
import { isKeptSql, rejectedRowSql } from './rejected-keys-sql.ts';

/** What becomes of live rows that the file lacks: whether they go, and where the keys are of those that stay, as their rows were rejected. */
export type Going = { deletes: boolean; keys?: string };

type ReferenceCheck = {
  /** Whether the table refers to itself by it: the key it refers to, column by column. */
  own?: { columns: number[]; cells: string[] };
  names: string;
  values: string;
  /** Whether `s` refers to a record that isn't there. */
  missing: string;
  /** In a table that refers to itself: whether `s` refers to `p`, also a row of the file, and to no live row. */
  leans?: string;
};

function referenceChecks(name: string, table: DeployedTable, plan: LoadPlan, going: Going): ReferenceCheck[] {
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
    // The referenced columns are the key, of which every file has all.
    const own = foreignKey.target_columns.map((lineage) => typedSql(plan, bySource.get(lineage) as Source, 'p'));
    const isOwn = `not ${isDeletionSql(plan, 'p')} and (${own.join(', ')}) = (${typed.join(', ')})`;
    return {
      ...check,
      own: { columns: foreignKey.target_columns, cells: typed },
      missing:
        `${given} and not exists (${live} and ${staysSql(name, plan, going)})` +
        ` and not exists (select from ${name} p where ${isOwn})`,
      leans: `${given} and ${isOwn} and not exists (${live})`,
    };
  });
}

// Of a live row `r` that no good row of the file writes.
function staysSql(name: string, plan: LoadPlan, { deletes, keys }: Going): string {
  if (deletes)
    return keys === undefined ? 'false' : `exists (select from ${keys} k where ${isKeptSql(plan, 'r', 'k')})`;
  if (plan.codePosition === undefined) return 'true';
  const equal = plan.key.map((source) => `${typedSql(plan, source, 'd')} = r.${columnName(source.column)}`);
  return `not exists (select from ${name} d where ${isDeletionSql(plan, 'd')} and ${equal.join(' and ')})`;
}

/** Whether any row refers to a record that isn't there: one row `found`; undefined when the table refers to nothing. */
export function findOrphansSql(
  { name }: Staging,
  table: DeployedTable,
  plan: LoadPlan,
  going: Going,
): Statement | undefined {
  const checks = referenceChecks(name, table, plan, going);
  if (checks.length === 0) return undefined;
  const found = checks.map((check) => `exists (select from ${name} s where ${check.missing})`).join(' or ');
  return { text: `select ${found} as found`, values: [] };
}

/**
 * Keeps until the end of the transaction which rows of the file stand or fall with which others: `child` refers to `parent`. None when the
 * table doesn't refer to itself.
 */
export function linkRowsSql(staging: Staging, table: DeployedTable, plan: LoadPlan, going: Going): string[] {
  const { name } = staging;
  const links = referenceChecks(name, table, plan, going).flatMap(({ leans }, reference) =>
    leans === undefined
      ? []
      : `select p.svc_row as parent, s.svc_row as child, ${reference} as reference from ${name} s, ${name} p where ${leans}`,
  );
  if (links.length === 0) return [];
  return [
    `drop table if exists ${rowLinksName(staging.number)}`, // of a round before
    `create temporary table ${rowLinksName(staging.number)} on commit drop as ${links.join(' union all ')}`,
    `create index on ${rowLinksName(staging.number)} (parent)`,
  ];
}

/**
 * Rejects the rows that refer to records that aren't there, and those that refer to such rows,
 * however long the chain is; `linked`: the links among rows are kept, `rejected`: so are the keys
 * of the rows rejected before. A step along a chain is a look into their index: a join might read
 * all of them each time.
 */
export function rejectOrphansSql(
  staging: Staging,
  table: DeployedTable,
  plan: LoadPlan,
  options: LoadOptions,
  { linked, rejected, ...going }: Going & { linked: boolean; rejected: boolean },
): Rejection {
  const checks = referenceChecks(staging.name, table, plan, going);
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

// Rows `svc_row`, `broken`, `cause`. A row that refers to nothing there is a cause, and so is a row
// rejected before. All others are consequences, which have one cause each: where rows refer to one
// other row at most (`isChain`), it is found by following the links down from the causes; else it
// is the row that is referred to, as ways from many causes to many rows would be too many.
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
