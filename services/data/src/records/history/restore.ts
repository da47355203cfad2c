// Restores deleted rows, and reverts a row to the values of an earlier version. Both are writes of
// today under today's rules, and make versions like any other write.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { isConstraintViolation } from '@almanac/service-kit/postgres/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { type Pools, run } from '../../postgres/pools.ts';
import { originOf } from '../../rows/origin.ts';
import { findProblem } from '../../tables/column-rules.ts';
import { stale, type TableRequest, withTable } from '../../tables/open-table.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { explainRefusal, withConstraintProblems } from '../constraint-problems.ts';
import { findRefusedCycle, type RefusedCycle } from '../hierarchy-problems.ts';
import { findKept, type WriteAccess, writeOnce } from '../idempotency.ts';
import { requireManual, requireRow, rowOf } from '../preconditions.ts';
import type { Cells } from '../record-input.ts';
import { countAnswer, recordAnswer } from '../records.ts';
import { restoreSql, updateSql } from '../write-sql.ts';
import { versionSql } from './history-sql.ts';
import { restoreProblemsSql } from './restore-sql.ts';

/**
 * Undeletes rows, all or nothing; the answer counts those that were deleted. 422 names each row
 * that breaks a rule of today.
 */
export function restoreRecords(
  access: WriteAccess,
  call: CallContext,
  request: TableRequest,
  ids: string[],
): Promise<Answer> {
  return withTable(access, call, request, 'edit', async (table) => {
    const kept = await findKept(access.pools, call);
    if (kept) return kept;
    requireManual(table);
    const unique = [...new Set(ids)];
    const statement = restoreSql(table, unique, originOf(call, 'restore'));
    try {
      return (await writeOnce(access, call, table, statement, countAnswer('restored'))) ?? stale;
    } catch (error) {
      throw await explainRestoration(access.pools, table, unique, error);
    }
  });
}

async function explainRestoration(pools: Pools, table: DeployedTable, ids: string[], error: unknown): Promise<unknown> {
  const cycle = findRefusedCycle(table, error);
  if (cycle) return validationFailed(restoredOn(cycle, ids));
  if (!isConstraintViolation(error)) return error;
  const { statement, problems } = restoreProblemsSql(table, ids);
  const found = await run<{ id: number; broken: boolean[] }>(pools.rows, statement);
  // The first element of `broken` belongs to no problem.
  const refused = found.flatMap(({ id, broken }) =>
    problems.filter((_, i) => broken[i + 1]).map((problem) => ofRecord(id, problem)),
  );
  return refused.length > 0 ? validationFailed(refused) : error;
}

// The cycle has a restored row, for live rows had no cycle.
const restoredOn = ({ rows, problem }: RefusedCycle, ids: string[]) =>
  rows.filter(({ id }) => ids.includes(id)).map(({ id }) => ofRecord(id, problem));

const ofRecord = (id: string | number, problem: Problem): Problem => ({
  ...problem,
  message: `Record ${id}: ${problem.message}`,
  ...rowOf(id),
});

type RevertInput = { id: string; version: number; versions: number[] | undefined };

/**
 * Writes the values of an earlier version as a new one, in today's columns; a deleted row is live
 * again. 422 names every rule of today that they break. `versions`: 412 unless the row has one of
 * these.
 */
export function revertRecord(
  access: WriteAccess,
  call: CallContext,
  request: TableRequest,
  { id, version, versions }: RevertInput,
): Promise<Answer> {
  const { pools, catalogue } = access;
  return withTable(access, call, request, 'edit', async (table) => {
    const kept = await findKept(pools, call);
    if (kept) return kept;
    requireManual(table);
    const cells = await readVersion(access, table, id, version);
    if (cells === stale) return stale;
    const problems = [...cells].flatMap(([column, cell]) => findProblem(column, cell) ?? []);
    if (problems.length > 0) throw await withConstraintProblems(pools, table, problems, cells, id);
    const statement = updateSql(table, [{ id, cells, origin: originOf(call, 'revert'), versions }], 'revert');
    let answer: Answer | undefined;
    try {
      answer = await writeOnce(access, call, table, statement, recordAnswer);
    } catch (error) {
      throw await explainRefusal(pools, table, error, cells, id);
    }
    if (answer) return answer;
    if (!(await catalogue.isCurrent(table))) return stale;
    await requireRow(pools, table, { id, versions });
    throw new ServiceError('unavailable', 'The record was changed at the same moment; try again.');
  });
}

async function readVersion(
  { pools, catalogue }: WriteAccess,
  table: DeployedTable,
  id: string,
  version: number,
): Promise<Cells | typeof stale> {
  const [found] = await run<{ cells: (string | null)[]; svc_is_deleted: boolean }>(
    pools.rows,
    versionSql(table, id, version),
  );
  if (!found) {
    if (!(await catalogue.isCurrent(table))) return stale;
    await requireRow(pools, table, { id, versions: undefined });
    throw notFound('Version');
  }
  if (found.svc_is_deleted)
    throw new ServiceError('validation_failed', {
      code: 'wrong_state',
      message: `Version ${version} is a deletion; name a version before it.`,
      field: 'version',
    });
  return new Map(table.structure.columns.map((column, i) => [column, found.cells[i] ?? null]));
}
