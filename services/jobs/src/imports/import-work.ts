// Loads one import table: streams the file from the object store to data, then records the result
// in the transaction that ends the job. The load id makes a repeated load answer its first result.
import type { BulkLoadOptions } from '@almanac/protos/generated/almanac/data/v1/BulkLoadOptions.ts';
import type { BulkLoadRequest } from '@almanac/protos/generated/almanac/data/v1/BulkLoadRequest.ts';
import type { BulkLoadResult__Output } from '@almanac/protos/generated/almanac/data/v1/BulkLoadResult.ts';
import type { ColumnSource } from '@almanac/protos/generated/almanac/data/v1/ColumnSource.ts';
import type { DeployedTable__Output } from '@almanac/protos/generated/almanac/data/v1/DeployedTable.ts';
import type { RejectedValue__Output } from '@almanac/protos/generated/almanac/data/v1/RejectedValue.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { allows } from '@almanac/service-kit/rights/rights';
import type { JobsContext } from '../context.ts';
import { putWithinLimit, readFreeBytes, releaseEarlierRuns } from '../files/account-storage.ts';
import { newObjectKey } from '../files/object-store/object-store.ts';
import { daysFromNow, recordObject, retentionDays } from '../files/stored-objects.ts';
import { type OpenOptions, openTableFile } from '../formats/open-file.ts';
import type { FileFormat } from '../formats/table-file/file-format.ts';
import type { ColumnTarget, TableFile } from '../formats/table-file/table-file.ts';
import type { import_table } from '../generated/prisma/client.ts';
import { readAccountDateStyle } from '../import-mappings/account-date-style.ts';
import {
  expectedNames,
  expectedWidth,
  needsTransactionCode,
  planColumns,
  positionOf,
  transactionCode,
} from '../import-mappings/column-plan.ts';
import { mappingOf, type PinnedMapping } from '../import-mappings/mapping.ts';
import { callerOf, endRun, type Job, type JobCaller } from '../queue/jobs.ts';
import type { JobHandler } from '../queue/worker.ts';
import { type ImportTableStatus, importTableMachine } from '../states/import-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import { type Transaction, transact } from '../transaction.ts';
import { correctionsOf } from './corrections.ts';
import { finishImport, lockImport } from './imports.ts';
import { type Progress, storedFile } from './uploaded/stored-file.ts';

const loadDeadlineMs = 12 * 3_600_000;
const progressEveryMs = 1_000;
const rejectionsInline = 100;

/** The worker's handler for import tables. */
export function importTableHandler(ctx: JobsContext): JobHandler {
  return {
    run: (job, signal) => runImportTable(ctx, job, signal),
    resolveOutcome: (job, signal) => resolveImportTable(ctx, job, signal),
    fail: (tx, job, reasons) => failImportTable(tx, job, reasons),
    wait: async (tx, job) => {
      await tx.import_table.updateMany({
        where: { ...subject(job), status: { in: statesAllowing(importTableMachine, 'wait') } },
        data: { status: 'uploaded' },
      });
    },
  };
}

const subject = (job: Job) => ({ id: job.subject_id, account_id: job.account_id });

async function runImportTable(ctx: JobsContext, job: Job, signal: AbortSignal): Promise<void> {
  const table = await startTable(ctx, job);
  if (!table) return transact(ctx, (tx) => endRun(tx, job, { state: 'done' }));
  const caller = callerOf(job);
  const { load_id, table_definition_id } = table;
  const result = table.data_import.cancel_requested
    ? await ctx.data.CancelLoad(caller, { load_id, table_definition_id }, { deadlineMs: loadDeadlineMs })
    : await load(ctx, caller, table, signal);
  await recordResult(ctx, job, table, result, signal);
}

