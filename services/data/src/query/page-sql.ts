// A page of rows and the exact number of matches, as one statement whose answer is the body itself.
import type { DeployedTable } from '../catalogue/structure.ts';
import type { Bind } from '../values/check.ts';
import { answerableSql, rowsSql } from './as-of-sql.ts';
import type { Filter, PagePlan } from './filter.ts';
import { filterSql, orderSql } from './filter-sql.ts';
import { beginWithRecord } from './record-sql.ts';
import type { Statement, Values } from './statement.ts';

// The count is a scalar subquery of its own: counting in a window would compute it along the sorted rows (0.6 of the speed).
// Rows are rendered after they were chosen. No row comes back when the table is no longer what the statement was made for.
function pageParts(
  table: DeployedTable,
  plan: PagePlan,
  asOf: string | undefined,
): { values: Values; rows: string; count: string; current: string } {
  const { values, record } = beginWithRecord(table);
  const { bind } = values;
  const at = asOf === undefined ? undefined : bind(asOf, 'timestamptz');
  const from = rowsSql(table, at);
  const conditions = [
    plan.includeDeleted ? [] : ['not svc_is_deleted'],
    isEmpty(plan.filter) ? [] : [filterSql(plan.filter, bind)],
  ].flat();
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
  const page = `select * from ${from}${where} order by ${orderSql(plan.sorts)} limit ${bind(plan.limit, 'int')} offset ${bind(plan.offset, 'bigint')}`;
  return {
    values,
    current: answerableSql(table, at, bind),
    rows: `(select coalesce(string_agg(${record}, ','), '') from (${page}) p)`,
    count: `(select count(*) from ${from}${where})`,
  };
}

const isEmpty = (filter: Filter) => 'all' in filter && filter.all.length === 0;

/** The grid's answer: one row with one text column `answer`. `asOf`: of the rows as they were at that instant. */
export function gridSql(table: DeployedTable, plan: PagePlan, asOf?: string): Statement {
  const { values, rows, count, current } = pageParts(table, plan, asOf);
  return {
    text: `select '{"rows":[' || ${rows} || '],"rowCount":' || ${count} || '}' as answer where ${current}`,
    values: values.list,
  };
}

export type PageNumbers = { page: number; perPage: number };

/** The answer of a list with page numbers. */
export function listSql(table: DeployedTable, plan: PagePlan, page: PageNumbers, asOf?: string): Statement {
  const { values, rows, count, current } = pageParts(table, plan, asOf);
  return {
    text: `select '{"data":[' || ${rows} || ${metaSql(page, values.bind)} as answer from ${count} as counted(c) where ${current}`,
    values: values.list,
  };
}

/** What ends the body of a list: `meta`, of `c` items in all. */
export function metaSql({ page, perPage }: PageNumbers, bind: Bind): string {
  const size = bind(perPage, 'int');
  return `'],"meta":{"page":' || ${bind(page, 'int')} || ',"per_page":' || ${size} || ',"total_count":' || c || ',"total_pages":' || (c + ${size} - 1) / ${size} || '}}'`;
}
