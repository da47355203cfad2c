// A page of rows and the exact number of matches, as one statement whose answer is the body itself.
import { limits } from '@almanac/service-kit/limits';
import { joinedSql, mayOverflow } from '../rows/answer-size.ts';
import { rowsSql } from '../rows/as-of-sql.ts';
import { type Reading, readableSql } from '../rows/reading.ts';
import { beginWithRecord } from '../rows/record-sql.ts';
import { type Statement, unseen, Values } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { type Counting, countSql, plainCountSql } from './count-sql.ts';
import { type Filter, isByWords, type PagePlan, testsOf } from './filter.ts';
import { filterSql, orderSql } from './filter-sql.ts';

/**
 * How a page is found: by going through its order (`near`), from the nearer end and without fetching what is passed (`far`), or by
 * collecting all matches first (`matches`).
 */
type Way = 'near' | 'far' | 'matches';

const nearRows = 1_000;

function wayOf(plan: PagePlan, { asOf }: Reading, counting: Counting): Way {
  if (asOf !== undefined) return 'near';
  if (testsOf(plan.filter).some(isByWords) && areFew(plan, counting)) return 'matches';
  return plan.offset < nearRows ? 'near' : 'far';
}

// Passing a row in the order in which rows were made, which is how they lie, against fetching one: measured.
const costOfNext = 0.4;

// Nobody can tell beforehand how many rows hold a word; going through an order for few of them would take all of it. When it is known,
// all matches are fetched if they are fewer than the rows that one would pass to find those of the page.
function areFew({ offset, limit, sorts }: PagePlan, { known, mark, rows = 0 }: Counting): boolean {
  if (!known) return mark !== undefined;
  const passed = ((offset + limit) * rows) / known.count;
  return known.count <= passed * (sorts.length === 0 ? costOfNext : 1);
}

// The count is a scalar subquery of its own: counting in a window would compute it along the sorted rows (0.6 of the speed).
// Rows are rendered after they were chosen. No row comes back when the table is no longer what the statement was made for.
function pageParts(table: DeployedTable, plan: PagePlan, reading: Reading, counting: Counting) {
  const { values, record, longest, at } = beginWithRecord(table, reading, 'p');
  const { bind } = values;
  const from = rowsSql(table, at);
  const where = whereSql(plan, bind);
  const way = wayOf(plan, reading, counting);
  const joined = (json: string, rows: string) => joinedSql(json, rows, mayOverflow(plan.limit, longest));
  const isLarge = (counting.known ?? counting.mark) !== undefined;
  // Filters of large tables find few rows or many; where an index serves, one plan is the best for all.
  const afresh = isLarge && !isEmpty(plan.filter) && !plan.isInOrder;
  const page: Page = { from, where, record, joined, plan, bind, isSteady: isLarge && !afresh };
  const counted =
    way === 'matches'
      ? countSql(table, where, { mark: counting.known ? undefined : counting.mark }, bind, plainCountSql('matches', ''))
      : at === undefined
        ? countSql(table, where, counting, bind)
        : { ctes: [], from: plainCountSql(from, where), columns: '' };
  const ctes = way === 'matches' ? [matchesSql(page), ...counted.ctes] : counted.ctes;
  return {
    values,
    begin: ctes.length === 0 ? 'select' : `with ${ctes.join(', ')} select`,
    rows: rowsByWay[way](page),
    count: counted.from,
    columns: counted.columns,
    current: readableSql(table, reading, at, bind),
    afresh,
  };
}

/** The condition of a page, with its `where`; empty when every row will do. */
export function whereSql({ includeDeleted, filter }: Pick<PagePlan, 'includeDeleted' | 'filter'>, bind: Bind): string {
  const conditions = [
    includeDeleted ? [] : ['not svc_is_deleted'],
    isEmpty(filter) ? [] : [filterSql(filter, bind)],
  ].flat();
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
}

const isEmpty = (filter: Filter) => 'all' in filter && filter.all.length === 0;

type Page = {
  from: string;
  where: string;
  record: string;
  joined: (json: string, rows: string) => string;
  plan: PagePlan;
  bind: Bind;
  /** One plan serves all values. */
  isSteady: boolean;
};

const windowSql = ({ limit, offset }: PagePlan, bind: Bind) =>
  `limit ${bind(limit, 'int')} offset ${bind(offset, 'bigint')}`;

// Fetching a row by its key, which an index gave, costs as much as passing so many that are fetched, but not shown: measured.
const passedForKey = 4;

