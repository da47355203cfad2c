// Applies the accepted operations of a change request to all its tables in one transaction, and
// rehearses that. The result is kept under the id of the attempt, and found by it after a crash.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, retryTransaction, withTransaction } from '@almanac/service-kit/postgres/database';
import {
  findSqlState,
  isConstraintViolation,
  isLockTimeout,
  isMissingTable,
  isRetryable,
} from '@almanac/service-kit/postgres/errors';
import type { RowsAnnouncer } from '../../events/rows-announcer.ts';
import type { AccountLimiter } from '../../postgres/account-limiter.ts';
import type { Pools } from '../../postgres/pools.ts';
import { standingSql } from '../../rows/proposed-sql.ts';
import type { Catalogue } from '../../tables/catalogue.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { getChangeRequest } from '../change-requests.ts';
import { findChangedTables } from '../visibility.ts';
import { type Applied, findApplied } from './application-result.ts';
import { type Application, ApplicationRun, type Rehearsed, RolledBack } from './application-run.ts';

/** What an application works with. */
export type ApplicationParts = {
  pools: Pools;
  catalogue: Catalogue;
  limiters: { work: AccountLimiter };
  announcer: RowsAnnouncer;
  /** Has tables vacuumed that were loaded. */
  indexing: { noteLoad(table: DeployedTable, rows: number): void };
  logger: Logger;
};

const attempts = 4;

/** Applies, or answers why not; then nothing has changed. 400 for an id that is none. */
export async function applyChangeRequest(
  parts: ApplicationParts,
  call: CallContext,
  application: Application,
): Promise<Applied> {
  const { applyId, changeRequestId } = application;
  if (applyId === '' || applyId.length > 200 || applyId.includes('\u0000'))
    throw new ServiceError('bad_request', {
      code: 'wrong_format',
      message: 'apply_id must be 1 to 200 characters.',
      field: 'apply_id',
    });
  const known = await findApplied(pgSql(parts.pools.rows), call.accountId, applyId);
  if (known) return known;
  return attempt(parts, call, changeRequestId, async (run, tables) => {
    try {
      const result = await run((each) => each.apply(application));
      for (const { table_definition_id, created, updated, deleted, restored } of result.tables) {
        const table = tables.get(table_definition_id);
        const written = created + updated + deleted + restored;
        if (!table || written === 0) continue;
        parts.announcer.touch(table);
        parts.indexing.noteLoad(table, written);
      }
      return result;
    } catch (error) {
      if (error instanceof RolledBack) return error.result;
      throw error;
    }
  });
}

/**
 * Finds what is in the way of the operations that are neither rejected nor returned, and keeps it
 * with them; writes nothing else. `hidden`: tables that the caller doesn't see.
 */
export function rehearseChangeRequest(
  parts: ApplicationParts,
  call: CallContext,
  changeRequestId: number,
  hidden: number[],
): Promise<Rehearsed> {
  return attempt(parts, call, changeRequestId, (run) => run((each) => each.rehearse(changeRequestId, hidden)));
}

/** The result under an application's id; `unknown` when nothing was applied under it. */
export async function getAppliedChangeRequest(
  { pools }: { pools: Pools },
  call: CallContext,
  applyId: string,
): Promise<Applied> {
  const found = await findApplied(pgSql(pools.rows), call.accountId, applyId);
  return found ?? { status: 'unknown', revision: '', problems: [], problem_count: 0, tables: [], left: 0 };
}

type Tables = ReadonlyMap<number, DeployedTable>;
type Transact = <T>(work: (run: ApplicationRun) => Promise<T>) => Promise<T>;

// Others may write at the same time; the last attempt keeps them out of the tables concerned.
async function attempt<T>(
  parts: ApplicationParts,
  call: CallContext,
  changeRequestId: number,
  work: (run: Transact, tables: Tables) => Promise<T>,
): Promise<T> {
  const { pools, logger } = parts;
  const attemptOnce = async (number: number) => {
    const tables = await findTables(parts, call, changeRequestId);
    const exclusive = number === attempts;
    const run: Transact = (each) =>
      withTransaction(pools.work, (sql) => each(new ApplicationRun(sql, call, { tables, exclusive })), {
        isolation: 'repeatable read',
        attempts: 1,
      });
    return work(run, tables);
  };
  const onRetry = (number: number, error: unknown) =>
    logger.info(
      { change_request_id: changeRequestId, attempt: number, state: findSqlState(error) },
      'an application of a change request is retried',
    );
  try {
    return await retryTransaction(attemptOnce, { attempts, isRetryable, onRetry });
  } catch (error) {
    if (isLockTimeout(error) || isMissingTable(error) || isConstraintViolation(error))
      throw new ServiceError('unavailable', 'The tables were changed at the same moment; try again.', { cause: error });
    throw error;
  }
}

async function findTables({ pools, catalogue }: ApplicationParts, call: CallContext, id: number): Promise<Tables> {
  const header = await getChangeRequest(pools, call.accountId, id);
  const changed = await findChangedTables(pgSql(pools.rows), header, standingSql('o'));
  const tables = await catalogue.readAll(header.account_id, changed);
  return new Map([...tables].filter(([, table]) => table.branch_id === header.branch_id));
}
