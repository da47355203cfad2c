// Rows that were exported, edited and are loaded again: each names the row it was made of, and its
// version. A row that would overwrite a later change is rejected; a row that equals the present one
// is left alone. Pure.

import { columnName, stagedColumn, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import type { DeployedTable } from '../../tables/table.ts';
import type { Bind } from '../../values/check.ts';
import type { LoadOptions } from '../plan/load-options.ts';
import type { LoadPlan } from '../plan/load-plan.ts';
import { keyEquals, typedSql } from '../staging/staged-cells.ts';
import type { Staging } from '../staging/staged-file.ts';
import { type Rejection, reasonSql, rejectSql } from '../staging/staged-sql.ts';

const number = (cell: string) => `case when ${cell} ~ '^[0-9]{1,18}$' then ${cell}::bigint end`;

// Why the staged row can't be merged, as a reason; null when it can.
function conflictSql(table: DeployedTable, plan: LoadPlan, alias: string, bind: Bind): string {
  const versions = plan.versions as NonNullable<LoadPlan['versions']>;
  const [sk, version] = [versions.sk, versions.version].map((place) => `nullif(${alias}.${stagedColumn(place)}, '')`);
  const columns = (sources: LoadPlan['sources']) => ({
    live: `row(${sources.map(({ column }) => `t.${columnName(column)}`).join(', ')})`,
    staged: `row(${sources.map((source) => typedSql(plan, source, alias)).join(', ')})`,
  });
  const [key, all] = [columns(plan.key), columns(plan.sources)];
  const names = plan.key.map(({ column }) => column.name).join(', ');
  const keyText = plan.key.map((source) => `${typedSql(plan, source, alias)}::text`).join(` || ', ' || `);
  const because = (column: string, value: string, message: string) => reasonSql(bind, column, value, message);
  const changed = because(
    'svc_version',
    version as string,
    'The row was changed after the file was made, and differs from this one: export it again, and edit that',
  );
  return `(select case
    when ${sk} is null and ${version} is not null then ${because('svc_sk', `''`, 'svc_sk must be as it was exported; of a new row svc_version is empty, too')}
    when ${sk} is null and k.svc_sk is not null then ${because(names, keyText, `${names} must be unique: the table has a row with this value, and svc_sk is empty, as of a new row`)}
    when ${sk} is null then null
    when ${number(sk as string)} is null then ${because('svc_sk', sk as string, 'svc_sk must be as it was exported, or empty for a new row')}
    when ${number(version as string)} is null then ${because('svc_version', `coalesce(${version}, '')`, 'svc_version must be as it was exported')}
    when t.svc_sk is null then ${because('svc_sk', sk as string, 'The row was deleted after the file was made; leave svc_sk and svc_version empty to add it again')}
    when ${key.live} is distinct from ${key.staged} then ${because(names, keyText, `${names} can't be changed in an edited file: it is the key by which the row is known`)}
    when t.svc_version <> ${number(version as string)} and ${all.live} is distinct from ${all.staged} then ${changed}
    end from (select) one
    left join ${tableName(table)} t on t.svc_live and t.svc_sk = ${number(sk as string)}
    left join ${tableName(table)} k on k.svc_live and ${sk} is null and ${keyEquals(plan, 'k', alias)})`;
}

/** Whether any row of the staged file conflicts with the table: one row `found`. */
export function findConflictsSql({ name }: Staging, table: DeployedTable, plan: LoadPlan): Statement {
  const values = new Values();
  const conflict = conflictSql(table, plan, 's', values.bind);
  return { text: `select exists (select from ${name} s where ${conflict} is not null) as found`, values: values.list };
}

/** Rejects the rows that conflict with what the table has now. */
export function rejectConflictsSql(
  staging: Staging,
  table: DeployedTable,
  plan: LoadPlan,
  options: LoadOptions,
): Rejection {
  return rejectSql(
    staging,
    options,
    ({ bind }) =>
      `select s.svc_row, null::integer[] from ${staging.name} s where ${conflictSql(table, plan, 's', bind)} is not null`,
    ({ bind }) => `jsonb_build_array(${conflictSql(table, plan, 's', bind)})`,
  );
}
