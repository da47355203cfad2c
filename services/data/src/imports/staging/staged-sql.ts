// The checks of a staged file: which rows may be merged, and why others may not. The rules are
// those of the row API (`values/`), applied to all rows at once. Pure.

import { ambiguousName, reasonsName, rejectionsName, stagedColumn } from '../../sql/identifiers.ts';
import { quoteLiteral } from '../../sql/literals.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import { requiredMessage, sentence, valueChecks } from '../../tables/column-rules.ts';
import { isRequired } from '../../tables/table.ts';
import type { Bind, Check } from '../../values/check.ts';
import { messageOf } from '../plan/cell-reading.ts';
import type { LoadOptions } from '../plan/load-options.ts';
import type { LoadPlan, Source } from '../plan/load-plan.ts';
import { loadLimits } from './load-limits.ts';
import { ambiguousMessage, namedSql, unknownMessage } from './lookups-sql.ts';
import { brokenCellSql, cellSql, codeSql, givenSql, isDeletionSql, typedSql, unknownSql } from './staged-cells.ts';
import type { Staging } from './staged-file.ts';

export function createStagingSql(
  name: string,
  { fileColumns, lookups, valueMaps, numbered, firstRow }: LoadOptions,
): string {
  const cells = fileColumns.length + lookups.length;
  const columns = Array.from({ length: cells }, (_, i) => `${stagedColumn(i)} text collate "C"`);
  for (const [i, { position, sql }] of valueMaps.entries())
    columns.push(
      `${stagedColumn(cells + i)} text collate "C" generated always as (${sql(stagedColumn(position))}) stored`,
    );
  // Otherwise rows are numbered as they come; the sequence caches a thousand numbers, which costs
  // next to nothing.
  const number = numbered
    ? ['svc_row bigint not null', 'svc_problems text']
    : [`svc_row bigint generated always as identity (start with ${firstRow} cache 1000)`];
  return `create unlogged table ${name} (${[...columns, ...number].join(', ')}) with (autovacuum_enabled = off)`;
}

/** Copies the file's bytes as they come. An unquoted empty cell is null, `""` an empty text. */
export function copyStagingSql(name: string, { fileColumns, delimiter, quote, numbered }: LoadOptions): string {
  const own = numbered ? ['svc_row', 'svc_problems'] : [];
  const columns = [...own, ...fileColumns.map((_, i) => stagedColumn(i))].join(', ');
  const mark = (character: string) => quoteLiteral(character).trim();
  return `copy ${name} (${columns}) from stdin with (format csv, delimiter ${mark(delimiter)}, quote ${mark(quote)}, escape ${mark(quote)}, encoding 'UTF8')`;
}

const badCodeSql = (plan: LoadPlan, alias: string) => `coalesce(${codeSql(plan, alias)} not in ('i', 'u', 'd'), true)`;

/**
 * Whether any cell breaks a rule, or the row came with a problem. Of a row that deletes, only the
 * key is checked.
 */
export function brokenRowSql(plan: LoadPlan, alias: string, bind: Bind): string {
  const keys = new Set(plan.key);
  const stated = plan.numbered ? [`when ${alias}.svc_problems is not null then true`] : [];
  const code = plan.codePosition === undefined ? [] : [`when ${badCodeSql(plan, alias)} then true`];
  const key = plan.key.map((source) => `when ${brokenCellSql(source, alias, bind)} then true`);
  const deletes = plan.codePosition === undefined ? [] : [`when ${isDeletionSql(plan, alias)} then false`];
  const others = plan.sources
    .filter((source) => !keys.has(source))
    .map((source) => `when ${brokenCellSql(source, alias, bind)} then true`);
  return `case ${[...stated, ...code, ...key, ...deletes, ...others, 'when false then true'].join(' ')} else false end`;
}

/** How many rows there are and how many break a rule: one pass, one row `rows`, `broken`. */
export function countBrokenSql(name: string, plan: LoadPlan): Statement {
  const values = new Values();
  return {
    text: `select count(*) as rows, count(*) filter (where ${brokenRowSql(plan, 's', values.bind)}) as broken from ${name} s`,
    values: values.list,
  };
}

