// Runs one export: streams the rows of one snapshot from data into an object of this run. The row
// refers to the object only when it is complete, in the transaction that ends the job.
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { BulkReadStart__Output } from '@almanac/protos/generated/almanac/data/v1/BulkReadStart.ts';
import type { DeployedTable__Output } from '@almanac/protos/generated/almanac/data/v1/DeployedTable.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import type { JobsContext } from '../context.ts';
import { putWithinLimit, releaseEarlierRuns, releaseObjects } from '../files/account-storage.ts';
import { newObjectKey, type StoredObject } from '../files/object-store/object-store.ts';
import { daysFromNow, recordObject, retentionDays } from '../files/stored-objects.ts';
import { guardCells } from '../formats/csv/formula-guard.ts';
import { writeTsv } from '../formats/csv/tsv-writer.ts';
import { writeJson, writeNdjson } from '../formats/json/json-writer.ts';
import { writeParquet } from '../formats/parquet/parquet-writer.ts';
import { copiedRows, type ExportColumn } from '../formats/table-file/copied-rows.ts';
import { versionColumns } from '../formats/xlsx/editing-sheets.ts';
import { type SheetExtras, writeXlsx } from '../formats/xlsx/xlsx-writer.ts';
import type { data_export } from '../generated/prisma/client.ts';
import { callerOf, endRun, type Job, LeaseLost } from '../queue/jobs.ts';
import type { JobHandler } from '../queue/worker.ts';
import { exportMachine } from '../states/export-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import { announce, type Transaction, transact } from '../transaction.ts';
import { readEditingExtras } from './editing-choices.ts';
import { readRequestOf } from './export-criteria.ts';
import { contentTypeOf } from './exports.ts';

const readDeadlineMs = 12 * 3_600_000;
const maxExportBytes = 1024 ** 4;
/** For rows as CSV, level 6 saves 8 % of the size and takes 2.4 times as long. */
const gzipLevel = 2;
const textTypes = new Set(['string', 'text', 'varchar', 'character']);

/** The worker's handler for exports. */
export function exportHandler(ctx: JobsContext): JobHandler {
  return {
    run: (job, signal) => runExport(ctx, job, signal),
    fail: (tx, job, reasons) => failExport(tx, job, reasons),
    wait: async (tx, job) => {
      await tx.data_export.updateMany({
        where: { ...subject(job), status: { in: statesAllowing(exportMachine, 'wait') } },
        data: { status: 'created' },
      });
    },
  };
}

const subject = (job: Job) => ({ id: job.subject_id, account_id: job.account_id });

async function runExport(ctx: JobsContext, job: Job, signal: AbortSignal): Promise<void> {
  const row = await startExport(ctx, job);
  if (!row) return transact(ctx, (tx) => endRun(tx, job, { state: 'done' }));
  const table = await ctx.data.GetDeployedTable(callerOf(job), { table_definition_id: row.table_definition_id });
  // A key of this run, so that an earlier run that is still writing cannot interfere.
  const object_key = newObjectKey(job.account_id, 'exports', row.id);
  await recordObject(ctx.prisma, job.account_id, object_key, daysFromNow(retentionDays.unfinishedResult));
  await releaseEarlierRuns(ctx, callerOf(job), object_key);
  const read = readTable(ctx, job, row, table, signal);
  const bytes = row.gzip ? gzipped(read.bytes()) : read.bytes();
  const stored = await putWithinLimit(ctx, callerOf(job), object_key, bytes, {
    maxBytes: maxExportBytes,
    contentType: contentTypeOf(row),
    signal,
  });
  try {
    await recordCompletion(ctx, job, { row, object_key, stored, ...read.totals() });
  } catch (error) {
    // The export was cancelled, or another run took the job: no row will ever refer to the object.
    if (error instanceof LeaseLost) await releaseObjects(ctx, callerOf(job), [object_key]);
    throw error;
  }
}

type StoredExport = Totals & { row: data_export; object_key: string; stored: StoredObject };

async function recordCompletion(
  ctx: JobsContext,
  job: Job,
  { row, object_key, stored, ...totals }: StoredExport,
): Promise<void> {
  const { rows, next_high_water_mark } = totals;
  const file_expires_at = daysFromNow(retentionDays.result);
  await transact(ctx, async (tx) => {
    const { count } = await tx.data_export.updateMany({
      where: { ...subject(job), status: { in: statesAllowing(exportMachine, 'finish') } },
      data: {
        status: 'completed',
        object_key,
        rows_exported: rows,
        bytes_exported: stored.size,
        // Some rows are no copy that changes could keep up to date.
        next_high_water_mark: row.criteria === null ? next_high_water_mark : null,
        finished_at: new Date(),
        file_expires_at,
      },
    });
    // Kept a day longer than promised, so that no valid link points to a missing file.
    if (count === 1) await recordObject(tx, job.account_id, object_key, daysFromNow(retentionDays.result + 1));
    if (count === 1) await announce(tx, callerOf(job), 'export.finished', { id: row.id, status: 'completed' });
    await endRun(tx, job, { state: 'done' });
  });
}

