// Merges a staged file into its table: one attempt, one transaction, from reading the catalogue to
// the kept result.
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
import { requireLoadable } from '../tables/row-policy.ts';
import type { DeployedTable } from '../tables/table.ts';
import { type Rejected, rejectRows } from './checks/reject-rows.ts';
import { keepReferencedKeysSql, linkLiveRowsSql } from './checks/rejected-keys-sql.ts';
import { type ChangedBlock, keepChanges, readChanges } from './dry-run-changes.ts';
import { type FreshTable, planFreshTable } from './fresh-table.ts';
import { type Counts, findResult, insertResult, type LoadResult, zeroCounts } from './load-result.ts';
import * as merge from './merge-sql.ts';
import { type LoadOptions, planLoad, readTargets } from './plan/load-options.ts';
import type { LoadPlan } from './plan/load-plan.ts';
import { loadLimits } from './staging/load-limits.ts';
import { nameSession } from './staging/load-sessions.ts';
import type { Staging } from './staging/staged-file.ts';

const replaceAttempts = 40;
const lockTimeout = '60s';

export type MergeMode = {
  /**
   * Leaves references, and keys in an empty table, to the constraints, which check them anyway.
   * When one fails, the next attempt finds the rows that break it.
   */
  deferChecks: boolean;
  /** Fills a new table that replaces the empty one (`fresh-table.ts`). */
  rebuildTable: boolean;
  /** Keeps other writers out. */
  exclusive: boolean;
};

/** One attempt at merging a staged file, in one transaction. */
export class Merge {
  private readonly mode: MergeMode;
  private readonly sql: Sql;
  private readonly sqlViews: SqlViews;
  private readonly call: CallContext;
  private readonly options: LoadOptions;
  private readonly staging: Staging;

