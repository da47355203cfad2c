// Records by their primary key: read, deleted, and written whether they are there or not.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { retryTransaction } from '@almanac/service-kit/postgres/database';
import { isConstraintViolation, isForeignKeyViolation, isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import { type Pools, run } from '../postgres/pools.ts';
import { originOf } from '../rows/origin.ts';
import { stale, type TableAccess, type TableRequest, withTable } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { explainReferrers, explainRefusal, withConstraintProblems } from './constraint-problems.ts';
import type { WriteAccess } from './idempotency.ts';
import { type KeyedInput, readKey, readKeyed } from './key-input.ts';
import { requireKey, requireLive, requireManual, rowOf } from './preconditions.ts';
import { readRecord } from './record-input.ts';
import { recordAnswer, showRecord } from './records.ts';
import { insertRow, readKeyedRow, updateKeyedRow } from './single-rows.ts';
import { type DeletionChange, deleteSql } from './write-sql.ts';

/** The values of the columns of a primary key, as texts. */
export type KeyTexts = Record<string, string>;

/** The live record with this key; `asOf`: the one that had it at this instant. */
export function getRecordByKey(
  access: TableAccess & { pools: Pools },
  call: CallContext,
  request: TableRequest & { asOf?: string },
  key: KeyTexts,
): Promise<Answer> {
  return showRecord(access, call, request, (table, reading) =>
    readKeyedRow(access.pools, table, readKey(table, key), reading),
  );
}

// Each further attempt follows a writer that has created, deleted or renamed the record.
const maxAttempts = 20;

const changedConcurrently = () =>
  new ServiceError('unavailable', 'The record was changed at the same moment; try again.');

/**
 * What must be true of the record: `exists` or not, when it matters; and one of these `versions`,
 * when the record must have one.
 */
export type Condition = { exists: boolean | undefined; versions: number[] | undefined };

type Upsert = { record: Record<string, unknown>; condition: Condition };
type Upserted = Answer & { isNew: boolean };

/**
 * Changes the columns that `record` names in the live record with its key, or creates one. 412
 * unless the condition holds; 422 names every problem.
 */
export function upsertRecord(
  access: WriteAccess,
  call: CallContext,
  request: TableRequest,
  { record, condition }: Upsert,
): Promise<Upserted> {
  return withTable(access, call, request, 'edit', async (table) => {
    requireKey(table);
    requireManual(table);
    const work: Work = { access, call, table, record, input: readKeyed(table, record), condition };
    if (work.input.problems.length > 0) throw await refusal(work);
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const done = (await updateExisting(work)) ?? (await createMissing(work));
      if (done) return done;
    }
    throw changedConcurrently();
  });
}

type Work = Upsert & { access: WriteAccess; call: CallContext; table: DeployedTable; input: KeyedInput };
type Outcome = Upserted | typeof stale | undefined;

const readExisting = async ({ access: { pools }, table, input: { key } }: Work) =>
  key && readKeyedRow(pools, table, key);

async function updateExisting(work: Work): Promise<Outcome> {
  const { access, call, table, input, condition } = work;
  const { pools, announcer } = access;
  const { key, cells } = input;
  if (!key || condition.exists === false) return undefined;
  const { versions } = condition;
  try {
    const row = await updateKeyedRow(pools, table, { key, cells, versions, origin: originOf(call, 'api') });
    if (!row) return undefined;
    announcer.touch(table);
    return { ...recordAnswer(row), isNew: false };
  } catch (error) {
    const row = isConstraintViolation(error) ? await readExisting(work) : undefined;
    if (!row) throw error;
    throw await explainRefusal(pools, table, error, cells, String(row.svc_sk));
  }
}

async function createMissing(work: Work): Promise<Outcome> {
  const { access, call, table, record, condition } = work;
  const { pools, announcer, catalogue } = access;
  if (condition.exists === true) {
    if (!(await catalogue.isCurrent(table))) return stale;
    await requireCondition(work);
    return undefined;
  }
  const { cells, problems } = readRecord(table, record, true);
  if (problems.length > 0) {
    if ((await requireCondition(work)) !== undefined) return undefined;
    throw await withConstraintProblems(pools, table, problems, cells, undefined);
  }
  try {
    const row = await insertRow(pools, table, { cells, origin: originOf(call, 'api') });
    if (!row) return stale;
    announcer.touch(table);
    return { ...recordAnswer(row), isNew: true };
  } catch (error) {
    if (!isUniqueViolation(error)) throw await explainRefusal(pools, table, error, cells, undefined);
    await requireCondition(work);
    return undefined;
  }
}

// 412 unless the record is as the condition says. Answers the id of the record if it is there.
async function requireCondition(work: Work): Promise<string | undefined> {
  const { access, table, condition } = work;
  const row = await readExisting(work);
  if (!row && condition.exists === true)
    throw new ServiceError('precondition_failed', {
      code: 'not_found',
      message: 'No record has this primary key (If-Match).',
    });
  if (row && condition.exists === false)
    throw new ServiceError('precondition_failed', {
      code: 'taken',
      message: 'A record with this primary key exists (If-None-Match).',
      ...rowOf(row.svc_sk),
      current: new JsonText(row.record),
    });
  if (!row) return undefined;
  const id = String(row.svc_sk);
  if (condition.versions) await requireLive(access.pools, table, { id, versions: condition.versions });
  return id;
}

// Of values that break rules: as a change when the record is there, else as a new record.
async function refusal(work: Work): Promise<ServiceError> {
  const { access, table, record, input } = work;
  const id = input.key && (await requireCondition(work));
  const { cells, problems } = input.key && id === undefined ? readRecord(table, record, true) : input;
  return withConstraintProblems(access.pools, table, problems, cells, id);
}

/** Soft-deletes the live record with this key. `versions`: 412 unless it has one of these. */
export function deleteRecordByKey(
  access: WriteAccess,
  call: CallContext,
  request: TableRequest,
  { key, versions }: { key: KeyTexts; versions: number[] | undefined },
): Promise<void> {
  const { pools, catalogue, announcer } = access;
  return withTable<void>(access, call, request, 'edit', async (table) => {
    requireManual(table);
    const cells = readKey(table, key);
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const row = await readKeyedRow(pools, table, cells);
      if (!row && !(await catalogue.isCurrent(table))) return stale;
      if (!row) throw notFound('Record');
      const id = String(row.svc_sk);
      if (versions) await requireLive(pools, table, { id, versions });
      // Guarded by the version that was read: it has the key.
      const statement = deleteSql(table, [id], originOf(call, 'api'), row.svc_version);
      let done: DeletionChange | undefined;
      try {
        [done] = await retryTransaction(() => run<DeletionChange>(pools.rows, statement));
      } catch (error) {
        if (!isForeignKeyViolation(error)) throw error;
        throw await explainReferrers(pools, table, [id], error);
      }
      if (!done) return stale;
      if (done.count === 0) continue;
      announcer.touch(table);
      return undefined;
    }
    throw changedConcurrently();
  });
}