/** One reason; `otherwise`: an expression whose value, unless null, replaces the message. */
export const reasonSql = (bind: Bind, column: string, value: string, message: string, otherwise?: string) => {
  const text = otherwise === undefined ? bind(message, 'text') : `coalesce(${otherwise}, ${bind(message, 'text')})`;
  return `jsonb_build_object('column', ${bind(column, 'text')}, 'value', left(${value}, 200), 'message', ${text})`;
};

// The first broken rule of the cell, in the words of the row API, with the value that the file has.
function cellReasonSql(number: number, source: Source, alias: string, bind: Bind): string {
  const [given, cell] = [givenSql(source, alias), cellSql(source, alias)];
  const { column, lookup, reading, unknown } = source;
  const value = `${alias}.${stagedColumn(source.position)}`;
  const reason = (message: string) => reasonSql(bind, column.name, value, sentence(column, message));
  const none = isRequired(column) ? `then ${reason(requiredMessage)}` : 'then null';
  const nameless = lookup
    ? [
        `when ${cell} is null and ${namedSql(source, lookup, alias, bind)} in (select value from ${ambiguousName(number, lookup.position)}) then ${reason(ambiguousMessage(lookup))}`,
        `when ${cell} is null then ${reason(unknownMessage(lookup))}`,
      ]
    : [];
  // A looked-up value is a key of the referenced table, whatever form the file uses.
  const messageFor = (check: Check) => (lookup ? check.message : messageOf(check, reading));
  const checks = valueChecks(column).map(
    (check) => `when ${check.brokenSql(cell, bind)} then ${reason(messageFor(check))}`,
  );
  const isUnknown = unknownSql(source, alias);
  const unmapped = isUnknown && unknown ? `when ${isUnknown} then ${reason(unknown.message)} ` : '';
  return `case ${unmapped}when ${given} is null ${none} ${[...nameless, ...checks].join(' ')} end`;
}

/** Two statements that reject rows: one finds them, one keeps them with their reasons. */
export type Rejection = { find: Statement; keep: Statement };

/**
 * Creates the tables of the rejected rows, with the references that are broken, and of what is kept
 * of them. `cause`: the row to correct, where it isn't the rejected one itself.
 */
export const createRejectionsSql = ({ number }: Staging): string[] => [
  `create temporary table ${rejectionsName(number)} (svc_row bigint not null, broken integer[], cause bigint) on commit drop`,
  `create temporary table ${reasonsName(number)} (svc_row bigint not null, cells text[], reasons jsonb, cause bigint) on commit drop`,
];

/**
 * Finds rows by a query of `svc_row`, optionally `broken` and `cause`, and keeps those that are
 * still in the staged file, `s`, with their reasons; `f` is what was found. Only the first are kept
 * when there are more than a load may reject.
 */
export function rejectSql(
  { name, number }: Staging,
  { fileColumns }: LoadOptions,
  found: (values: Values) => string,
  reasons: (values: Values) => string,
): Rejection {
  const [finding, keeping] = [new Values(), new Values()];
  const cells = `array[${fileColumns.map((_, i) => `s.${stagedColumn(i)}`).join(', ')}]`;
  const first = `select * from ${rejectionsName(number)} order by svc_row limit ${loadLimits.rejectedRows}`;
  const find = `insert into ${rejectionsName(number)} ${found(finding)}`;
  const keep =
    `insert into ${reasonsName(number)} select s.svc_row, ${cells}, ${reasons(keeping)}, f.cause` +
    ` from (${first}) f join ${name} s on s.svc_row = f.svc_row`;
  return { find: { text: find, values: finding.list }, keep: { text: keep, values: keeping.list } };
}

// Problems that came with the row stand first; a row that could not be read at all has no
// meaningful cells.
function givenReasonsSql(found: string): string {
  const stated = 's.svc_problems::jsonb';
  return `coalesce(${stated}, '[]') || case when ${stated} @> '[{"column": ""}]' then '[]' else ${found} end`;
}

