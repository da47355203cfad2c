// A page of rows and the exact number of matches, as one statement that returns the body of the
// answer.
import { limits } from '@almanac/service-kit/limits';
import { joinedSql, mayOverflow } from '../rows/answer-size.ts';
import { withLabels } from '../rows/labels.ts';
import { halvesSql } from '../rows/proposed-sql.ts';
import { type Reading, readableSql, relationOf } from '../rows/reading.ts';
import { startWithRecord } from '../rows/record-sql.ts';
import { hiddenFromPlanner, type Statement, Values } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { type Counting, countSql, plainCountSql } from './count-sql.ts';
import { type Filter, filterAt, hasLabel, isTextSearch, type PagePlan, type RowSelection, testsOf } from './filter.ts';
import { filterSql, orderSql } from './filter-sql.ts';

/**
 * How a page is found. `scan`: along its order. `index-offset`: by counting in an index, from the
 * nearer end, without fetching the rows before the page. `materialize`: by collecting all matches
 * first.
 */
type PageStrategy = 'scan' | 'index-offset' | 'materialize';

const maxScanOffset = 1_000;

function strategyOf(plan: PagePlan, { asOf, through }: Reading, counting: Counting): PageStrategy {
  if (asOf !== undefined || through !== undefined) return 'scan';
  if (testsOf(plan.filter).some(isTextSearch) && isMaterializingCheaper(plan, counting)) return 'materialize';
  return plan.offset < maxScanOffset ? 'scan' : 'index-offset';
}

// The cost of scanning a row in the order of svc_sk, in which rows are stored, relative to fetching
// one; measured.
const costOfScannedRow = 0.4;

// Until the count is known, all matches are collected once, for the count and the page. Then they
// are if they are fewer than the rows that a scan would read to find those of the page.
function isMaterializingCheaper({ offset, limit, sorts }: PagePlan, { known, rows = 0 }: Counting): boolean {
  if (!known) return true;
  const scanned = ((offset + limit) * rows) / known.count;
  return known.count <= scanned * (sorts.length === 0 ? costOfScannedRow : 1);
}

// The count is a scalar subquery: a window function would count along the sorted rows (0.6 of the
// speed). Rows are rendered after they are chosen. The statement returns no row when the table is
// not what it was made for.
function pageParts(table: DeployedTable, request: PagePlan, reading: Reading, counting: Counting) {
  const { values, record, maxBytes, at } = startWithRecord(table, { ...reading, columns: request.columns }, 'p');
  const { bind } = values;
  const filtered = { ...request, filter: filterAt(request.filter, at) };
  const strategy = strategyOf(filtered, reading, counting);
  // Every value that is bound has to be used: with several parts nothing else has the condition.
  const parts = strategy === 'materialize' ? partsOf(filtered, bind) : ([whereSql(filtered, bind)] as const);
  const [where] = parts;
  const { from, plainCount, extraCount } = sourceOf(table, reading, at, filtered, where, bind);
  const { from: ordered, fields } = withLabels(
    from,
    request.sorts.map(({ field }) => field),
    at,
  );
  const plan = { ...filtered, sorts: request.sorts.map((sort, i) => ({ ...sort, field: fields[i] ?? sort.field })) };
  const joined = (json: string, rows: string) => joinedSql(json, rows, mayOverflow(plan.limit, maxBytes));
  const isLarge = (counting.known ?? counting.mark) !== undefined;
  // Filters of large tables match few rows or many; where an index serves the filter, one plan is
  // the best for all values.
  const customPlan =
    reading.labelled !== undefined ||
    reading.through !== undefined ||
    (isLarge && !isEmpty(plan.filter) && !plan.isInOrder);
  const page: PageSource = { from, ordered, where, record, joined, plan, bind, hasGenericPlan: isLarge && !customPlan };
  const counted =
    strategy === 'materialize'
      ? countSql(table, where, { mark: counting.known ? undefined : counting.mark }, bind, plainCountSql('matches', ''))
      : plainCount === undefined
        ? countSql(table, where, counting, bind)
        : { ctes: [], from: plainCount, columns: '' };
  const ctes = strategy === 'materialize' ? [matchesSql(page, parts), ...counted.ctes] : counted.ctes;
  return {
    values,
    begin: ctes.length === 0 ? 'select' : `with ${ctes.join(', ')} select`,
    rows: writersByStrategy[strategy](page),
    // OFFSET keeps the planner from copying the expression to every place that names it.
    count:
      extraCount === undefined
        ? counted.from
        : `${counted.from} cross join lateral (select c + ${extraCount} offset 0) as through_count(total)`,
    total: extraCount === undefined ? 'c' : 'total',
    columns: counted.columns,
    current: readableSql(table, reading, at, bind),
    customPlan,
  };
}

