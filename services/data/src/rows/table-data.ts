// Rows of deployed tables: what one may do with them. Every function finds the table (404), asks for the right (403), reads its
// input (400, 422), makes one statement and runs it.
import type { CallContext } from '@almanac/service-kit/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { findSqlState } from '@almanac/service-kit/postgres-errors';
import type { Action } from '@almanac/service-kit/rights';
import { catalogueSql, stale, type TableReference } from '../catalogue/catalogue.ts';
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import { run, runOn } from '../database.ts';
import { type GridRequest, planGrid } from '../query/grid-plan.ts';
import { type ListRequest, planList } from '../query/list-plan.ts';
import { gridSql, listSql } from '../query/page-sql.ts';
import { etagOf } from '../query/record-sql.ts';
import type { Statement } from '../query/statement.ts';
import { requireRightOn } from '../row-rights.ts';
import { actorOf } from './actor.ts';
import { constraintProblemsSql, referrersOf, referrersSql } from './constraint-sql.ts';
import { answerOnce, type KeptAnswer } from './idempotency.ts';
import { type Cells, readRecord } from './record-input.ts';
import { deleteSql, insertSql, showSql, updateSql } from './write-sql.ts';

export type RecordAnswer = { record: string; etag: string };
type Written = { record: string; svc_version: number };

/** Runs `work` with the table the caller means, once the caller has the right there. */
function useTable<T>(
  ctx: DataContext,
  call: CallContext,
  reference: TableReference,
  action: Action,
  work: (table: DeployedTable) => Promise<T | typeof stale>,
): Promise<T> {
  return ctx.catalogue.use(call.accountId, reference, async (table) => {
    await requireRightOn(ctx, call, action, table);
    return work(table);
  });
}

/** A page of the grid: the body of the answer, as PostgreSQL wrote it. */
export function getGrid(
  ctx: DataContext,
  call: CallContext,
  reference: TableReference,
  request: GridRequest,
): Promise<string> {
  return useTable(ctx, call, reference, 'view', (table) => readAnswer(ctx, gridSql(table, planGrid(table, request))));
}

/** A page of the list, the same way. */
export function listRecords(
  ctx: DataContext,
  call: CallContext,
  reference: TableReference,
  request: ListRequest,
): Promise<string> {
  return useTable(ctx, call, reference, 'view', (table) => {
    const { plan, ...page } = planList(table, request);
    return readAnswer(ctx, listSql(table, plan, page));
  });
}

async function readAnswer(ctx: DataContext, statement: Statement): Promise<string | typeof stale> {
  const [row] = await run<{ answer: string }>(ctx.pools.rows, statement);
  return row ? row.answer : stale;
}

/** One row, deleted or not. */
export function getRecord(
  ctx: DataContext,
  call: CallContext,
  reference: TableReference,
  id: string,
): Promise<RecordAnswer> {
  return useTable(ctx, call, reference, 'view', async (table) => {
    const [row] = await run<Written>(ctx.pools.rows, showSql(table, id));
    return row ? answerOf(row) : absentOrStale(ctx, table);
  });
}

const answerOf = (row: Written): RecordAnswer => ({ record: row.record, etag: etagOf(row.svc_version) });

// No row came back: either there is none, or the statement was for another revision.
async function absentOrStale(ctx: DataContext, table: DeployedTable): Promise<typeof stale> {
  if (await isCurrent(ctx, table)) throw notFound('Record');
  return stale;
}

async function isCurrent(ctx: DataContext, table: DeployedTable): Promise<boolean> {
  const fresh = await ctx.catalogue.read(table.account_id, { id: table.table_definition_id });
  return fresh?.revision === table.revision;
}

type CreateInput = { record: Record<string, unknown>; idempotencyKey: string | undefined };

/** Creates a row; 422 tells every problem, also what the constraints would refuse. */
export function createRecord(
  ctx: DataContext,
  call: CallContext,
  reference: TableReference,
  input: CreateInput,
): Promise<RecordAnswer> {
  return useTable(ctx, call, reference, 'edit', async (table) => {
    if (table.load_type === 'source')
      throw validationFailed(
        'Rows of this table come from imports (load type source); they are not created one by one.',
      );
    const { cells, problems } = readRecord(table, input.record, true);
    if (problems.length > 0) throw await withConstraintProblems(ctx, table, problems, cells, undefined);
    const statement = insertSql(table, cells, actorOf(call));
    try {
      return await insertOnce(ctx, call, table, statement, input);
    } catch (error) {
      throw await explainRefusal(ctx, table, error, cells, undefined);
    }
  });
}

async function insertOnce(
  ctx: DataContext,
  call: CallContext,
  table: DeployedTable,
  statement: Statement,
  { idempotencyKey, record }: CreateInput,
): Promise<RecordAnswer | typeof stale> {
  if (idempotencyKey === undefined) {
    const [row] = await run<Written>(ctx.pools.rows, statement);
    if (!row) return stale;
    ctx.announcer.touch(table);
    return answerOf(row);
  }
  const request = { key: idempotencyKey, content: ['create', table.table_definition_id, record] };
  const kept = await answerOnce<typeof stale>(
    ctx.pools.rows,
    call,
    request,
    async (client) => {
      const [row] = await runOn<Written>(client, statement);
      return row ? { body: row.record, etag: etagOf(row.svc_version) } : stale;
    },
    (result): result is KeptAnswer => result !== stale,
  );
  if (kept === stale) return stale;
  ctx.announcer.touch(table);
  return { record: kept.body, etag: kept.etag };
}

