// The keys of rejected rows. A full load deletes live rows that the file lacks; the file has the
// rejected rows, so their live rows stay. Kept in a temporary table beside the staged file. Pure.

import { columnName, liveLinksName, rejectedKeysName, rejectionsName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import type { DeployedTable } from '../../tables/table.ts';
import type { LoadPlan } from '../plan/load-plan.ts';
import { brokenCellSql, typedSql } from '../staging/staged-cells.ts';
import type { Staging } from '../staging/staged-file.ts';

const keptColumn = (place: number): string => `k_${place + 1}`;

/** The columns that hold a key. */
export const keptColumns = (plan: LoadPlan): string => plan.key.map((_, place) => keptColumn(place)).join(', ');

// A problem that came with a row may say that its text is not what the file has.
function isReadableSql(plan: LoadPlan, alias: string, values: Values): string {
  const broken = plan.key.map((source) => brokenCellSql(source, alias, values.bind));
  const names = ['', ...plan.key.map((source) => source.column.name)];
  const stated = plan.numbered
    ? [
        `exists (select from jsonb_array_elements(${alias}.svc_problems::jsonb) p where p->>'column' = any(${values.bind(names, 'text[]')}))`,
      ]
    : [];
  return `not (${[...stated, ...broken].join(' or ')})`;
}

/**
 * Creates the table of the keys and the numbers of their rows; a key that can't be read is null.
 */
export function createRejectedKeysSql({ name, number }: Staging, plan: LoadPlan): Statement {
  const columns = plan.key.map((source, place) => `${typedSql(plan, source, 's')} as ${keptColumn(place)}`);
  return {
    text: `create temporary table ${rejectedKeysName(number)} on commit drop as select s.svc_row, ${columns.join(', ')} from ${name} s with no data`,
    values: [],
  };
}

/** Keeps the keys of rejected rows that are still in the staged file. */
export function keepRejectedKeysSql({ name, number }: Staging, plan: LoadPlan): Statement {
  const values = new Values();
  const cells = plan.key.map((source) => `case when readable then ${typedSql(plan, source, 's')} end`);
  const isRejected = `exists (select from ${rejectionsName(number)} r where r.svc_row = s.svc_row)`;
  return {
    text:
      `insert into ${rejectedKeysName(number)} select s.svc_row, ${cells.join(', ')} from ${name} s` +
      ` cross join lateral (select ${isReadableSql(plan, 's', values)} as readable offset 0) k where ${isRejected}`,
    values: values.list,
  };
}

/**
 * The number of the first rejected row with the key that these expressions give, in the order of
 * the columns.
 */
export function rejectedRowSql(
  { number }: Staging,
  plan: LoadPlan,
  columns: readonly number[],
  cells: string[],
): string {
  const kept = columns.map((lineage) => keptColumn(plan.key.findIndex(({ column }) => column.lineage_id === lineage)));
  return `(select min(k.svc_row) from ${rejectedKeysName(number)} k where (${kept.join(', ')}) = (${cells.join(', ')}))`;
}

/** Whether a live row has the key of a kept one. */
export const isKeptSql = (plan: LoadPlan, live: string, kept: string): string =>
  plan.key.map(({ column }, place) => `${live}.${columnName(column)} = ${kept}.${keptColumn(place)}`).join(' and ');

/** How many rejected rows have no readable key: one row `unknown`. */
export const countUnreadableKeysSql = ({ number }: Staging): Statement => ({
  text: `select count(*)::int as unknown from ${rejectedKeysName(number)} where ${keptColumn(0)} is null`,
  values: [],
});

/**
 * Rows that kept rows refer to must be kept too: which of the live rows that the file lacks refer
 * to which others of them, `parent` to `child`. None when the table doesn't refer to itself.
 */
export function linkLiveRowsSql({ name, number }: Staging, table: DeployedTable, plan: LoadPlan): string[] {
  const live = tableName(table);
  const isMissing = (row: string) => {
    const equal = plan.key.map((source) => `${row}.${columnName(source.column)} = ${typedSql(plan, source, 's')}`);
    return `${row}.svc_live and not exists (select from ${name} s where ${equal.join(' and ')})`;
  };
  const links = table.structure.foreign_keys
    .filter(({ target_lineage_id }) => target_lineage_id === table.lineage_id)
    .map(({ columns, target_columns }) => {
      const pairs = columns.map((lineage, i) => [lineage, target_columns[i] as number] as const);
      const equal = pairs.map(
        ([own, key]) => `y.${columnName({ lineage_id: key })} = x.${columnName({ lineage_id: own })}`,
      );
      return (
        `select x.svc_sk as parent, y.svc_sk as child from ${live} x join ${live} y on ${equal.join(' and ')}` +
        ` where ${isMissing('x')} and ${isMissing('y')}`
      );
    });
  if (links.length === 0) return [];
  return [
    `create temporary table ${liveLinksName(number)} on commit drop as ${links.join(' union all ')}`,
    `create index on ${liveLinksName(number)} (parent)`,
  ];
}

/**
 * Keeps the keys of rows that kept rows refer to, also through others; as many rows as would have
 * been deleted otherwise.
 */
export function keepReferencedKeysSql({ number }: Staging, table: DeployedTable, plan: LoadPlan): Statement {
  const [live, keys] = [tableName(table), rejectedKeysName(number)];
  const next = `(select child from ${liveLinksName(number)} where parent = h.svc_sk offset 0)`;
  const referenced =
    `with recursive referenced(svc_sk) as (select x.svc_sk from ${live} x join ${keys} k on ${isKeptSql(plan, 'x', 'k')} where x.svc_live` +
    ` union select l.child from referenced h cross join lateral ${next} l) select svc_sk from referenced`;
  const key = plan.key.map(({ column }) => `y.${columnName(column)}`);
  return {
    text:
      `insert into ${keys} (${keptColumns(plan)}) select ${key.join(', ')} from ${live} y where y.svc_sk in (${referenced})` +
      ` and not exists (select from ${keys} k where ${isKeptSql(plan, 'y', 'k')})`,
    values: [],
  };
}