/**
 * `plainCount`: counts the rows where counts are not cached. `extraCount`: how many rows more match
 * than of the table itself.
 */
type Source = { from: string; plainCount?: string; extraCount?: string };

// Through a change request each half is put in its order and cut before both are: an index of the
// table serves its half.
function sourceOf(
  table: DeployedTable,
  reading: Reading,
  at: string | undefined,
  plan: PagePlan,
  where: string,
  bind: Bind,
): Source {
  if (!reading.through) {
    const from = relationOf(table, reading, at, bind);
    return { from, ...(at !== undefined && { plainCount: plainCountSql(from, where) }) };
  }
  const { rows, countSql: counted } = halvesSql(table, reading.through, bind);
  const first = `order by ${orderSql(plan)} limit ${bind(plan.offset + plan.limit, 'bigint')}`;
  const halves = rows.map((half) => `(select * from (${half}) half${where} ${first})`);
  const from = `(${halves.join(' union all ')}) through`;
  const count = counted(where, columnsOf(plan.filter));
  return reading.through.onlyChanged
    ? { from, plainCount: `(select ${count}) as counted(c)` }
    : { from, extraCount: count };
}

/** The physical columns that a filter reads. */
const columnsOf = (filter: Filter): Set<string> =>
  new Set(testsOf(filter).flatMap(({ field }) => field.label?.columns ?? field.sql));

/** The condition of a page, with its `where`; empty when every row matches. */
export function whereSql({ includeDeleted, filter }: RowSelection, bind: Bind): string {
  const conditions = [
    includeDeleted ? [] : ['not svc_is_deleted'],
    isEmpty(filter) ? [] : [filterSql(filter, bind)],
  ].flat();
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
}

// The condition as several, of which a match meets at least one. No index finds the rows of a text
// and those of a label together, so each finds its own; of several words the longest, which is the
// rarest as a rule.
function partsOf(selection: RowSelection, bind: Bind): [string, ...string[]] {
  const all = 'all' in selection.filter ? selection.filter.all : [selection.filter];
  const [mixed] = all.filter(isMixed).toSorted((one, other) => longestText(other) - longestText(one));
  if (!mixed) return [whereSql(selection, bind)];
  const others = all.filter((each) => each !== mixed);
  const part = (any: Filter[]) => whereSql({ ...selection, filter: { all: [...others, { any }] } }, bind);
  return [part(mixed.any.filter((each) => !hasLabel(each))), ...mixed.any.filter(hasLabel).map((each) => part([each]))];
}

const isMixed = (filter: Filter): filter is { any: Filter[] } =>
  'any' in filter && filter.any.some(hasLabel) && !filter.any.every(hasLabel);
const longestText = (filter: Filter) =>
  Math.max(...testsOf(filter).map(({ test }) => (test.kind === 'text' ? test.value.length : 0)));

const isEmpty = (filter: Filter) => 'all' in filter && filter.all.length === 0;

type PageSource = {
  from: string;
  /** The same rows with what they are ordered by. */
  ordered: string;
  where: string;
  record: string;
  joined: (json: string, rows: string) => string;
  plan: PagePlan;
  bind: Bind;
  /** The generic plan is the best for all values. */
  hasGenericPlan: boolean;
};

const windowSql = ({ limit, offset }: PagePlan, bind: Bind) =>
  `limit ${bind(limit, 'int')} offset ${bind(offset, 'bigint')}`;

// Fetching a row by a key from an index costs as much as scanning so many rows; measured.
const costOfKeyLookup = 4;

function scanSql(page: PageSource): string {
  const { ordered, where, record, joined, plan, bind, hasGenericPlan } = page;
  const rows = (columns: string) => `select ${columns} from ${ordered}${where} order by ${orderSql(plan)}`;
  if (!hasGenericPlan) return joined(record, `(${rows('*')} ${windowSql(plan, bind)}) p`);
  // The limit tells the planner that the page needs few rows.
  const few = (columns: string) =>
    `select ${columns} from (${rows(columns)} limit ${maxScanOffset + limits.gridRows}) first_rows` +
    ` ${windowSql(plan, (value, type) => hiddenFromPlanner(bind(value, type)))}`;
  return plan.offset < costOfKeyLookup * plan.limit ? joined(record, `(${few('*')}) p`) : byKeySql(page, few('svc_sk'));
}