// Undefined when the export has already ended.
async function startExport(ctx: JobsContext, job: Job): Promise<data_export | undefined> {
  const { count } = await ctx.prisma.data_export.updateMany({
    where: { ...subject(job), status: { in: statesAllowing(exportMachine, 'begin') } },
    data: { status: 'processing', started_at: new Date() },
  });
  if (count === 0) return undefined;
  return ctx.prisma.data_export.findFirstOrThrow({ where: subject(job) });
}

type Totals = { rows: number; next_high_water_mark: string };

function readTable(ctx: JobsContext, job: Job, row: data_export, table: DeployedTable__Output, signal: AbortSignal) {
  let totals: Totals | undefined;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    // Read before the rows, so that no snapshot is held open for it.
    const extras = row.for_editing ? await readEditingExtras(ctx, callerOf(job), table, signal) : undefined;
    const chunks = ctx.data.BulkRead(callerOf(job), readRequestOf(row), { signal, deadlineMs: readDeadlineMs });
    const iterator = chunks[Symbol.asyncIterator]();
    try {
      const first = await iterator.next();
      const start = first.done ? undefined : first.value.start;
      if (!start) throw new Error('the data service did not say which columns it reads');
      // Data of an earlier release does not send the version columns.
      if (row.for_editing && !versionColumns.every((name) => start.columns.includes(name)))
        throw new ServiceError('unavailable', 'Exports for editing are not available yet; try again later.');
      // It would read all rows.
      if (row.criteria !== null && !start.has_criteria)
        throw new ServiceError('unavailable', 'Exports of some rows are not available yet; try again later.');
      async function* rows() {
        for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
          signal.throwIfAborted();
          if (next.value.chunk) yield next.value.chunk as Uint8Array;
          if (next.value.end) totals = next.value.end;
        }
      }
      yield* formatRows(row, start, table, rows(), extras);
    } finally {
      await iterator.return?.();
    }
    // A stream without totals at its end was cut off.
    if (!totals) throw new ServiceError('unavailable', 'The table could not be read to its end; try again.');
  }
  return { bytes, totals: () => totals as Totals };
}

// CSV is passed on as PostgreSQL wrote it.
async function* formatRows(
  { format, safe_cells, exact_numbers }: data_export,
  { columns, labels }: BulkReadStart__Output,
  table: DeployedTable__Output,
  rows: AsyncIterable<Uint8Array>,
  extras: SheetExtras | undefined,
): AsyncGenerator<Uint8Array> {
  const own = new Map([...table.columns, ...labels].map((column) => [column.name, column]));
  if (format === 'csv') {
    yield Buffer.from(`${columns.map(headerCell).join(',')}\n`);
    yield* safe_cells
      ? guardCells(
          rows,
          columns.map((name) => textTypes.has(own.get(name)?.data_type ?? '')),
        )
      : rows;
    return;
  }
  const typed = columns.map((name): ExportColumn => {
    const { data_type = systemTypes[name] ?? 'text', length, scale } = own.get(name) ?? {};
    const asText = exact_numbers && own.has(name) && exactNumberTypes.has(data_type);
    return { name, dataType: asText ? 'text' : data_type, precision: length, scale };
  });
  if (format === 'parquet') yield* writeParquet(typed, rows);
  else if (format === 'xlsx') yield* writeXlsx(typed, copiedRows(rows), extras);
  else yield* writers[format as keyof typeof writers](typed, copiedRows(rows));
}

const exactNumberTypes = new Set(['bigint', 'decimal']);
const writers = { tsv: writeTsv, ndjson: writeNdjson, json: writeJson };
const systemTypes: Record<string, string> = {
  svc_sk: 'bigint',
  svc_version: 'bigint',
  svc_created_at: 'timestamptz',
  svc_updated_at: 'timestamptz',
  svc_is_deleted: 'boolean',
};

const headerCell = (name: string) => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);

async function* gzipped(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level: gzipLevel, chunkSize: 256 * 1024 });
  pipeline(Readable.from(source, { objectMode: false }), gzip, () => {});
  try {
    yield* gzip as AsyncIterable<Uint8Array>;
  } finally {
    gzip.destroy();
  }
}

async function failExport(tx: Transaction, job: Job, reasons: string[]): Promise<void> {
  const { count } = await tx.data_export.updateMany({
    where: { ...subject(job), status: { in: statesAllowing(exportMachine, 'fail') } },
    data: { status: 'failed', error: reasons.join(' '), finished_at: new Date() },
  });
  if (count === 1) await announce(tx, callerOf(job), 'export.finished', { id: job.subject_id, status: 'failed' });
}
