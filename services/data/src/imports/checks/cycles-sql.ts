// Rows of a staged file on cycles of a hierarchy, found among the file's rows and the live rows
// that stay. Rows that only hang below a cycle are not on it. Pure.

import { columnName, tableName } from '../../sql/identifiers.ts';
import { hierarchiesOf, hierarchyProblem, namesOf, refersSql } from '../../tables/hierarchies.ts';
import { type DeployedTable, type ForeignKey, keyColumns } from '../../tables/table.ts';
import type { LoadOptions } from '../plan/load-options.ts';
import type { LoadPlan } from '../plan/load-plan.ts';
import { cellSql, isDeletionSql, keyEquals, typedSql } from '../staging/staged-cells.ts';
import type { Staging } from '../staging/staged-file.ts';
import { type Rejection, reasonSql, rejectSql } from '../staging/staged-sql.ts';

/** The hierarchies whose references the file sets. */
function loadedHierarchies(table: DeployedTable, { sources }: LoadPlan): ForeignKey[] {
  const given = new Set(sources.map(({ column }) => column.lineage_id));
  return hierarchiesOf(table).filter(({ columns }) => columns.some((lineage) => given.has(lineage)));
}

// Every row as it would be after the merge: rows of the file by their negative number, whose
// columns that the file lacks keep their values, and live rows that the file doesn't name. Rows to
// be deleted are left out: no row refers to them, as orphans are rejected before.
function cyclesSql(name: string, table: DeployedTable, plan: LoadPlan, hierarchy: ForeignKey): string {
  const { columns, target_columns } = hierarchy;
  const live = tableName(table);
  const bySource = new Map(plan.sources.map((source) => [source.column.lineage_id, source]));
  const all = [...new Set([...target_columns, ...columns])];
  const cell = (lineage_id: number) => {
    const source = bySource.get(lineage_id);
    return `${source ? typedSql(plan, source, 's') : `t.${columnName({ lineage_id })}`} as ${columnName({ lineage_id })}`;
  };
  const same = keyEquals(plan, 't', 's');
  const own = all.map((lineage_id) => `t.${columnName({ lineage_id })}`).join(', ');
  return (
    `with node as materialized (select -s.svc_row as id, ${all.map(cell).join(', ')} from ${name} s` +
    ` left join ${live} t on t.svc_live and ${same} where not ${isDeletionSql(plan, 's')}` +
    ` union all select t.svc_sk, ${own} from ${live} t where t.svc_live and not exists (select from ${name} s where ${same}))` +
    ` select unnest(rows_on_cycles(array_agg(c.id), array_agg(p.id))) as id from node c join node p on ${refersSql(hierarchy)}`
  );
}

/** Rejects the rows on cycles; undefined when the file sets no reference of a hierarchy. */
export function rejectCyclesSql(
  staging: Staging,
  table: DeployedTable,
  plan: LoadPlan,
  options: LoadOptions,
): Rejection | undefined {
  const hierarchies = loadedHierarchies(table, plan);
  if (hierarchies.length === 0 || keyColumns(table.structure).length === 0) return undefined;
  const found = hierarchies
    .map(
      (hierarchy, place) =>
        `select -id, ${place} from (${cyclesSql(staging.name, table, plan, hierarchy)}) y where id < 0`,
    )
    .join(' union all ');
  return rejectSql(
    staging,
    options,
    () => `select svc_row, array_agg(place) from (${found}) o(svc_row, place) group by svc_row`,
    ({ bind }) => {
      const reasons = hierarchies.map((hierarchy, place) => {
        const names = namesOf(table, hierarchy);
        const cells = plan.sources.filter(({ column }) => hierarchy.columns.includes(column.lineage_id));
        const value = cells.map((source) => cellSql(source, 's')).join(` || ', ' || `);
        return `case when ${place} = any(f.broken) then ${reasonSql(bind, names, value, hierarchyProblem(names))} end`;
      });
      return `to_jsonb(array_remove(array[${reasons.join(', ')}], null))`;
    },
  );
}
