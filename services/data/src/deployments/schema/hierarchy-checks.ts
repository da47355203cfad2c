// The checks of rows for a hierarchy that a deployment adds: which of them lie on cycles. Pure.
import { tableName } from '../../sql/identifiers.ts';
import type { Statement } from '../../sql/statement.ts';
import { hierarchiesOf, keyTextSql, namesOf, refersSql, shownRows } from '../../tables/hierarchies.ts';
import { getColumn, type WantedTable } from '../../tables/table.ts';
import { finalOf, isKept, type Pair } from './checks.ts';

/**
 * Finds the rows on cycles of each hierarchy that the table doesn't have yet: `rows` of them, the
 * first `names`.
 */
export function cyclesSql(
  pair: Pair,
  pairOf: (lineageId: number) => Pair,
): { columns: string; statement: Statement }[] {
  const { old, wanted } = pair;
  if (!old) return [];
  return hierarchiesOf(wanted)
    .filter((hierarchy) => !hierarchiesOf(old).some((each) => isKept(each, hierarchy, pair, pairOf)))
    .map((hierarchy) => {
      const final = (lineage: number, row: string) => finalOf(old, getColumn(wanted.structure, lineage), row);
      const match = hierarchy.columns.map(
        (lineage, i) => `(${final(hierarchy.target_columns[i] as number, 'p')}) = (${final(lineage, 'c')})`,
      );
      const name = tableName(old);
      const text =
        `with cycle as materialized (select rows_on_cycles(array_agg(c.svc_sk), array_agg(p.svc_sk)) as ids` +
        ` from ${name} c join ${name} p on ${match.join(' and ')} where not c.svc_is_deleted and not p.svc_is_deleted)` +
        ` select cardinality(ids) as rows, array(select ${keyTextSql(old, 't')} from ${name} t where t.svc_sk = any(ids) order by t.svc_sk limit ${shownRows}) as names from cycle`;
      return { columns: namesOf(wanted, hierarchy), statement: { text, values: [] } };
    });
}

/** The blocker for rows on cycles. */
export const cycleBlocker = (columns: string, names: string[], rows: number): string =>
  `${columns} is a hierarchy; rows lead back to themselves: ${names.join(', ')}${rows > names.length ? ', …' : ''}.`;

/** Fails when rows that were inserted before the triggers were made lie on a cycle. */
export function proveHierarchiesSql(table: WantedTable): string[] {
  const name = tableName(table);
  return hierarchiesOf(table).map(
    (hierarchy) =>
      `do $$begin if (select cardinality(rows_on_cycles(array_agg(c.svc_sk), array_agg(p.svc_sk))) > 0 from ${name} c join ${name} p` +
      ` on ${refersSql(hierarchy)} where c.svc_live and p.svc_live) then raise check_violation; end if; end$$`,
  );
}