// Data may have merged the file for an attempt that stopped before it got the answer. CancelLoad
// answers that result, or makes sure that the load never takes effect.
async function resolveImportTable(ctx: JobsContext, job: Job, signal: AbortSignal): Promise<boolean> {
  const table = await startTable(ctx, job);
  if (!table) return false;
  const load = { load_id: table.load_id, table_definition_id: table.table_definition_id };
  const result = await ctx.data.CancelLoad(callerOf(job), load, { signal, deadlineMs: loadDeadlineMs });
  if (result.status === 'cancelled' && !table.data_import.cancel_requested) return false;
  await recordResult(ctx, job, table, result, signal);
  return true;
}

async function recordResult(
  ctx: JobsContext,
  job: Job,
  table: import_table,
  result: BulkLoadResult__Output,
  signal: AbortSignal,
): Promise<void> {
  const kept = result.rejected > 0 ? await storeRejectedRows(ctx, callerOf(job), table, signal) : { key: null };
  const duration = Date.now() - (table.started_at as Date).getTime();
  await transact(ctx, async (tx) => {
    await lockImport(tx, job.account_id, table.import_id);
    await finish(tx, job, table, result, { duration, ...kept });
    await endRun(tx, job, { state: 'done' });
  });
}

type StartedTable = import_table & { data_import: { cancel_requested: boolean; branch_id: number } };

// Undefined when the table has already ended, because a message or a job was repeated.
async function startTable(ctx: JobsContext, job: Job): Promise<StartedTable | undefined> {
  const { count } = await ctx.prisma.import_table.updateMany({
    where: { ...subject(job), status: { in: statesAllowing(importTableMachine, 'begin') } },
    data: { status: 'processing', bytes_processed: 0, rows_processed: 0 },
  });
  if (count === 0) return undefined;
  // The duration includes interrupted attempts.
  await ctx.prisma.import_table.updateMany({
    where: { ...subject(job), started_at: null },
    data: { started_at: new Date() },
  });
  return ctx.prisma.import_table.findFirstOrThrow({
    where: subject(job),
    include: { data_import: { select: { cancel_requested: true, branch_id: true } } },
  });
}

// The right was checked when the table was added; the branch may have become protected since, or
// the right been revoked. The rights of an application come with its token alone, so they are not
// checked again.
async function recheckMassDeletion(
  ctx: JobsContext,
  caller: JobCaller,
  { account_id: accountId, mass_delete_by: userId, data_import: { branch_id: branchId } }: StartedTable,
): Promise<void> {
  if (userId === null) return;
  const { is_protected } = await ctx.metadata.GetBranch(caller, { id: branchId });
  if (!is_protected) return;
  if (!(await administers(ctx, { accountId, userId }, branchId)))
    throw new ServiceError('forbidden', {
      code: 'missing_right',
      message: 'Mass deletion was allowed by a user who is no longer an administrator of the branch or the account.',
    });
}

async function administers(ctx: JobsContext, caller: JobCaller, branchId: number): Promise<boolean> {
  try {
    return allows(await ctx.rights.get(caller, { fresh: true }), 'admin', { branchId });
  } catch (error) {
    // The user no longer exists.
    if (error instanceof ServiceError && error.kind === 'unauthenticated') return false;
    throw error;
  }
}