function nearSql(page: Page): string {
  const { from, where, record, joined, plan, bind, isSteady } = page;
  const rows = (columns: string) => `select ${columns} from ${from}${where} order by ${orderSql(plan)}`;
  if (!isSteady) return joined(record, `(${rows('*')} ${windowSql(plan, bind)}) p`);
  // That it is about few rows is what the planner has to know.
  const few = (columns: string) =>
    `select ${columns} from (${rows(columns)} limit ${nearRows + limits.gridRows}) near` +
    ` ${windowSql(plan, (value, type) => unseen(bind(value, type)))}`;
  return plan.offset < passedForKey * plan.limit ? joined(record, `(${few('*')}) p`) : byKeySql(page, few('svc_sk'));
}

/** The records of these keys, in their order. */
const byKeySql = ({ from, record, joined }: Page, keys: string) =>
  joined(`(select ${record} from ${from} p where p.svc_sk = k.svc_sk)`, `(${keys}) k`);

// Rows on the way to a far page are only counted, never fetched: an index of the order alone will do. The count of this very statement
// says which end is nearer; nothing is done for the other one, whose limit is 0, nor for a page behind the last row.
function farSql(page: Page): string {
  const { from, where, plan, bind } = page;
  const [limit, offset] = [bind(plan.limit, 'bigint'), bind(plan.offset, 'bigint')];
  const length = `least(${limit}, greatest(c - ${offset}, 0))`;
  const keys = (reversed: boolean, skipped: string) =>
    `select svc_sk, row_number() over () * ${reversed ? -1 : 1} as place from (select svc_sk from ${from}${where} order by ${orderSql(plan, reversed)}` +
    ` limit case when c ${reversed ? '<' : '>='} 2 * ${offset} then ${length} else 0 end offset ${skipped}) k`;
  const either = `${keys(false, offset)} union all ${keys(true, `greatest(c - ${offset} - ${limit}, 0)`)}`;
  return byKeySql(page, `select * from (${either}) either order by place`);
}

// Only what the order needs; the rows themselves are fetched when they are chosen.
function matchesSql({ from, where, plan }: Page): string {
  const columns = new Set(['svc_sk', ...plan.sorts.map(({ field }) => field.sql)]);
  return `matches as materialized (select ${[...columns].join(', ')} from ${from}${where})`;
}

function fromMatchesSql(page: Page): string {
  const { plan, bind } = page;
  return byKeySql(page, `select svc_sk from matches order by ${orderSql(plan)} ${windowSql(plan, bind)}`);
}

const rowsByWay = {
  near: nearSql,
  far: farSql,
  matches: fromMatchesSql,
} satisfies Record<Way, (page: Page) => string>;

/** The grid's answer: one row with a text column `answer`, and what `countSql` tells besides. */
export function gridSql(
  table: DeployedTable,
  plan: PagePlan,
  reading: Reading = {},
  counting: Counting = {},
): Statement {
  const { values, begin, rows, count, columns, current, afresh } = pageParts(table, plan, reading, counting);
  return {
    text: `${begin} '{"rows":[' || ${rows} || ('],"rowCount":' || c || '}') as answer${columns} from ${count} where ${current}`,
    values: values.list,
    afresh,
  };
}

/** The answer of a list, the same way; its page numbers follow from the window of the plan. */
export function listSql(
  table: DeployedTable,
  plan: PagePlan,
  reading: Reading = {},
  counting: Counting = {},
): Statement {
  const { values, begin, rows, count, columns, current, afresh } = pageParts(table, plan, reading, counting);
  const meta = metaSql({ page: plan.offset / plan.limit + 1, perPage: plan.limit }, values.bind);
  return {
    text: `${begin} '{"data":[' || ${rows} || ${meta} as answer${columns} from ${count} where ${current}`,
    values: values.list,
    afresh,
  };
}

export type PageNumbers = { page: number; perPage: number };

/** What ends the body of a list: `meta`, of `c` items in all. In brackets, for each `||` copies all that is before it. */
export function metaSql({ page, perPage }: PageNumbers, bind: Bind): string {
  const size = bind(perPage, 'int');
  return `('],"meta":{"page":' || ${bind(page, 'int')} || ',"per_page":' || ${size} || ',"total_count":' || c || ',"total_pages":' || (c + ${size} - 1) / ${size} || '}}')`;
}

/** What tells apart which rows match: the condition of a page and its values. */
export function matchKey(plan: PagePlan): string {
  const values = new Values();
  return JSON.stringify([whereSql(plan, values.bind), values.list]);
}

/** What tells apart pages of a table in one form of the answer. */
export const pageKey = (form: string, plan: PagePlan): string =>
  [form, plan.offset, plan.limit, orderSql(plan), matchKey(plan)].join(' ');
