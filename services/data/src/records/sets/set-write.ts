// Runs a write of many rows, or rehearses it, and explains why it was refused. The writes differ in
// their statement and in what its row says.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { timeLeft } from '@almanac/service-kit/caller/deadline';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { withTransaction } from '@almanac/service-kit/postgres/database';
import { isConstraintViolation } from '@almanac/service-kit/postgres/errors';
import { moreProblems, type Problem } from '@almanac/service-kit/problems';
import type { AccountLimiter } from '../../postgres/account-limiter.ts';
import { type Pools, run, runOn } from '../../postgres/pools.ts';
import type { Statement } from '../../sql/statement.ts';
import { catalogueSql } from '../../tables/catalogue.ts';
import { stale } from '../../tables/open-table.ts';
import type { Column, DeployedTable } from '../../tables/table.ts';
import { referrersOf } from '../constraint-sql.ts';
import { findRefusedCycle } from '../hierarchy-problems.ts';
import { type WriteAccess, writeOnce } from '../idempotency.ts';
import { rowOf } from '../preconditions.ts';
import { type FoundProblem, type OutcomeSql, outcomeProblemsSql } from './outcome-sql.ts';

/** What writing sets of rows takes. */
export type SetAccess = WriteAccess & { limiters: { sets: AccountLimiter } };

/** A write of many rows; `T`: the row of its statement. */
export type SetWrite<T> = {
  /** Returns one row, or none when the table has changed. */
  statement: Statement;
  /** Whether the statement has done its work; otherwise it has written nothing. */
  isDone: (row: T) => boolean;
  /** Why it has written nothing. */
  findRefusal: (row: T) => Promise<Problem[]> | Problem[];
  outcome: OutcomeSql;
  /** The columns of the outcome; `isChecked`: their values are not checked again. */
  columns: readonly Column[];
  isChecked: boolean;
  /** The body of the answer. */
  done: (row: T) => object;
  /**
   * The counts of a rehearsal. `row` is undefined when the database refused the statement; then
   * they are undefined when the table has changed.
   */
  rehearsed: (row: T | undefined) => Promise<object | undefined> | object;
};

const maxWaitMs = 20_000;

/**
 * Runs `work` when it is the account's turn to write a set of rows; 503 when that takes too long.
 */
export async function inTurn<T>(access: SetAccess, call: CallContext, work: () => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(Math.ceil(timeLeft(call, maxWaitMs)));
  let leave: () => void;
  try {
    leave = await access.limiters.sets.enter(call.accountId, signal);
  } catch (cause) {
    throw new ServiceError('unavailable', 'Other writes of many rows are under way; try again.', { cause });
  }
  try {
    return await work();
  } finally {
    leave();
  }
}

/** Writes the rows, all or nothing; 422 names the problems. */
export async function writeSet<T>(
  access: SetAccess,
  call: CallContext,
  table: DeployedTable,
  write: SetWrite<T>,
): Promise<Answer | typeof stale> {
  const seen: { row?: T } = {};
  try {
    const answer = await writeOnce<T>(access, call, table, write.statement, (row) => {
      seen.row = row;
      return write.isDone(row) ? { body: JSON.stringify(write.done(row)) } : undefined;
    });
    if (answer) return answer;
  } catch (error) {
    const problems = await findBrokenRules(access.pools, table, write, error);
    throw problems ? validationFailed(problems) : error;
  }
  if (seen.row === undefined) return stale;
  const problems = await write.findRefusal(seen.row);
  throw problems.length > 0 ? validationFailed(problems) : changedConcurrently();
}

const changedConcurrently = () =>
  new ServiceError('unavailable', 'Records were changed at the same moment; try again.');

/**
 * Does the same and rolls it back: the answer has the counts, and the problems that the write would
 * be refused for.
 */
export async function rehearseSet<T>(
  { pools }: SetAccess,
  table: DeployedTable,
  write: SetWrite<T>,
): Promise<Answer | typeof stale> {
  let row: T | undefined;
  let problems: Problem[] = [];
  try {
    row = await withTransaction(pools.rows, async (sql, client) => {
      await sql('savepoint rehearsal');
      const [found] = await runOn<T>(client, write.statement);
      await sql('rollback to savepoint rehearsal');
      return found;
    });
    if (row === undefined) return stale;
    if (!write.isDone(row)) problems = await write.findRefusal(row);
  } catch (error) {
    const found = await findBrokenRules(pools, table, write, error);
    if (!found) throw error;
    problems = found;
  }
  const counts = await write.rehearsed(row);
  return counts === undefined ? stale : { body: JSON.stringify({ ...counts, problems }) };
}

/**
 * The problems of an outcome that the database has refused; undefined when they are not to be found
 * in the rows.
 */
async function findBrokenRules<T>(
  pools: Pools,
  table: DeployedTable,
  { outcome, columns, isChecked }: SetWrite<T>,
  error: unknown,
): Promise<Problem[] | undefined> {
  const cycle = findRefusedCycle(table, error);
  if (cycle) return [{ ...cycle.problem, ...rowOf(cycle.rows[0]?.id ?? '') }];
  if (!isConstraintViolation(error)) return undefined;
  const branch = await run<DeployedTable>(pools.rows, catalogueSql.ofBranch(table.account_id, table.branch_id));
  const referring = referrersOf(table, branch);
  const { statement, questions } = outcomeProblemsSql(table, outcome, { columns, isChecked, referring });
  const found = await run<FoundProblem>(pools.rows, statement);
  const problems = found.map(({ id, question, other }): Problem => {
    const { message, ...problem } = (questions[question] as (typeof questions)[number]).problem(other);
    return { ...problem, message: `Record ${id}: ${message}`, ...rowOf(id) };
  });
  const total = found[0]?.total ?? 0;
  if (total > problems.length) problems.push(moreProblems(total - problems.length));
  return problems.length > 0 ? problems : undefined;
}
