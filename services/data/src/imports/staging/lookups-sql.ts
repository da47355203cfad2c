// Cells that name the records they refer to instead of giving their keys. Before a staged file is
// checked, all names are looked up in one join, and the keys are kept beside the file's cells; from
// there on a load knows only keys. Pure.

import { ambiguousName, columnName, stagedColumn, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import type { Column, DeployedTable } from '../../tables/table.ts';
import { anyBrokenSql, type Bind } from '../../values/check.ts';
import { typeOf } from '../../values/value-types.ts';
import type { LoadPlan, Source } from '../plan/load-plan.ts';
import type { Lookup } from '../plan/lookups.ts';
import { brokenCellSql, cellSql, givenSql, isDeletionSql } from './staged-cells.ts';

/** The messages for cells that name no record, or several. */
export const unknownMessage = ({ table, shown }: Lookup): string =>
  `must be the ${shown.name} of a record of ${table.name}`;
export const ambiguousMessage = ({ table, shown }: Lookup): string =>
  `is the ${shown.name} of several records of ${table.name}; give their key instead`;

/**
 * What a cell names, as a value of the column that records are shown by: equal values are found
 * however they are written. Null names nothing.
 */
export function namedSql(source: Source, { shown }: Lookup, alias: string, bind: Bind): string {
  const given = givenSql(source, alias);
  const { base, checks } = typeOf(shown);
  return base === 'text'
    ? given
    : `case when not (${anyBrokenSql(checks(shown), given, bind)}) then (${given})::${base} end`;
}

/**
 * Pairs `value`, `key` of all records that a cell may name, the key as text; also of the file's own
 * rows, when the table refers to itself.
 */
export function candidatesSql(name: string, table: DeployedTable, plan: LoadPlan, lookup: Lookup, bind: Bind): string {
  const { shown } = lookup;
  const base = (column: Column) => typeOf(column).base;
  const live =
    `select r.${columnName(shown)}::${base(shown)} as value, r.${columnName(lookup.key)}::${base(lookup.key)} as key` +
    ` from ${tableName(lookup.table)} r where r.svc_live and r.${columnName(shown)} is not null`;
  const ofFile = (column: Column) =>
    plan.sources.find((source) => source.column.lineage_id === column.lineage_id && !source.lookup);
  const [key, value] = [ofFile(lookup.key), ofFile(shown)];
  if (lookup.table.table_definition_id !== table.table_definition_id || !key || !value)
    return `select value, key::text from (${live}) l`;
  const readable = (source: Source) =>
    `case when not (${brokenCellSql(source, 'o', bind)}) then (${cellSql(source, 'o')})::${base(source.column)} end`;
  const own =
    `select ${readable(value)} as value, ${readable(key)} as key from ${name} o` +
    ` where not ${isDeletionSql(plan, 'o')}`;
  const before = plan.replaces
    ? ''
    : ` union all select * from (${live}) l where not exists (select from (${own}) f where f.key = l.key)`;
  const all = `select distinct value, key from (${own}${before}) e where value is not null and key is not null`;
  return `select value, key::text from (${all}) a`;
}

/**
 * Keeps until the end of the transaction the values that several records of a referenced table
 * share: one statement for each lookup.
 */
export function keepAmbiguousSql(
  { name, number }: { name: string; number: number },
  table: DeployedTable,
  plan: LoadPlan,
): Statement[] {
  return plan.sources.flatMap(({ lookup }) => {
    if (!lookup) return [];
    const values = new Values();
    const candidates = candidatesSql(name, table, plan, lookup, values.bind);
    return {
      text:
        `create temporary table ${ambiguousName(number, lookup.position)} on commit drop as` +
        ` select value from (${candidates}) c group by value having count(*) > 1`,
      values: values.list,
    };
  });
}

/**
 * Fills the keys of all lookups whose cell names exactly one record: one statement. Undefined:
 * there are none.
 */
export function resolveSql(name: string, table: DeployedTable, plan: LoadPlan): Statement | undefined {
  const looked = plan.sources.flatMap((source) => (source.lookup ? [{ source, lookup: source.lookup }] : []));
  if (looked.length === 0) return undefined;
  const values = new Values();
  const joins = looked.map(
    ({ source, lookup }, i) =>
      ` left join (select c.value, max(c.key) as key from (${candidatesSql(name, table, plan, lookup, values.bind)}) c` +
      ` group by c.value having count(*) = 1) k${i} on k${i}.value = ${namedSql(source, lookup, 'g', values.bind)}`,
  );
  const found = looked.map((_, i) => `k${i}.key as key${i}`).join(', ');
  const sets = looked.map(({ lookup }, i) => `${stagedColumn(lookup.position)} = m.key${i}`).join(', ');
  return {
    text:
      `update ${name} s set ${sets} from (select g.svc_row, ${found} from ${name} g${joins.join('')}) m` +
      ' where m.svc_row = s.svc_row',
    values: values.list,
  };
}
