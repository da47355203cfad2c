// Merges a staged file into its table: one try, one transaction, from the look at the catalogue to the kept result.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Sql } from '@almanac/service-kit/postgres/database';
import { isLockTimeout } from '@almanac/service-kit/postgres/errors';
import { originOf } from '../rows/origin.ts';
import * as writeTime from '../rows/write-time.ts';
import { tableName } from '../sql/identifiers.ts';
import type { Statement } from '../sql/statement.ts';
import type { SqlViews } from '../sql-views/sql-views.ts';
import { catalogueSql, notDeployed } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import { type Rejected, rejectRows } from './checks/reject-rows.ts';
import { keepHeldSql, linkHeldSql } from './checks/rejected-keys-sql.ts';
import { type FreshTable, planFreshTable } from './fresh-table.ts';
import { type Counts, findResult, type LoadResult, nothing } from './load-result.ts';
import * as merge from './merge-sql.ts';
import { type LoadOptions, planLoad, readTargets } from './plan/load-options.ts';
import type { LoadPlan } from './plan/load-plan.ts';
import { loadLimits } from './staging/load-limits.ts';
import { nameSession } from './staging/load-sessions.ts';
import type { Staging } from './staging/staged-file.ts';

const takingAttempts = 40;
const patience = '60s';

export type How = {
  /**
   * References, and keys in an empty table, are left to the constraints, which check them anyway; when they object, the next try
   * finds out which rows are meant.
   */
  trusting: boolean;
  /** Into a table without rows: fill a new one and let it take the place (`fresh-table.ts`). */
  fresh: boolean;
  /** Keep other writers out. */
  alone: boolean;
};

/** One try at merging a staged file, in one transaction. */
export class Merge {
  private readonly how: How;
  private readonly sql: Sql;
  private readonly sqlViews: SqlViews;
  private readonly call: CallContext;
  private readonly options: LoadOptions;
  private readonly staging: Staging;

  constructor(sql: Sql, sqlViews: SqlViews, call: CallContext, options: LoadOptions, staging: Staging, how: How) {
    this.how = how;
    this.sql = sql;
    this.sqlViews = sqlViews;
    this.call = call;
    this.options = options;
    this.staging = staging;
  }

  private async query(statement: Statement): Promise<{ rows: Record<string, unknown>[]; count: number }> {
    const { rows, rowCount } = await this.sql(statement.text, statement.values);
    return { rows, count: rowCount ?? 0 };
  }

  /** Answers the result, which is kept with what it did. */
  async run(): Promise<LoadResult> {
    const { sql, options, call, staging } = this;
    const table = await this.enter();
    const targets = await readTargets(table, options, (id) => this.find(id));
    const plan = planLoad(table, options, targets);
    const { rows: begun } = await sql(
      `insert into finished_load (account_id, load_id, table_definition_id, result, file_columns)
       values ($1::int, $2, $3::int, '{}', $4::text[]) on conflict do nothing returning true`,
      [call.accountId, options.loadId, options.tableDefinitionId, options.fileColumns],
    );
    if (begun.length === 0) return (await findResult(sql, call.accountId, options.loadId)) as LoadResult;

    const { rows: empty } = await sql(
      `select not exists (select from ${tableName(table)} where not svc_is_deleted) as empty`,
    );
    const isEmpty = empty[0]?.empty as boolean;
    const trusting = this.how.trusting;
    const rejected = await rejectRows(sql, {
      accountId: call.accountId,
      table,
      plan,
      options,
      staging,
      isEmpty,
      trusting,
    });
    const result = await this.finish(table, plan, isEmpty, rejected);
    await sql('update finished_load set result = $3::jsonb where account_id = $1::int and load_id = $2', [
      call.accountId,
      options.loadId,
      JSON.stringify(result),
    ]);
    return result;
  }