async function load(
  ctx: JobsContext,
  caller: JobCaller,
  table: StartedTable,
  signal: AbortSignal,
): Promise<BulkLoadResult__Output> {
  await recheckMassDeletion(ctx, caller, table);
  const deployed = await ctx.data.GetDeployedTable(caller, { table_definition_id: table.table_definition_id });
  const mapping = table.mapping === null ? null : mappingOf(table.mapping as PinnedMapping);
  const dateStyle = mapping?.date_style ?? (await readAccountDateStyle(ctx, caller));
  // During the merge data holds the rows in addition to the file, within the free storage.
  const room = await readFreeBytes(ctx, caller, table.object_key);
  const progress: Progress = { bytes: 0 };
  const saved = { at: performance.now() };
  const source = storedFile(ctx, table, progress, signal);
  const file = await openTableFile(source, {
    format: table.format === 'auto' ? undefined : (table.format as FileFormat),
    style: styleOf(mapping),
    expected: expectedNames(deployed.columns, mapping),
    width: expectedWidth(deployed.columns, mapping),
    columns: [
      ...deployed.columns.map(({ name }) => name),
      ...(needsTransactionCode(table.pattern) ? [transactionCode] : []),
    ],
    rejectsRows: table.on_error === 'reject_rows',
  });
  async function* requests(
    plan: Pick<BulkLoadOptions, 'versioned'> & { columns: ColumnSource[] },
  ): AsyncGenerator<BulkLoadRequest> {
    const { columns } = plan;
    const style = { date_style: dateStyle, decimal_separator: separatorOf(mapping, file) };
    const targets = new Map(columns.map((source) => [positionOf(source), source.target_column ?? '']));
    const corrections = correctionsOf(table, targets);
    yield { options: { ...optionsOf(table, file), ...style, ...plan, corrections, most_bytes: room } };
    for await (const chunk of file.rows(targetsOf(file, columns, deployed))) {
      signal.throwIfAborted();
      yield { chunk: chunk as Buffer };
      if (performance.now() - saved.at < progressEveryMs) continue;
      saved.at = performance.now();
      await saveProgress(ctx, table, progress, file);
    }
  }
  try {
    const plan = planColumns(file.header, deployed.columns, mapping, { ...table, fileFormat: file.format });
    const result = await ctx.data.BulkLoad(caller, requests(plan), { signal, deadlineMs: loadDeadlineMs });
    await saveProgress(ctx, table, progress, file);
    return result;
  } finally {
    await file.close();
    await source.discardCopies();
  }
}

const styleOf = (mapping: PinnedMapping | null): OpenOptions['style'] =>
  mapping === null
    ? {}
    : {
        delimiter: mapping.delimiter ?? undefined,
        quote: mapping.quote ?? undefined,
        encoding: mapping.encoding ?? undefined,
        hasHeader: mapping.has_header,
      };

// Numbers in JSON or a workbook are numbers: a mapping's decimal separator applies to text formats
// only.
const separatorOf = (mapping: PinnedMapping | null, { format }: TableFile) =>
  (format === 'csv' || format === 'tsv' ? mapping?.decimal_separator : null) ?? '';

const optionsOf = (table: import_table, { layout, header }: TableFile) => ({
  load_id: table.load_id,
  import_id: table.import_id,
  table_definition_id: table.table_definition_id,
  pattern: table.pattern,
  on_error: table.on_error,
  dry_run: table.dry_run,
  import_table_id: table.id,
  allow_mass_delete: table.allow_mass_delete,
  mass_delete_percent: table.mass_delete_percent,
  ...layout,
  file_columns: header,
});

function targetsOf(
  file: TableFile,
  columns: ColumnSource[],
  deployed: DeployedTable__Output,
): (ColumnTarget | undefined)[] {
  const types = new Map(deployed.columns.map(({ name, data_type }) => [name, data_type]));
  const targets: (ColumnTarget | undefined)[] = file.header.map(() => undefined);
  for (const source of columns) {
    const { target_column: target = '', date_format = '' } = source;
    targets[positionOf(source)] = { target, dataType: types.get(target) ?? 'text', formatted: date_format !== '' };
  }
  return targets;
}

async function saveProgress(ctx: JobsContext, table: import_table, progress: Progress, file: TableFile): Promise<void> {
  await ctx.prisma.import_table.updateMany({
    where: { id: table.id, account_id: table.account_id, status: 'processing' },
    data: {
      bytes_processed: progress.bytes,
      rows_processed: file.rowsRead(),
      ...(table.format === 'auto' ? { format: file.format } : {}),
    },
  });
}