type UpdateInput = { id: string; record: Record<string, unknown>; versions: number[] | undefined };

/** Changes what `record` names in a live row. `versions`: only while the row has one of these (412 otherwise). */
export function updateRecord(
  ctx: DataContext,
  call: CallContext,
  reference: TableReference,
  input: UpdateInput,
): Promise<RecordAnswer> {
  return useTable(ctx, call, reference, 'edit', async (table) => {
    const { cells, problems } = readRecord(table, input.record, false);
    if (problems.length > 0) {
      await requireLive(ctx, table, input);
      throw await withConstraintProblems(ctx, table, problems, cells, input.id);
    }
    const statement = updateSql(table, input.id, cells, actorOf(call), input.versions);
    let row: Written | undefined;
    try {
      [row] = await run<Written>(ctx.pools.rows, statement);
    } catch (error) {
      throw await explainRefusal(ctx, table, error, cells, input.id);
    }
    if (row) {
      ctx.announcer.touch(table);
      return answerOf(row);
    }
    if (await isCurrent(ctx, table)) {
      await requireLive(ctx, table, input);
      throw new ServiceError('unavailable', 'The record was changed at the same moment; try again.');
    }
    return stale;
  });
}

async function requireLive(ctx: DataContext, table: DeployedTable, { id, versions }: UpdateInput): Promise<void> {
  const [row] = await run<{ svc_version: number; svc_is_deleted: boolean }>(ctx.pools.rows, showSql(table, id));
  if (!row || row.svc_is_deleted) throw notFound('Record');
  if (versions !== undefined && !versions.includes(row.svc_version))
    throw new ServiceError('precondition_failed', 'The record has been changed since it was read (If-Match).');
}

/** Soft-deletes rows, all or nothing; answers how many were live until now. */
export function deleteRecords(
  ctx: DataContext,
  call: CallContext,
  reference: TableReference,
  ids: string[],
): Promise<number> {
  return useTable(ctx, call, reference, 'edit', async (table) => {
    const unique = [...new Set(ids)];
    let row: { deleted_count: number; unknown: string[] } | undefined;
    try {
      [row] = await run(ctx.pools.rows, deleteSql(table, unique, actorOf(call)));
    } catch (error) {
      if (findSqlState(error) !== '23503') throw error;
      throw await explainReferrers(ctx, table, unique, error);
    }
    if (!row) return stale;
    if (row.unknown.length > 0)
      throw new ServiceError(
        'not_found',
        row.unknown.map((id) => `Record ${id} not found`),
      );
    if (row.deleted_count > 0) ctx.announcer.touch(table);
    return row.deleted_count;
  });
}

async function explainReferrers(
  ctx: DataContext,
  table: DeployedTable,
  ids: string[],
  cause: unknown,
): Promise<unknown> {
  const branch = await run<DeployedTable>(ctx.pools.rows, catalogueSql.ofBranch(table.account_id, table.branch_id));
  const referring = referrersOf(table, branch);
  const statement = referrersSql(table, referring, ids);
  const found = statement ? await run<{ place: number; rows: number; ids: number[] }>(ctx.pools.rows, statement) : [];
  if (found.length === 0)
    return new ServiceError('validation_failed', 'Some of the records are still referred to.', { cause });
  const problems = found.map(({ place, rows, ids: referred }) => {
    const { from } = referring[place - 1] as (typeof referring)[number];
    const records = referred.length === 1 ? `Record ${referred[0]} is` : `Records ${referred.join(', ')} are`;
    return `${records} still referred to by ${rows} ${rows === 1 ? 'record' : 'records'} of ${from.name}.`;
  });
  return validationFailed(problems);
}

async function findConstraintProblems(
  ctx: DataContext,
  table: DeployedTable,
  cells: Cells,
  id: string | undefined,
): Promise<string[]> {
  const asked = constraintProblemsSql(table, cells, id);
  if (!asked) return [];
  const [row] = await run<{ broken: boolean[] }>(ctx.pools.rows, asked.statement);
  return asked.problems.filter((_, i) => row?.broken[i] === true);
}

async function withConstraintProblems(
  ctx: DataContext,
  table: DeployedTable,
  problems: string[],
  cells: Cells,
  id: string | undefined,
): Promise<ServiceError> {
  return validationFailed([...problems, ...(await findConstraintProblems(ctx, table, cells, id))]);
}

// What a constraint refused, in the words of the table; other failures stay what they are.
async function explainRefusal(
  ctx: DataContext,
  table: DeployedTable,
  error: unknown,
  cells: Cells,
  id: string | undefined,
): Promise<unknown> {
  const state = findSqlState(error);
  if (state !== '23505' && state !== '23503') return error;
  const problems = await findConstraintProblems(ctx, table, cells, id);
  if (problems.length > 0) return validationFailed(problems);
  // Only a changed key can be missed by those who refer to it.
  if (state === '23503' && id !== undefined) return explainReferrers(ctx, table, [id], error);
  return error;
}