  // SET LOCAL and LOCK take no snapshot: the first that does is the look at the catalogue, when deployments are kept out.
  private async enter(): Promise<DeployedTable> {
    const { sql, options } = this;
    for (const setting of [
      `statement_timeout = '${loadLimits.statementMinutes}min'`,
      `lock_timeout = '${patience}'`,
      "work_mem = '128MB'",
    ])
      await sql(`set local ${setting}`);
    await nameSession(sql, 'work', { accountId: this.call.accountId, loadId: options.loadId });
    const mode = this.how.alone || this.how.fresh ? 'share row exclusive' : 'row exclusive';
    await sql(`lock table ${this.staging.target} in ${mode} mode`);
    const table = await this.find(options.tableDefinitionId);
    if (!table) throw notDeployed();
    return table;
  }

  private async find(tableDefinitionId: number): Promise<DeployedTable | undefined> {
    const { rows } = await this.query(catalogueSql.byId(this.call.accountId, tableDefinitionId));
    return rows[0] as DeployedTable | undefined;
  }

  private async finish(
    table: DeployedTable,
    plan: LoadPlan,
    isEmpty: boolean,
    { count: rejected, consequences, values, excess, keys, unknown, deletes }: Rejected,
  ): Promise<LoadResult> {
    const { sql, options, staging } = this;
    const base = { rows_read: staging.rows, rejected, rejections: values };
    const failed = (error: string): LoadResult => ({ ...base, ...nothing, status: 'failed', errors: [error] });
    if (excess !== undefined) return failed(excess);
    if (rejected > 0 && !options.rejectRows)
      return failed(`${brokenMessage(rejected, consequences, staging.rows)}; nothing was loaded.`);
    const held = deletes && keys !== undefined ? await this.hold(table, plan) : 0;
    if (deletes) {
      const refusal = await this.massDeletion(table, plan, keys);
      if (refusal) return failed(refusal);
    }
    await sql('savepoint merge');
    const gone = (stamp: merge.Stamp) =>
      deletes ? merge.deleteGoneSql(table, staging.name, plan, stamp, keys) : undefined;
    const counts = await this.merge(table, plan, isEmpty, staging.rows - rejected, gone);
    // Constraints have looked at every row by now; a dry run ends here.
    if (options.dryRun) await sql('rollback to savepoint merge');
    const errors = [...(unknown > 0 ? [keylessMessage(unknown)] : []), ...(held > 0 ? [heldMessage(held)] : [])];
    return { ...base, ...counts, status: rejected > 0 ? 'completed_with_errors' : 'completed', errors };
  }

  // Answers how many rows stay that the file lacks, because records of rejected rows refer to them.
  private async hold(table: DeployedTable, plan: LoadPlan): Promise<number> {
    const links = linkHeldSql(this.staging, table, plan);
    if (links.length === 0) return 0;
    for (const statement of links) await this.sql(statement);
    return (await this.query(keepHeldSql(this.staging, table, plan))).count;
  }

  private async massDeletion(table: DeployedTable, plan: LoadPlan, keys?: string): Promise<string | undefined> {
    const percent = this.options.massDeletePercent;
    if (percent === undefined) return undefined;
    const { rows } = await this.query(merge.countGoneSql(table, this.staging.name, plan, keys));
    const { live, gone } = rows[0] as { live: number; gone: number };
    if (gone * 100 <= live * percent) return undefined;
    return `This would delete ${gone} of ${live} rows, which is more than ${percent} %; allow mass deletion if that is meant.`;
  }