/** Rejects the rows that break a rule, with every reason. */
export function rejectBrokenSql(staging: Staging, plan: LoadPlan, options: LoadOptions): Rejection {
  return rejectSql(
    staging,
    options,
    ({ bind }) => `select s.svc_row from ${staging.name} s where ${brokenRowSql(plan, 's', bind)}`,
    ({ bind }) => {
      const keys = new Set(plan.key);
      const cells = plan.sources.map((source) => {
        const reason = cellReasonSql(staging.number, source, 's', bind);
        return plan.codePosition === undefined || keys.has(source)
          ? reason
          : `case when ${isDeletionSql(plan, 's')} then null else ${reason} end`;
      });
      const code =
        plan.codePosition === undefined
          ? []
          : [
              `case when ${badCodeSql(plan, 's')} then ${reasonSql(bind, 'svc_transaction_code', `s.${stagedColumn(plan.codePosition)}`, 'svc_transaction_code must be i, u or d')} end`,
            ];
      const found = `to_jsonb(array_remove(array[${[...code, ...cells].join(', ')}], null))`;
      return plan.numbered ? givenReasonsSql(found) : found;
    },
  );
}

// A row that deletes and one that writes may share a key: the deletion comes first.
const writesSql = (plan: LoadPlan, alias: string) =>
  plan.codePosition === undefined ? '' : ` where not ${isDeletionSql(plan, alias)}`;

/** Rejects rows to be written whose key an earlier row of the file has. */
export function rejectDuplicatesSql(staging: Staging, plan: LoadPlan, options: LoadOptions): Rejection {
  const key = plan.key.map((source) => typedSql(plan, source, 'd')).join(', ');
  const numbered = `select svc_row, row_number() over (partition by ${key} order by svc_row) as n from ${staging.name} d${writesSql(plan, 'd')}`;
  const names = plan.key.map((source) => source.column.name).join(', ');
  const value = plan.key.map((source) => cellSql(source, 's')).join(` || ', ' || `);
  return rejectSql(
    staging,
    options,
    () => `select svc_row from (${numbered}) o where n > 1`,
    ({ bind }) =>
      `jsonb_build_array(${reasonSql(bind, names, value, `${names} must be unique: an earlier row of the file has this value`)})`,
  );
}

/** Whether the file writes any key twice: one row `found`. */
export function findDuplicatesSql(name: string, plan: LoadPlan): Statement {
  const key = plan.key.map((source) => typedSql(plan, source, 's')).join(', ');
  return {
    text: `select exists (select from ${name} s${writesSql(plan, 's')} group by ${key} having count(*) > 1) as found`,
    values: [],
  };
}

/** Takes the rejected rows out of the staged file. */
export const removeRejectedSql = ({ name, number }: Staging): string =>
  `delete from ${name} s using ${rejectionsName(number)} r where r.svc_row = s.svc_row`;

/** How many of the kept rows are rejected only because they refer to others: one row `count`. */
export const countConsequencesSql = ({ number }: Staging): string =>
  `select count(cause)::int as count from ${reasonsName(number)}`;

/**
 * The first reasons, rows `row`, `column`, `value`, `message`, `consequences` (of the first reason
 * of a cause) and `cause_row`: causes in the order of the file, then their consequences.
 */
export const firstReasonsSql = ({ number }: Staging): string =>
  `select r.svc_row as row, x.value->>'column' as "column", coalesce(x.value->>'value', '') as value, x.value->>'message' as message,
     case when x.n = 1 then c.count end as consequences, r.cause as cause_row
   from (select * from ${reasonsName(number)} order by cause is not null, svc_row limit ${loadLimits.shownRejections}) r
   left join (select cause, count(*)::int from ${reasonsName(number)} group by cause) c on c.cause = r.svc_row
   cross join lateral jsonb_array_elements(r.reasons) with ordinality x(value, n)
   order by r.cause is not null, r.svc_row, x.n limit ${loadLimits.shownRejections}`;
