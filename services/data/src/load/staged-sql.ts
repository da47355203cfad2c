// What a staged file says: whether a row may go on, and why not. The rules are those of the row API
// (`values/`), applied to all rows at once. Pure.
import { type DeployedTable, isRequired } from '../catalogue/structure.ts';
import { stagedColumn } from '../query/identifiers.ts';
import { quoteLiteral } from '../query/literals.ts';
import { type Statement, Values } from '../query/statement.ts';
import type { Bind } from '../values/check.ts';
import { requiredMessage, sentence, valueChecks } from '../values/column-rules.ts';
import type { LoadOptions, LoadPlan, Source } from './load-options.ts';
import { ambiguousMessage, candidatesSql, type Lookup, namedSql, unknownMessage } from './lookups.ts';
import { brokenCellSql, cellSql, codeSql, givenSql, isDeletionSql, typedSql } from './staged-cells.ts';

export function createStagingSql(name: string, { fileColumns, lookups, numbered, firstRow }: LoadOptions): string {
  const cells = fileColumns.length + lookups.length;
  const columns = Array.from({ length: cells }, (_, i) => `${stagedColumn(i)} text collate "C"`);
  // Else rows are numbered as they come; the numbers are taken in handfuls, which costs next to nothing.
  const number = numbered
    ? ['svc_row bigint not null', 'svc_problems text']
    : [`svc_row bigint generated always as identity (start with ${firstRow} cache 1000)`];
  return `create unlogged table ${name} (${[...columns, ...number].join(', ')}) with (autovacuum_enabled = off)`;
}

/** Takes the file's bytes as they come. An unquoted empty cell is null, `""` an empty text. */
export function copyStagingSql(name: string, { fileColumns, delimiter, quote, numbered }: LoadOptions): string {
  const own = numbered ? ['svc_row', 'svc_problems'] : [];
  const columns = [...own, ...fileColumns.map((_, i) => stagedColumn(i))].join(', ');
  const mark = (character: string) => quoteLiteral(character).trim();
  return `copy ${name} (${columns}) from stdin with (format csv, delimiter ${mark(delimiter)}, quote ${mark(quote)}, escape ${mark(quote)}, encoding 'UTF8')`;
}

const badCodeSql = (plan: LoadPlan, alias: string) => `coalesce(${codeSql(plan, alias)} not in ('i', 'u', 'd'), true)`;

/** Whether any cell breaks a rule, or the row came with a problem. Of a row that deletes, only the key is read. */
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

/** One reason, as it is told. */
export const reasonSql = (bind: Bind, column: string, value: string, message: string) =>
  `jsonb_build_object('column', ${bind(column, 'text')}, 'value', left(${value}, 200), 'message', ${bind(message, 'text')})`;

// The first broken rule of the cell, as the row API would tell it, with the value that the file has.
function cellReasonSql(source: Source, alias: string, bind: Bind, candidates: (lookup: Lookup) => string): string {
  const [given, cell] = [givenSql(source, alias), cellSql(source, alias)];
  const { column, lookup } = source;
  const value = `${alias}.${stagedColumn(source.position)}`;
  const reason = (message: string) => reasonSql(bind, column.name, value, sentence(column, message));
  const none = isRequired(column) ? `then ${reason(requiredMessage)}` : 'then null';
  const nameless = lookup
    ? [
        `when ${cell} is null and ${namedSql(source, lookup, alias, bind)} in (select n.value from (${candidates(lookup)}) n) then ${reason(ambiguousMessage(lookup))}`,
        `when ${cell} is null then ${reason(unknownMessage(lookup))}`,
      ]
    : [];
  const checks = valueChecks(column).map(
    (check) => `when ${check.brokenSql(cell, bind)} then ${reason(check.message)}`,
  );
  return `case when ${given} is null ${none} ${[...nameless, ...checks].join(' ')} end`;
}

export type Target = { accountId: number; loadId: string };

/** Keeps the rows `s` of a staged file that `from` leaves, with their reasons. */
export function keepRejectedSql(
  name: string,
  target: Target,
  options: LoadOptions,
  select: (values: Values) => { reasons: string; from: string },
): Statement {
  const values = new Values();
  const { reasons, from } = select(values);
  const cells = `array[${options.fileColumns.map((_, i) => `s.${stagedColumn(i)}`).join(', ')}]`;
  return {
    text:
      `insert into rejected_row (account_id, load_id, row_number, cells, reasons)` +
      ` select ${values.bind(target.accountId, 'int')}, ${values.bind(target.loadId, 'text')}, s.svc_row, ${cells}, ${reasons}` +
      ` from ${name} s ${from}`,
    values: values.list,
  };
}

// What came with the row stands first; a row that could not be read at all has no cells to speak of.
function statedReasonsSql(found: string): string {
  const stated = 's.svc_problems::jsonb';
  return `coalesce(${stated}, '[]') || case when ${stated} @> '[{"column": ""}]' then '[]' else ${found} end`;
}

/** Keeps the rows that break a rule, with every reason. */
export function rejectBrokenSql(
  name: string,
  target: Target,
  table: DeployedTable,
  plan: LoadPlan,
  options: LoadOptions,
): Statement {
  return keepRejectedSql(name, target, options, ({ bind }) => {
    const keys = new Set(plan.key);
    const candidates = (lookup: Lookup) => candidatesSql(name, table, plan, lookup, bind);
    const cells = plan.sources.map((source) => {
      const reason = cellReasonSql(source, 's', bind, candidates);
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
    return {
      reasons: plan.numbered ? statedReasonsSql(found) : found,
      from: `where ${brokenRowSql(plan, 's', bind)}`,
    };
  });
}

/** Keeps the rows whose key an earlier row of the file has. */
export function rejectDuplicatesSql(name: string, target: Target, plan: LoadPlan, options: LoadOptions): Statement {
  return keepRejectedSql(name, target, options, ({ bind }) => {
    const key = plan.key.map((source) => typedSql(plan, source, 'd')).join(', ');
    const names = plan.key.map((source) => source.column.name).join(', ');
    const value = plan.key.map((source) => cellSql(source, 's')).join(` || ', ' || `);
    return {
      reasons: `jsonb_build_array(${reasonSql(bind, names, value, `${names} must be unique: an earlier row of the file has this value`)})`,
      from: `join (select svc_row, row_number() over (partition by ${key} order by svc_row) as n from ${name} d) o on o.svc_row = s.svc_row and o.n > 1`,
    };
  });
}

/** Whether any key is in the file twice: one row `found`. */
export function findDuplicatesSql(name: string, plan: LoadPlan): Statement {
  const key = plan.key.map((source) => typedSql(plan, source, 's')).join(', ');
  return {
    text: `select exists (select from ${name} s group by ${key} having count(*) > 1) as found`,
    values: [],
  };
}

/** Takes the kept rows out of the staged file. */
export function removeRejectedSql(name: string, target: Target): Statement {
  return {
    text: `delete from ${name} s using rejected_row r where r.account_id = $1::int and r.load_id = $2::text and r.row_number = s.svc_row`,
    values: [target.accountId, target.loadId],
  };
}
