// Many writes of one table at once, all or nothing: one statement, whatever their number; and one
// before it that finds the rows of upserts.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { isForeignKeyViolation, isTransactionConflict, isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { type Pools, run } from '../../postgres/pools.ts';
import { originOf } from '../../rows/origin.ts';
import { catalogueSql } from '../../tables/catalogue.ts';
import { stale, type TableRequest, withTable } from '../../tables/open-table.ts';
import { type DeployedTable, keyColumns } from '../../tables/table.ts';
import { referrersOf } from '../constraint-sql.ts';
import { findRefusedCycle, keyText, type RefusedCycle } from '../hierarchy-problems.ts';
import { findKept, type WriteAccess, writeOnce } from '../idempotency.ts';
import { requireManual, rowOf } from '../preconditions.ts';
import {
  type Batch,
  type KeyedRow,
  type Operation,
  OperationProblems,
  type Restoration,
  type RowChange,
  readBatch,
  readUpserts,
  type Upserts,
} from './batch-input.ts';
import { batchProblemsSql, type Found, presentRecordsSql, type Question } from './batch-problems-sql.ts';
import { batchSql, type Done, keyedRowsSql } from './batch-sql.ts';

/**
 * Creates, changes, upserts and deletes rows of one table, all or nothing. A refusal names every
 * problem with its operation: 404 when records are absent, else 412 when they have other versions,
 * else 422.
 */
export function writeBatch(
  access: WriteAccess,
  call: CallContext,
  request: TableRequest,
  operations: Exclude<Operation, Restoration>[],
): Promise<Answer> {
  const { pools, catalogue } = access;
  return withTable(access, call, request, 'edit', async (table) => {
    const kept = await findKept(pools, call);
    if (kept) return kept;
    requireManual(table);
    const upserts = readUpserts(table, operations);
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const keyed = await findKeyed(pools, table, upserts);
      const { batch, problems } = readBatch(table, operations, upserts, keyed, new OperationProblems());
      let failure: unknown;
      if (problems.isEmpty) {
        const statement = batchSql(table, batch, originOf(call, 'api'));
        try {
          const answer = await writeOnce(access, call, table, statement, doneAnswer);
          if (answer) return answer;
        } catch (error) {
          const cycle = findRefusedCycle(table, error);
          if (cycle) throw validationFailed(cycleProblems(table, batch, cycle));
          // Others create the same keys in another order.
          if (upserts.size > 0 && isTransactionConflict(error)) continue;
          if (!isUniqueViolation(error) && !isForeignKeyViolation(error)) throw error;
          failure = error;
        }
        if (!failure && !(await catalogue.isCurrent(table))) return stale;
      }
      const refused = await refusal(pools, table, batch, upserts, problems);
      if (refused === moved) continue;
      if (refused) throw refused;
      if (upserts.size === 0) throw failure ?? changedConcurrently();
    }
    throw changedConcurrently();
  });
}

// Each further attempt follows a writer that has created, deleted or renamed a row of an upsert, or
// a deadlock with one.
const maxAttempts = 20;

const changedConcurrently = () =>
  new ServiceError('unavailable', 'Records were changed at the same moment; try again.');

/** The rows of the upserts whose key could be read. */
export async function findKeyed(pools: Pools, table: DeployedTable, upserts: Upserts): Promise<KeyedRow[]> {
  if (upserts.size === 0) return [];
  const rows = await run<KeyedRow>(pools.rows, keyedRowsSql(table, upserts));
  return rows.map((row) => ({ ...row, id: row.id === null ? null : String(row.id) }));
}

// New records are recognized by their key: their ids were rolled back.
function cycleProblems(table: DeployedTable, { created, updated }: Batch, { rows, problem }: RefusedCycle): Problem[] {
  const [ids, keys] = [new Set(rows.map(({ id }) => id)), new Set(rows.map(({ key }) => key))];
  const key = keyColumns(table.structure);
  const problems = new OperationProblems();
  for (const { place, id } of updated)
    if (ids.has(String(id))) problems.add({ ...problem, operation: place, ...(id !== null && rowOf(id)) });
  for (const { place, cells } of created)
    if (keys.has(keyText(key.map((column) => cells.get(column))))) problems.add({ ...problem, operation: place });
  return problems.isEmpty ? [problem] : problems.all;
}

function doneAnswer({ created, updated, created_count, updated_count, deleted_count }: Done): Answer {
  const records = (count: number) => `${count} ${count === 1 ? 'record' : 'records'}`;
  const message = `${records(created_count)} created, ${records(updated_count)} updated, ${records(deleted_count)} deleted`;
  return {
    body: `{"created":[${created}],"updated":[${updated}],"deleted_count":${deleted_count},"message":"${message}"}`,
  };
}

/** The row of an upsert was created or deleted after it was looked for. */
const moved = Symbol('moved');

/**
 * The refusal of the batch: these problems, and those that a query finds; undefined without any.
 */
async function refusal(
  pools: Pools,
  table: DeployedTable,
  batch: Batch,
  upserts: Upserts,
  problems: OperationProblems,
): Promise<ServiceError | typeof moved | undefined> {
  const branch = await run<DeployedTable>(pools.rows, catalogueSql.ofBranch(table.account_id, table.branch_id));
  const { statement, questions } = batchProblemsSql(table, batch, referrersOf(table, branch));
  const found = await run<Found>(pools.rows, statement);
  const changes = new Map(
    Object.values(batch)
      .flat()
      .map((change) => [change.place, change]),
  );
  const described = found.map(({ place, question, other }) => {
    const { kind, problem } = questions[question] as Question;
    const change = changes.get(place) as RowChange;
    return { kind, ...problem(change, other), operation: place, ...(change.id !== null && rowOf(change.id)) };
  });
  const isMoved = ({ kind, operation }: (typeof described)[number]) =>
    upserts.has(operation) && (kind === 'absent' || kind === 'taken');
  if (described.some(isMoved)) return moved;
  const only = (wanted: Question['kind']) => {
    const some = new OperationProblems();
    some.add(...described.flatMap(({ kind, ...problem }) => (kind === wanted ? [problem] : [])));
    return some;
  };
  const [absent, outdated] = [only('absent'), only('outdated')];
  if (!absent.isEmpty) return new ServiceError('not_found', absent.all);
  if (!outdated.isEmpty) return new ServiceError('precondition_failed', await withCurrent(pools, table, outdated.all));
  problems.add(...described.map(({ kind: _, ...problem }) => problem));
  return problems.isEmpty ? undefined : validationFailed(problems.all);
}

// Shows the present record of each operation that names another version.
async function withCurrent(pools: Pools, table: DeployedTable, problems: Problem[]): Promise<Problem[]> {
  const ids = problems.flatMap(({ row }) => row ?? []);
  const found = await run<{ id: number; record: string | null }>(pools.rows, presentRecordsSql(table, ids));
  const records = new Map(found.map(({ id, record }) => [id, record]));
  return problems.map((problem) => {
    const record = records.get(problem.row ?? 0);
    return typeof record === 'string' ? { ...problem, current: new JsonText(record) } : problem;
  });
}