/** The records of these keys, in their order. */
const byKeySql = ({ from, record, joined }: PageSource, keys: string) =>
  joined(`(select ${record} from ${from} p where p.svc_sk = k.svc_sk)`, `(${keys}) k`);

// The rows before a far page are counted in an index of the order, and not fetched. The count of
// this statement decides which end is nearer; the limit for the other end, and for a page behind
// the last row, is 0.
function indexOffsetSql(page: PageSource): string {
  const { ordered, where, plan, bind } = page;
  const [limit, offset] = [bind(plan.limit, 'bigint'), bind(plan.offset, 'bigint')];
  const length = `least(${limit}, greatest(c - ${offset}, 0))`;
  const keys = (reversed: boolean, skipped: string) =>
    `select svc_sk, row_number() over () * ${reversed ? -1 : 1} as place from (select svc_sk from ${ordered}${where} order by ${orderSql(plan, reversed)}` +
    ` limit case when c ${reversed ? '<' : '>='} 2 * ${offset} then ${length} else 0 end offset ${skipped}) k`;
  const either = `${keys(false, offset)} union all ${keys(true, `greatest(c - ${offset} - ${limit}, 0)`)}`;
  return byKeySql(page, `select * from (${either}) either order by place`);
}

// The columns of the order alone; the rows are fetched when they are chosen.
function matchesSql({ ordered, plan }: PageSource, parts: readonly string[]): string {
  const columns = [...new Set(['svc_sk', ...plan.sorts.map(({ field }) => field.sql)])].join(', ');
  return `matches as materialized (${parts.map((where) => `select ${columns} from ${ordered}${where}`).join(' union ')})`;
}

function materializeSql(page: PageSource): string {
  const { plan, bind } = page;
  return byKeySql(page, `select svc_sk from matches order by ${orderSql(plan)} ${windowSql(plan, bind)}`);
}

const writersByStrategy = {
  scan: scanSql,
  'index-offset': indexOffsetSql,
  materialize: materializeSql,
} satisfies Record<PageStrategy, (page: PageSource) => string>;

/** The answer of the grid: one row with a text column `answer`, and the columns of `countSql`. */
export function gridSql(
  table: DeployedTable,
  plan: PagePlan,
  reading: Reading = {},
  counting: Counting = {},
): Statement {
  const { values, begin, rows, count, total, columns, current, customPlan } = pageParts(table, plan, reading, counting);
  return {
    text: `${begin} '{"rows":[' || ${rows} || ('],"rowCount":' || ${total} || '}') as answer${columns} from ${count} where ${current}`,
    values: values.list,
    customPlan,
  };
}

/** The answer of a list, the same way; its page numbers follow from the window of the plan. */
export function listSql(
  table: DeployedTable,
  plan: PagePlan,
  reading: Reading = {},
  counting: Counting = {},
): Statement {
  const { values, begin, rows, count, total, columns, current, customPlan } = pageParts(table, plan, reading, counting);
  const meta = metaSql({ page: plan.offset / plan.limit + 1, perPage: plan.limit }, values.bind, total);
  return {
    text: `${begin} '{"data":[' || ${rows} || ${meta} as answer${columns} from ${count} where ${current}`,
    values: values.list,
    customPlan,
  };
}

export type PageNumbers = { page: number; perPage: number };

/**
 * The end of the body of a list: `meta`, of `total` items in all. In brackets, for each `||` copies
 * the text before it.
 */
export function metaSql({ page, perPage }: PageNumbers, bind: Bind, total = 'c'): string {
  const size = bind(perPage, 'int');
  return `('],"meta":{"page":' || ${bind(page, 'int')} || ',"per_page":' || ${size} || ',"total_count":' || ${total} || ',"total_pages":' || (${total} + ${size} - 1) / ${size} || '}}')`;
}

/** Equal for pages of the same matches: the condition and its values. */
export function matchKey(selection: RowSelection): string {
  const values = new Values();
  return JSON.stringify([whereSql(selection, values.bind), values.list]);
}

/** Equal for requests of the same page of a table. */
export const pageKey = (form: string, plan: PagePlan): string =>
  [form, plan.offset, plan.limit, ...shownKey(plan), orderSql(plan), matchKey(plan)].join(' ');

const shownKey = ({ columns }: PagePlan) => (columns ? [JSON.stringify([...columns].toSorted())] : []);
