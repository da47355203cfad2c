// Loads a file into a deployed table: stage, check as a set, merge. The merge and its result are one transaction; readers see the
// table as it was until it is as it shall be. A load id that has a result is never done again.
import type { CallContext } from '@almanac/service-kit/call-context';
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/database';
import { sqlState } from '@almanac/service-kit/postgres-errors';
import { catalogueSql, notDeployed } from '../catalogue/catalogue.ts';
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import { tableName } from '../query/identifiers.ts';
import type { Statement } from '../query/statement.ts';
import { actorOf } from '../rows/actor.ts';
import { type LoadOptions, type LoadPlan, planLoad, readLoadOptions } from './load-options.ts';
import * as merge from './merge-sql.ts';
import * as staged from './staged-sql.ts';
import { chunksOf, type Staging, stage, UnreadableFile } from './staging.ts';

export type RejectedValue = { row: number; column: string; value: string; message: string };
export type LoadResult = {
  status: 'completed' | 'completed_with_errors' | 'failed';
  rows_read: number;
  inserted: number;
  updated: number;
  deleted: number;
  unchanged: number;
  rejected: number;
  /** The first 100. */
  rejections: RejectedValue[];
  /** Why the whole file was refused. */
  errors: string[];
};

type Message = { options?: LoadOptions['raw'] | null; chunk?: Buffer | Uint8Array | string };
type Counts = Pick<LoadResult, 'inserted' | 'updated' | 'deleted' | 'unchanged'>;

const nothing: Counts = { inserted: 0, updated: 0, deleted: 0, unchanged: 0 };
const shownRejections = 100;

/** Reads options and bytes from the messages and answers the result; only faults of the call or of the system are thrown. */
export async function bulkLoad(
  ctx: DataContext,
  call: CallContext,
  requests: AsyncIterable<Message>,
  signal: AbortSignal,
): Promise<LoadResult> {
  const messages = requests[Symbol.asyncIterator]();
  const options = readLoadOptions((await messages.next()).value?.options);
  const finished = await findResult(pgSql(ctx.pools.rows), call.accountId, options.loadId);
  if (finished) return finished;
  const table = await ctx.catalogue.get(call.accountId, { id: options.tableDefinitionId });
  planLoad(table, options);
  let staging: Staging;
  try {
    staging = await stage(ctx.pools.quiet, tableName(table), options, chunksOf(messages, signal));
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return keepFailure(ctx, call, options, { rows_read: 0, errors: [error.message] });
  }
  try {
    const result = await loadStaged(ctx, call, options, staging);
    if (!options.dryRun && result.status !== 'failed') ctx.announcer.touch(table);
    return result;
  } finally {
    await staging
      .drop()
      .catch((error: unknown) => ctx.logger.warn({ err: error }, 'a staged file was left to the sweep'));
  }
}

async function findResult(sql: Sql, accountId: number, loadId: string): Promise<LoadResult | undefined> {
  const { rows } = await sql('select result from finished_load where account_id = $1::int and load_id = $2', [
    accountId,
    loadId,
  ]);
  return rows[0]?.result as LoadResult | undefined;
}

const attempts = 4;
// Others changed, added or deleted rows meanwhile, or a deployment did: look again at what there is now.
const worthAnother = new Set(['40001', '40P01', '23505', '23503', '23514', '42P01', '42703']);

async function loadStaged(
  ctx: DataContext,
  call: CallContext,
  options: LoadOptions,
  staging: Staging,
): Promise<LoadResult> {
  await staging.lockTable(options.tableDefinitionId);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withTransaction(
        ctx.pools.work,
        (sql) => new Load(sql, call, options, staging).run({ trusting: attempt === 1, alone: attempt === attempts }),
        { isolation: 'repeatable read', attempts: 1 },
      );
    } catch (error) {
      const state = sqlState(error) ?? '';
      if (attempt < attempts && worthAnother.has(state)) {
        ctx.logger.info({ load_id: options.loadId, attempt, state }, 'a load is merged again');
        continue;
      }
      if (state !== '23503') throw error;
      const errors = ['Rows that would be deleted, or change their key, are still referred to by other tables.'];
      return keepFailure(ctx, call, options, { rows_read: staging.rows, errors });
    }
  }
}

/** One try at merging a staged file, in one transaction. */
class Load {
  private readonly sql: Sql;
  private readonly call: CallContext;
  private readonly options: LoadOptions;
  private readonly staging: Staging;

  constructor(sql: Sql, call: CallContext, options: LoadOptions, staging: Staging) {
    this.sql = sql;
    this.call = call;
    this.options = options;
    this.staging = staging;
  }

  private async query(statement: Statement): Promise<{ rows: Record<string, unknown>[]; count: number }> {
    const { rows, rowCount } = await this.sql(statement.text, statement.values);
    return { rows, count: rowCount ?? 0 };
  }

  /**
   * `trusting`: into an empty table, keys and references are left to the constraints, which check them anyway; when they object,
   * the next try finds out which rows are meant. `alone`: keeps other writers out.
   */
  async run(how: { trusting: boolean; alone: boolean }): Promise<LoadResult> {
    const { sql, options, call } = this;
    const table = await this.enter(how.alone);
    const plan = planLoad(table, options);
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
    const rejected = await this.reject(table, plan, how.trusting && isEmpty);
    const result = await this.finish(table, plan, isEmpty, rejected);
    await sql('update finished_load set result = $3::jsonb where account_id = $1::int and load_id = $2', [
      call.accountId,
      options.loadId,
      JSON.stringify(result),
    ]);
    return result;
  }