  constructor(
    sql: Sql,
    sqlViews: SqlViews,
    call: CallContext,
    options: LoadOptions,
    staging: Staging,
    mode: MergeMode,
  ) {
    this.mode = mode;
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

  /** Answers the result, which is kept in the same transaction. */
  async run(): Promise<LoadResult> {
    const { sql, options, call, staging } = this;
    const table = await this.lockTable();
    const targets = await readTargets(table, options, (id) => this.find(id));
    const plan = planLoad(table, options, targets);
    if (!(await insertResult(sql, call.accountId, options, {})))
      return (await findResult(sql, call.accountId, options.loadId)) as LoadResult;

    const { rows: empty } = await sql(
      `select not exists (select from ${tableName(table)} where not svc_is_deleted) as empty`,
    );
    const isEmpty = empty[0]?.empty as boolean;
    const rejected = await rejectRows(sql, {
      accountId: call.accountId,
      table,
      plan,
      options,
      staging,
      isEmpty,
      deferChecks: this.mode.deferChecks,
    });
    const result = await this.finish(table, plan, isEmpty, rejected);
    await sql('update finished_load set result = $3::jsonb where account_id = $1::int and load_id = $2', [
      call.accountId,
      options.loadId,
      JSON.stringify(result),
    ]);
    return result;
  }

  // SET LOCAL and LOCK take no snapshot. The first statement that does reads the catalogue, when
  // the lock already keeps deployments out.
  private async lockTable(): Promise<DeployedTable> {
    const { sql, options } = this;
    for (const setting of [
      `statement_timeout = '${loadLimits.statementMinutes}min'`,
      `lock_timeout = '${lockTimeout}'`,
      "work_mem = '128MB'",
    ])
      await sql(`set local ${setting}`);
    await nameSession(sql, 'work', { accountId: this.call.accountId, loadId: options.loadId });
    const mode = this.mode.exclusive || this.mode.rebuildTable ? 'share row exclusive' : 'row exclusive';
    await sql(`lock table ${this.staging.target} in ${mode} mode`);
    const table = await this.find(options.tableDefinitionId);
    if (!table) throw notDeployed();
    if (!options.dryRun) requireLoadable(table, this.call);
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
    { count: rejected, consequences, values, excess, keys, unreadableKeys, deletes }: Rejected,
  ): Promise<LoadResult> {
    const { sql, options, staging } = this;
    const base = { rows_read: staging.rows, rejected, rejections: values };
    const failed = (error: string): LoadResult => ({ ...base, ...zeroCounts, status: 'failed', errors: [error] });
    if (excess !== undefined) return failed(excess);
    if (rejected > 0 && !options.rejectRows)
      return failed(`${rejectedMessage(rejected, consequences, staging.rows)}; nothing was loaded.`);
    const referenced = deletes && keys !== undefined ? await this.keepReferenced(table, plan) : 0;
    if (deletes) {
      const refusal = await this.findMassDeletion(table, plan, keys);
      if (refusal) return failed(refusal);
    }
    await sql('savepoint merge');
    const deleteMissing = (stamp: merge.Stamp) =>
      deletes ? merge.deleteMissingSql(table, staging.name, plan, stamp, keys) : undefined;
    const { counts, changes } = await this.merge(table, plan, isEmpty, staging.rows - rejected, deleteMissing);
    // Constraints have checked every row by now; a dry run ends here.
    if (options.dryRun) {
      await sql('rollback to savepoint merge');
      await keepChanges(sql, { accountId: this.call.accountId, loadId: options.loadId }, changes);
    }
    const errors = [
      ...(unreadableKeys > 0 ? [keylessMessage(unreadableKeys)] : []),
      ...(referenced > 0 ? [referencedMessage(referenced)] : []),
    ];
    return { ...base, ...counts, status: rejected > 0 ? 'completed_with_errors' : 'completed', errors };
  }

  // Keeps live rows that the file lacks and that records of rejected rows refer to; answers how
  // many.
  private async keepReferenced(table: DeployedTable, plan: LoadPlan): Promise<number> {
    const links = linkLiveRowsSql(this.staging, table, plan);
    if (links.length === 0) return 0;
    for (const statement of links) await this.sql(statement);
    return (await this.query(keepReferencedKeysSql(this.staging, table, plan))).count;
  }

  private async findMassDeletion(table: DeployedTable, plan: LoadPlan, keys?: string): Promise<string | undefined> {
    const percent = this.options.massDeletePercent;
    if (percent === undefined) return undefined;
    const { rows } = await this.query(merge.countMissingSql(table, this.staging.name, plan, keys));
    const { live, missing } = rows[0] as { live: number; missing: number };
    if (missing * 100 <= live * percent) return undefined;
    return `This would delete ${missing} of ${live} rows, which is more than ${percent} %; allow mass deletion if that is meant.`;
  }

  private async merge(
    table: DeployedTable,
    plan: LoadPlan,
    isEmpty: boolean,
    rows: number,
    deleteMissing: (stamp: merge.Stamp) => Statement | undefined,
  ): Promise<{ counts: Counts; changes: ChangedBlock[] }> {
    const { name } = this.staging;
    const { actor, channel, requestId } = originOf(this.call, 'import');
    const { rows: clock } = await this.query(writeTime.stampSql(table));
    const stamp: merge.Stamp = { at: clock[0]?.at as string, actor, channel };
    const count = async (statement: Statement | undefined) => (statement ? (await this.query(statement)).count : 0);
    const last = clock[0]?.last as string;
    const fresh = this.mode.rebuildTable && isEmpty ? await this.createFreshTable(table) : undefined;
    // Inserts first and deletes last: an existing row may now refer to a new one, and a deleted row
    // is referred to until others change.
    const inserted = await count(merge.insertSql(fresh?.table ?? table, name, plan, stamp, isEmpty));
    if (fresh) await this.replaceByFreshTable(fresh, table);
    const isAllNew = isEmpty || inserted === rows;
    const updated = isAllNew ? 0 : await count(merge.updateSql(table, name, plan, stamp, last));
    const named =
      isAllNew || plan.codePosition === undefined ? 0 : await count(merge.deleteNamedSql(table, name, plan, stamp));
    const missing = await count(deleteMissing(stamp));
    if (inserted + updated + named + missing > 0) await this.keepRequest(table, stamp, requestId);
    // A dry run is rolled back with all that it wrote, so its changes wait outside of the database.
    const changes = this.options.dryRun ? await readChanges(this.sql, table, fresh?.table ?? table, stamp.at) : [];
    return {
      counts: { inserted, updated, deleted: named + missing, unchanged: rows - inserted - updated - named },
      changes,
    };
  }

  private async keepRequest(table: DeployedTable, { at }: merge.Stamp, requestId: string): Promise<void> {
    await this.sql(
      'insert into bulk_write (table_definition_id, account_id, at, request_id) values ($1::int, $2::int, $3::timestamptz, $4)',
      [table.table_definition_id, table.account_id, at, requestId],
    );
  }

  private async createFreshTable(table: DeployedTable): Promise<FreshTable | undefined> {
    if (!(await hasNoRows(this.sql, tableName(table)))) return undefined;
    const { rows } = await this.query(catalogueSql.ofBranch(table.account_id, table.branch_id));
    const fresh = planFreshTable(table, rows as DeployedTable[], this.staging.number);
    for (const statement of fresh?.create ?? []) await this.sql(statement);
    return fresh;
  }

  // Readers queue behind a session that waits for the exclusive lock, so it is requested a few
  // times, briefly.
  private async replaceByFreshTable({ build, replace }: FreshTable, table: DeployedTable): Promise<void> {
    for (const statement of build) await this.sql(statement);
    if (this.options.dryRun) return;
    await this.sql("set local lock_timeout = '300ms'");
    for (let attempt = 1; ; attempt += 1) {
      await this.sql('savepoint replacing');
      try {
        await this.sql(`lock table ${tableName(table)} in access exclusive mode`);
        await this.sqlViews.replace(this.sql, [table], async () => {
          for (const statement of replace) await this.sql(statement);
          return [table];
        });
        break;
      } catch (error) {
        if (!isLockTimeout(error) || attempt >= replaceAttempts) throw error;
        await this.sql('rollback to savepoint replacing');
        await sleep(100 + Math.random() * 200);
      }
    }
    await this.sql(`set local lock_timeout = '${lockTimeout}'`);
    // Statements that instances have prepared for the dropped table are out of date.
    await this.sql(
      "update deployed_table set revision = nextval('deployed_revision') where table_definition_id = $1::int",
      [table.table_definition_id],
    );
  }
}

const keylessMessage = (rows: number) =>
  `No row was deleted: ${rows === 1 ? 'a rejected row has' : `${rows} rejected rows have`} no key that can be read, and may be any of the rows that the file seems to lack.`;

const rejectedMessage = (rejected: number, consequences: number, rows: number) =>
  `${rejected - consequences} of ${rows} rows break rules${consequences === 0 ? '' : `, and ${consequences} ${consequences === 1 ? 'refers' : 'refer'} to them`}`;

const referencedMessage = (rows: number) =>
  `${rows === 1 ? '1 row' : `${rows} rows`} that the file lacks ${rows === 1 ? 'was' : 'were'} not deleted: records of rejected rows refer to ${rows === 1 ? 'it' : 'them'}.`;

/** Whether a table has no row at all, not even a deleted one. */
export async function hasNoRows(sql: Sql, name: string): Promise<boolean> {
  const { rows } = await sql(`select not exists (select from ${name}) as empty`);
  return rows[0]?.empty as boolean;
}