  private async merge(
    table: DeployedTable,
    plan: LoadPlan,
    isEmpty: boolean,
    rows: number,
    deleteGone: (stamp: merge.Stamp) => Statement | undefined,
  ): Promise<Counts> {
    const { name } = this.staging;
    const { actor, channel, requestId } = originOf(this.call, 'import');
    const { rows: clock } = await this.query(writeTime.stampSql(table));
    const stamp: merge.Stamp = { at: clock[0]?.at as string, actor, channel };
    const count = async (statement: Statement | undefined) => (statement ? (await this.query(statement)).count : 0);
    const last = clock[0]?.last as string;
    const fresh = this.how.fresh && isEmpty ? await this.beginFresh(table) : undefined;
    // A row that is there may come to refer to a new one, and a row that goes is referred to until others change.
    const inserted = await count(merge.insertSql(fresh?.table ?? table, name, plan, stamp, isEmpty));
    if (fresh) await this.completeFresh(fresh, table);
    const isAllNew = isEmpty || inserted === rows;
    const updated = isAllNew ? 0 : await count(merge.updateSql(table, name, plan, stamp, last));
    const named =
      isAllNew || plan.codePosition === undefined ? 0 : await count(merge.deleteNamedSql(table, name, plan, stamp));
    const gone = await count(deleteGone(stamp));
    if (inserted + updated + named + gone > 0) await this.keepRequest(table, stamp, requestId);
    return { inserted, updated, deleted: named + gone, unchanged: rows - inserted - updated - named };
  }

  private async keepRequest(table: DeployedTable, { at }: merge.Stamp, requestId: string): Promise<void> {
    await this.sql(
      'insert into bulk_write (table_definition_id, account_id, at, request_id) values ($1::int, $2::int, $3::timestamptz, $4)',
      [table.table_definition_id, table.account_id, at, requestId],
    );
  }

  private async beginFresh(table: DeployedTable): Promise<FreshTable | undefined> {
    if (!(await isWithoutRows(this.sql, tableName(table)))) return undefined;
    const { rows } = await this.query(catalogueSql.ofBranch(table.account_id, table.branch_id));
    const fresh = planFreshTable(table, rows as DeployedTable[], this.staging.number);
    for (const statement of fresh?.create ?? []) await this.sql(statement);
    return fresh;
  }

  // Who waits for the exclusive lock makes readers wait behind it: it is asked for a few times, for moments.
  private async completeFresh({ build, take }: FreshTable, table: DeployedTable): Promise<void> {
    for (const statement of build) await this.sql(statement);
    if (this.options.dryRun) return;
    await this.sql("set local lock_timeout = '300ms'");
    for (let attempt = 1; ; attempt += 1) {
      await this.sql('savepoint taking');
      try {
        await this.sql(`lock table ${tableName(table)} in access exclusive mode`);
        await this.sqlViews.replace(this.sql, [table], async () => {
          for (const statement of take) await this.sql(statement);
          return [table];
        });
        break;
      } catch (error) {
        if (!isLockTimeout(error) || attempt >= takingAttempts) throw error;
        await this.sql('rollback to savepoint taking');
        await sleep(100 + Math.random() * 200);
      }
    }
    await this.sql(`set local lock_timeout = '${patience}'`);
    // Statements made for the table that was dropped are of yesterday now.
    await this.sql(
      "update deployed_table set revision = nextval('deployed_revision') where table_definition_id = $1::int",
      [table.table_definition_id],
    );
  }
}

const keylessMessage = (rows: number) =>
  `No row was deleted: ${rows === 1 ? 'a rejected row has' : `${rows} rejected rows have`} no key that can be read, and may be any of the rows that the file seems to lack.`;

const brokenMessage = (rejected: number, consequences: number, rows: number) =>
  `${rejected - consequences} of ${rows} rows break rules${consequences === 0 ? '' : `, and ${consequences} ${consequences === 1 ? 'refers' : 'refer'} to them`}`;

const heldMessage = (rows: number) =>
  `${rows === 1 ? '1 row' : `${rows} rows`} that the file lacks ${rows === 1 ? 'was' : 'were'} not deleted: records of rejected rows refer to ${rows === 1 ? 'it' : 'them'}.`;

/** Whether a table has no row at all, not even a deleted one. */
export async function isWithoutRows(sql: Sql, name: string): Promise<boolean> {
  const { rows } = await sql(`select not exists (select from ${name}) as empty`);
  return rows[0]?.empty as boolean;
}