  // SET LOCAL and LOCK take no snapshot: the first that does is the look at the catalogue, when deployments are kept out.
  private async enter(alone: boolean): Promise<DeployedTable> {
    const { sql, options, call } = this;
    for (const setting of [
      'statement_timeout = 0',
      "lock_timeout = '60s'",
      "work_mem = '128MB'",
      'idle_in_transaction_session_timeout = 0',
    ])
      await sql(`set local ${setting}`);
    await sql(`lock table ${this.staging.target} in ${alone ? 'share row exclusive' : 'row exclusive'} mode`);
    const { rows } = await this.query(catalogueSql.byId(call.accountId, options.tableDefinitionId));
    const [table] = rows;
    if (!table) throw notDeployed();
    return table as DeployedTable;
  }

  // Answers how many rows were taken out of the staged file.
  private async reject(table: DeployedTable, plan: LoadPlan, trusting: boolean): Promise<number> {
    const { name } = this.staging;
    const target = { accountId: this.call.accountId, loadId: this.options.loadId };
    const keep = async (statement: Statement) => {
      const { count } = await this.query(statement);
      await this.query(staged.removeRejectedSql(name, target));
      return count;
    };
    const { rows: counts } = await this.query(staged.countBrokenSql(name, plan));
    let rejected = counts[0]?.broken === 0 ? 0 : await keep(staged.rejectBrokenSql(name, target, plan, this.options));
    if (trusting && rejected === 0) return 0;
    if (plan.key.length > 0) {
      const { rows: twice } = await this.query(staged.findDuplicatesSql(name, plan));
      if (twice[0]?.found) rejected += await keep(staged.rejectDuplicatesSql(name, target, plan, this.options));
    }
    const orphans = staged.findOrphansSql(name, table, plan);
    if (orphans) {
      const { rows: found } = await this.query(orphans);
      if (found[0]?.found) rejected += await keep(staged.rejectOrphansSql(name, target, table, plan, this.options));
    }
    return rejected;
  }

  private async finish(table: DeployedTable, plan: LoadPlan, isEmpty: boolean, rejected: number): Promise<LoadResult> {
    const { sql, options, staging } = this;
    const base = { rows_read: staging.rows, rejected, rejections: rejected > 0 ? await this.firstRejections() : [] };
    const failed = (error: string): LoadResult => ({ ...base, ...nothing, status: 'failed', errors: [error] });
    if (rejected > 0 && !options.rejectRows)
      return failed(`${rejected} of ${staging.rows} rows break rules; nothing was loaded.`);
    if (options.pattern === 'full' && !isEmpty) {
      const refusal = await this.massDeletion(table, plan);
      if (refusal) return failed(refusal);
    }
    await sql('savepoint merge');
    const counts = await this.merge(table, plan, isEmpty, staging.rows - rejected);
    // Constraints have looked at every row by now; a dry run ends here.
    if (options.dryRun) await sql('rollback to savepoint merge');
    return { ...base, ...counts, status: rejected > 0 ? 'completed_with_errors' : 'completed', errors: [] };
  }

  private async firstRejections(): Promise<RejectedValue[]> {
    const { rows } = await this.sql(
      `select r.row_number as row, x.value->>'column' as "column", coalesce(x.value->>'value', '') as value, x.value->>'message' as message
       from rejected_row r cross join lateral jsonb_array_elements(r.reasons) with ordinality x(value, n)
       where r.account_id = $1::int and r.load_id = $2 order by r.row_number, x.n limit ${shownRejections}`,
      [this.call.accountId, this.options.loadId],
    );
    return rows as RejectedValue[];
  }

  private async massDeletion(table: DeployedTable, plan: LoadPlan): Promise<string | undefined> {
    const percent = this.options.massDeletePercent;
    if (percent === undefined) return undefined;
    const { rows } = await this.query(merge.countGoneSql(table, this.staging.name, plan));
    const { live, gone } = rows[0] as { live: number; gone: number };
    if (gone * 100 <= live * percent) return undefined;
    return `This would delete ${gone} of ${live} rows, which is more than ${percent} %; allow mass deletion if that is meant.`;
  }

  private async merge(table: DeployedTable, plan: LoadPlan, isEmpty: boolean, rows: number): Promise<Counts> {
    const { name } = this.staging;
    const { rows: clock } = await this.sql('select clock_timestamp()::text as at');
    const stamp = { at: clock[0]?.at as string, actor: actorOf(this.call) };
    const count = async (statement: Statement | undefined) => (statement ? (await this.query(statement)).count : 0);
    const updated = isEmpty ? 0 : await count(merge.updateSql(table, name, plan, stamp));
    const named =
      plan.codePosition === undefined || isEmpty ? 0 : await count(merge.deleteNamedSql(table, name, plan, stamp));
    const gone =
      this.options.pattern === 'full' && !isEmpty ? await count(merge.deleteGoneSql(table, name, plan, stamp)) : 0;
    const inserted = await count(merge.insertSql(table, name, plan, stamp, isEmpty));
    return { inserted, updated, deleted: named + gone, unchanged: rows - inserted - updated - named };
  }
}

async function keepFailure(
  ctx: DataContext,
  call: CallContext,
  options: LoadOptions,
  failure: Pick<LoadResult, 'rows_read' | 'errors'>,
): Promise<LoadResult> {
  const result: LoadResult = { ...nothing, rejected: 0, rejections: [], status: 'failed', ...failure };
  await pgSql(ctx.pools.rows)(
    `insert into finished_load (account_id, load_id, table_definition_id, result, file_columns)
     values ($1::int, $2, $3::int, $4::jsonb, $5::text[]) on conflict do nothing`,
    [call.accountId, options.loadId, options.tableDefinitionId, JSON.stringify(result), options.fileColumns],
  );
  return result;
}
