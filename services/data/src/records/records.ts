// Rows of deployed tables: what one may do with them. Every function finds the table (404), asks for the right (403), reads its
// input (400, 422), makes one statement and runs it.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { ServiceError } from '@almanac/service-kit/errors';
import { isForeignKeyViolation } from '@almanac/service-kit/postgres/errors';
import type { DataContext } from '../context.ts';
import { originOf } from '../rows/origin.ts';
import type { Reading } from '../rows/read-options.ts';
import { type ReadingRequest, readTable } from '../rows/read-table.ts';
import { etagOf } from '../rows/record-sql.ts';
import { stale } from '../tables/catalogue.ts';
import { absentOrStale, isCurrent, type TableRequest } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { explainReferrers, explainRefusal, withConstraintProblems } from './constraint-problems.ts';
import { findKept, writeOnce } from './idempotency.ts';
import { insertRow } from './insert-row.ts';
import { refuseUnknown, requireLive } from './no-effect-reasons.ts';
import { readRow } from './read-row.ts';
import { readRecord } from './record-input.ts';
import { updateRow } from './update-row.ts';
import { deleteSql, insertSql, type Marked, type NewRow } from './write-sql.ts';
import { writeTable } from './write-table.ts';

/** A row as a statement returns it. */
export type Written = { record: string; svc_version: number };

/** One row, deleted or not. */
export function getRecord(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  id: string,
  how: ReadingRequest = {},
): Promise<Answer> {
  const read = async (table: DeployedTable, reading: Reading) => {
    const row = await readRow(ctx.pools, table, id, reading);
    return row && recordAnswer(row);
  };
  return readTable(ctx, call, reference, how, read, (...tables) => absentOrStale(ctx, ...tables));
}

/** The answer that is a record. */
export const recordAnswer = (row: Written): Answer => ({ body: row.record, etag: etagOf(row.svc_version) });

/** Creates a row; 422 tells every problem, also what the constraints would refuse. */
export function createRecord(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  record: Record<string, unknown>,
): Promise<Answer> {
  return writeTable(ctx, call, reference, async (table) => {
    const kept = await findKept(ctx, call);
    if (kept) return kept;
    const { cells, problems } = readRecord(table, record, true);
    if (problems.length > 0) throw await withConstraintProblems(ctx, table, problems, cells, undefined);
    const row = { cells, origin: originOf(call, 'api') };
    try {
      return (await insertOnce(ctx, call, table, row)) ?? stale;
    } catch (error) {
      throw await explainRefusal(ctx, table, error, cells, undefined);
    }
  });
}

// Only what an Idempotency-Key keeps needs a transaction of its own.
async function insertOnce(
  ctx: DataContext,
  call: CallContext,
  table: DeployedTable,
  row: NewRow,
): Promise<Answer | undefined> {
  if (call.keyed) return writeOnce(ctx, call, table, insertSql(table, [row], 'api'), recordAnswer);
  const inserted = await insertRow(ctx.pools, table, row);
  if (inserted) ctx.announcer.touch(table);
  return inserted && recordAnswer(inserted);
}

type UpdateInput = { id: string; record: Record<string, unknown>; versions: number[] | undefined };

/** Changes what `record` names in a live row. `versions`: only while the row has one of these (412 otherwise). */
export function updateRecord(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  input: UpdateInput,
): Promise<Answer> {
  return writeTable(ctx, call, reference, async (table) => {
    const { cells, problems } = readRecord(table, input.record, false);
    if (problems.length > 0) {
      await requireLive(ctx, table, input);
      throw await withConstraintProblems(ctx, table, problems, cells, input.id);
    }
    let updated: Written | undefined;
    try {
      updated = await updateRow(ctx.pools, table, { ...input, cells, origin: originOf(call, 'api') });
    } catch (error) {
      throw await explainRefusal(ctx, table, error, cells, input.id);
    }
    if (updated) {
      ctx.announcer.touch(table);
      return recordAnswer(updated);
    }
    if (await isCurrent(ctx, table)) {
      await requireLive(ctx, table, input);
      throw new ServiceError('unavailable', 'The record was changed at the same moment; try again.');
    }
    return stale;
  });
}

/** Soft-deletes rows, all or nothing; the answer tells how many were live until now. */
export function deleteRecords(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  ids: string[],
): Promise<Answer> {
  return writeTable(ctx, call, reference, async (table) => {
    const unique = [...new Set(ids)];
    const statement = deleteSql(table, unique, originOf(call, 'api'));
    try {
      return (await writeOnce(ctx, call, table, statement, countAnswer('deleted'))) ?? stale;
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw await explainReferrers(ctx, table, unique, error);
    }
  });
}

/** The answer that tells how many rows were `deleted` or `restored`; 404 names those that are unknown. */
export const countAnswer =
  (done: 'deleted' | 'restored') =>
  ({ count, unknown }: Marked): Answer => {
    refuseUnknown(unknown);
    const message = `${count} ${count === 1 ? 'record' : 'records'} ${done}`;
    return { body: JSON.stringify({ message, [`${done}_count`]: count }) };
  };
