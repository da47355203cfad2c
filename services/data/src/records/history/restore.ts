// Bringing back: deleted rows as they were, and the values of an earlier version of a row. Both are writes of today, under today's
// rules, and leave versions like any other.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { isConstraintViolation } from '@almanac/service-kit/postgres/errors';
import type { DataContext } from '../../context.ts';
import { run } from '../../postgres/pools.ts';
import { originOf } from '../../rows/origin.ts';
import { stale } from '../../tables/catalogue.ts';
import { findProblem } from '../../tables/column-rules.ts';
import { isCurrent, type TableRequest } from '../../tables/open-table.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { explainRefusal, withConstraintProblems } from '../constraint-problems.ts';
import { findRefusedCycle, type RefusedCycle } from '../hierarchy-problems.ts';
import { findKept, writeOnce } from '../idempotency.ts';
import { requireRow } from '../no-effect-reasons.ts';
import type { Cells } from '../record-input.ts';
import { countAnswer, recordAnswer } from '../records.ts';
import { restoreSql, updateSql } from '../write-sql.ts';
import { writeTable } from '../write-table.ts';
import { versionSql } from './history-sql.ts';
import { restoreProblemsSql } from './restore-sql.ts';

/** Undeletes rows, all or nothing; the answer tells how many were deleted until now. 422 names each row that today's rules don't let back. */
export function restoreRecords(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  ids: string[],
): Promise<Answer> {
  return writeTable(ctx, call, reference, async (table) => {
    const unique = [...new Set(ids)];
    const statement = restoreSql(table, unique, originOf(call, 'restore'));
    try {
      return (await writeOnce(ctx, call, table, statement, countAnswer('restored'))) ?? stale;
    } catch (error) {
      throw await explainRestoration(ctx, table, unique, error);
    }
  });
}

async function explainRestoration(
  ctx: DataContext,
  table: DeployedTable,
  ids: string[],
  error: unknown,
): Promise<unknown> {
  const cycle = findRefusedCycle(table, error);
  if (cycle) return validationFailed(restoredOn(cycle, ids));
  if (!isConstraintViolation(error)) return error;
  const { statement, problems } = restoreProblemsSql(table, ids);
  const found = await run<{ id: number; broken: boolean[] }>(ctx.pools.rows, statement);
  // The first of `broken` stands for none.
  const sentences = found.flatMap(({ id, broken }) =>
    problems.filter((_, i) => broken[i + 1]).map((problem) => `Record ${id}: ${problem}`),
  );
  return sentences.length > 0 ? validationFailed(sentences) : error;
}

// A row that is restored is on it, as no live row was.
const restoredOn = ({ rows, sentence }: RefusedCycle, ids: string[]) =>
  rows.filter(({ id }) => ids.includes(id)).map(({ id }) => `Record ${id}: ${sentence}`);

type RevertInput = { id: string; version: number; versions: number[] | undefined };

/**
 * Writes the values of an earlier version as a new one; columns that are no more are left out, and a deleted row is live again.
 * 422 tells every rule of today that they break. `versions`: only while the row has one of these (412 otherwise).
 */
export function revertRecord(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  { id, version, versions }: RevertInput,
): Promise<Answer> {
  return writeTable(ctx, call, reference, async (table) => {
    const kept = await findKept(ctx, call);
    if (kept) return kept;
    const cells = await readVersion(ctx, table, id, version);
    if (cells === stale) return stale;
    const problems = [...cells].flatMap(([column, cell]) => findProblem(column, cell) ?? []);
    if (problems.length > 0) throw await withConstraintProblems(ctx, table, problems, cells, id);
    const statement = updateSql(table, [{ id, cells, origin: originOf(call, 'revert'), versions }], 'revert');
    let answer: Answer | undefined;
    try {
      answer = await writeOnce(ctx, call, table, statement, recordAnswer);
    } catch (error) {
      throw await explainRefusal(ctx, table, error, cells, id);
    }
    if (answer) return answer;
    if (await isCurrent(ctx, table)) {
      await requireRow(ctx, table, { id, versions });
      throw new ServiceError('unavailable', 'The record was changed at the same moment; try again.');
    }
    return stale;
  });
}

async function readVersion(
  ctx: DataContext,
  table: DeployedTable,
  id: string,
  version: number,
): Promise<Cells | typeof stale> {
  const [found] = await run<{ cells: (string | null)[]; svc_is_deleted: boolean }>(
    ctx.pools.rows,
    versionSql(table, id, version),
  );
  if (!found) {
    if (!(await isCurrent(ctx, table))) return stale;
    await requireRow(ctx, table, { id, versions: undefined });
    throw notFound('Version');
  }
  if (found.svc_is_deleted)
    throw new ServiceError('validation_failed', `Version ${version} is a deletion; name a version before it.`);
  return new Map(table.structure.columns.map((column, i) => [column, found.cells[i] ?? null]));
}
