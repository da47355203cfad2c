// Records one by one: each function opens the table (404, 403), reads its input (400, 422), runs
// one statement and makes the answer of the row that it returns.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { isForeignKeyViolation } from '@almanac/service-kit/postgres/errors';
import type { Pools } from '../postgres/pools.ts';
import { refuseUnreadable } from '../rows/as-of.ts';
import { originOf } from '../rows/origin.ts';
import { type Reading, tablesOf } from '../rows/reading.ts';
import { etagOf } from '../rows/record-sql.ts';
import { stale, type TableAccess, type TableRequest, withTable } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { explainReferrers, explainRefusal, withConstraintProblems } from './constraint-problems.ts';
import { findKept, type WriteAccess, writeOnce } from './idempotency.ts';
import { refuseUnknown, requireLive, requireManual } from './preconditions.ts';
import { readRecord } from './record-input.ts';
import { insertRow, readRow, updateRow } from './single-rows.ts';
import { type DeletionChange, deleteSql, insertSql, type NewRow } from './write-sql.ts';

/** A row as a statement returns it. */
export type Written = { record: string; svc_version: number };

/** One record, deleted or not; `asOf`: as it was at this instant. */
export function getRecord(
  access: TableAccess & { pools: Pools },
  call: CallContext,
  request: TableRequest & { asOf?: string },
  id: string,
): Promise<Answer> {
  return showRecord(access, call, request, (table, reading) => readRow(access.pools, table, id, reading));
}

/** The record that `find` finds as requested; 404 when there is none. */
export function showRecord(
  access: TableAccess & { pools: Pools },
  call: CallContext,
  request: TableRequest & { asOf?: string },
  find: (table: DeployedTable, reading: Reading) => Promise<Written | undefined>,
): Promise<Answer> {
  return withTable(access, call, request, 'view', async (table, targets, through) => {
    const reading = { asOf: request.asOf, targets, through };
    const row = await find(table, reading);
    if (row) return recordAnswer(row);
    await refuseUnreadable(access.pools.rows, table, reading);
    for (const each of tablesOf(table, reading)) if (!(await access.catalogue.isCurrent(each))) return stale;
    throw notFound('Record');
  });
}

/** The answer that is a record. */
export const recordAnswer = (row: Written): Answer => ({ body: row.record, etag: etagOf(row.svc_version) });

/** Creates a record; 422 names every problem, also those that constraints would refuse. */
export function createRecord(
  access: WriteAccess,
  call: CallContext,
  request: TableRequest,
  record: Record<string, unknown>,
): Promise<Answer> {
  return withTable(access, call, request, 'edit', async (table) => {
    const kept = await findKept(access.pools, call);
    if (kept) return kept;
    requireManual(table);
    const { cells, problems } = readRecord(table, record, true);
    if (problems.length > 0) throw await withConstraintProblems(access.pools, table, problems, cells, undefined);
    try {
      return (await insertOnce(access, call, table, { cells, origin: originOf(call, 'api') })) ?? stale;
    } catch (error) {
      throw await explainRefusal(access.pools, table, error, cells, undefined);
    }
  });
}

// Only the answer that an Idempotency-Key keeps needs a transaction of its own.
async function insertOnce(
  access: WriteAccess,
  call: CallContext,
  table: DeployedTable,
  row: NewRow,
): Promise<Answer | undefined> {
  if (call.keyed) return writeOnce(access, call, table, insertSql(table, [row], 'api'), recordAnswer);
  const inserted = await insertRow(access.pools, table, row);
  if (inserted) access.announcer.touch(table);
  return inserted && recordAnswer(inserted);
}

type UpdateInput = { id: string; record: Record<string, unknown>; versions: number[] | undefined };

/**
 * Changes the columns that `record` names in a live row. `versions`: 412 unless the row has one of
 * these.
 */
export function updateRecord(
  access: WriteAccess,
  call: CallContext,
  request: TableRequest,
  input: UpdateInput,
): Promise<Answer> {
  const { pools, announcer, catalogue } = access;
  return withTable(access, call, request, 'edit', async (table) => {
    requireManual(table);
    const { cells, problems } = readRecord(table, input.record, false);
    if (problems.length > 0) {
      await requireLive(pools, table, input);
      throw await withConstraintProblems(pools, table, problems, cells, input.id);
    }
    let updated: Written | undefined;
    try {
      updated = await updateRow(pools, table, { ...input, cells, origin: originOf(call, 'api') });
    } catch (error) {
      throw await explainRefusal(pools, table, error, cells, input.id);
    }
    if (updated) {
      announcer.touch(table);
      return recordAnswer(updated);
    }
    if (!(await catalogue.isCurrent(table))) return stale;
    await requireLive(pools, table, input);
    throw new ServiceError('unavailable', 'The record was changed at the same moment; try again.');
  });
}

/** Soft-deletes records, all or nothing; the answer counts those that were live. */
export function deleteRecords(
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
    const statement = deleteSql(table, unique, originOf(call, 'api'));
    try {
      return (await writeOnce(access, call, table, statement, countAnswer('deleted'))) ?? stale;
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw await explainReferrers(access.pools, table, unique, error);
    }
  });
}

/**
 * The answer that counts the records that were `deleted` or `restored`; 404 names the unknown ones.
 */
export const countAnswer =
  (done: 'deleted' | 'restored') =>
  ({ count, unknown }: DeletionChange): Answer => {
    refuseUnknown(unknown);
    const message = `${count} ${count === 1 ? 'record' : 'records'} ${done}`;
    return { body: JSON.stringify({ message, [`${done}_count`]: count }) };
  };