type StoredRejections = { key: string | null; problem?: string };

// Stores all rejected rows in a file. When data no longer has them, or the storage is full, the
// import still ends: the first hundred are in its row, and the accepted rows are loaded.
async function storeRejectedRows(
  ctx: JobsContext,
  caller: JobCaller,
  table: import_table,
  signal: AbortSignal,
): Promise<StoredRejections> {
  const key = newObjectKey(table.account_id, 'rejections', table.id);
  await recordObject(ctx.prisma, table.account_id, key, daysFromNow(retentionDays.unfinishedResult));
  const rows = async function* () {
    for await (const { chunk } of ctx.data.ReadRejectedRows(caller, { load_id: table.load_id }, { signal }))
      yield chunk;
  };
  try {
    await releaseEarlierRuns(ctx, caller, key, table.rejected_key);
    const options = { maxBytes: limits.uploadBytes, contentType: 'text/csv; charset=utf-8', signal };
    await putWithinLimit(ctx, caller, key, rows(), options);
    return { key };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.kind === 'validation_failed')
      return { key: null, problem: `The file of rejected rows could not be kept. ${error.message}` };
    if (error.kind !== 'not_found') throw error;
    ctx.logger.warn({ import_table_id: table.id }, 'the rejected rows are no longer there');
    return { key: null };
  }
}

type ResultExtras = StoredRejections & { duration: number };

async function finish(
  tx: Transaction,
  job: Job,
  table: import_table,
  result: BulkLoadResult__Output,
  { duration, key: rejectedKey, problem }: ResultExtras,
): Promise<void> {
  const status = outcomeOf(result);
  await tx.import_table.updateMany({
    where: { ...subject(job), status: { in: statesAllowing(importTableMachine, 'finish', status) } },
    data: {
      status,
      rows_read: result.rows_read,
      rows_inserted: result.inserted,
      rows_updated: result.updated,
      rows_deleted: result.deleted,
      rows_unchanged: result.unchanged,
      rows_rejected: result.rejected,
      duration_ms: duration,
      rejections: result.rejections.slice(0, rejectionsInline).map(toRejection),
      errors: problem === undefined ? result.errors : [...result.errors, problem],
      rejected_key: rejectedKey,
      finished_at: new Date(),
    },
  });
  // Kept a day longer than shown, so that no valid link points to a missing file.
  if (rejectedKey) await recordObject(tx, job.account_id, rejectedKey, daysFromNow(retentionDays.result + 1));
  const until = status === 'cancelled' ? new Date() : daysFromNow(retentionDays.finishedUpload);
  await recordObject(tx, job.account_id, table.object_key, until);
  await finishImport(tx, callerOf(job), table.import_id);
}

const toRejection = ({ row, column, value, message, consequences, cause_row }: RejectedValue__Output) => ({
  ...{ row, column, value, message },
  ...(consequences === undefined ? {} : { consequences }),
  ...(cause_row === undefined ? {} : { cause_row }),
});

function outcomeOf({ status }: BulkLoadResult__Output) {
  const known = (['completed', 'completed_with_errors', 'failed', 'cancelled'] satisfies ImportTableStatus[]).find(
    (each) => each === status,
  );
  if (!known) throw new Error(`the data service answered a load with ${status}`);
  return known;
}

async function failImportTable(tx: Transaction, job: Job, reasons: string[]): Promise<void> {
  const table = await tx.import_table.findFirst({ where: subject(job) });
  if (!table) return;
  await lockImport(tx, job.account_id, table.import_id);
  await tx.import_table.updateMany({
    where: { ...subject(job), status: { in: statesAllowing(importTableMachine, 'fail') } },
    data: { status: 'failed', errors: reasons, finished_at: new Date() },
  });
  await recordObject(tx, job.account_id, table.object_key, daysFromNow(retentionDays.finishedUpload));
  await finishImport(tx, callerOf(job), table.import_id);
}
