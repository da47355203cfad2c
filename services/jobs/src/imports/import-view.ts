// The schemas of answers about imports, and the answers.
import { z } from 'zod';
import type { JobsContext } from '../context.ts';
import { daysFromNow, retentionDays } from '../files/stored-objects.ts';
import { fileFormats } from '../formats/table-file/file-format.ts';
import type { data_import, import_action, import_table } from '../generated/prisma/client.ts';
import { finishedTableStates, type ImportTableStatus } from '../states/import-states.ts';

export const importStatus = z.enum([
  'created',
  'uploading',
  'processing',
  'completed',
  'completed_with_errors',
  'failed',
  'cancelled',
]);
const tableStatus = z.enum([
  'created',
  'uploaded',
  'processing',
  'completed',
  'completed_with_errors',
  'failed',
  'cancelled',
]);
/** How a dry run is applied. */
export const applications = ['rows', 'change_request'] as const;
export const time = z.iso.datetime();
const count = z.int().min(0);

const progressSchema = z
  .object({
    percent: z.int().min(0).max(100),
    bytes_processed: count,
    bytes_total: count.nullable(),
    rows_processed: count,
  })
  .meta({ id: 'Progress' });

const importSchema = z.object({
  id: z.int(),
  branch_id: z.int(),
  correlation_code: z.string(),
  status: importStatus,
  created_by: z.int().nullable(),
  created_at: time,
  updated_at: time,
  finished_at: time.nullable(),
});

/** How many tables of an import a list shows. */
export const listedTables = 10;

const rejectionSchema = z
  .object({
    row: count,
    column: z.string(),
    value: z.string(),
    message: z.string(),
    consequences: count
      .optional()
      .meta({ description: 'Rows that are rejected only because they refer to this one; reported once a row.' }),
    cause_row: count.optional().meta({ description: 'The row that has to be mended instead of this one.' }),
  })
  .meta({ id: 'Rejection' });

export const importTableSchema = z
  .object({
    id: z.int(),
    import_id: z.int(),
    table_definition_id: z.int(),
    table_definition_key: z.string(),
    status: tableStatus,
    pattern: z.enum(['full', 'incremental', 'incremental_with_delete']),
    format: z.enum(['auto', ...fileFormats]).meta({ description: 'auto: not known before the file is read.' }),
    on_error: z.enum(['reject_file', 'reject_rows']),
    dry_run: z.boolean(),
    applied_as: z
      .enum(applications)
      .nullable()
      .meta({ description: 'What became of a dry run; of one whose file was loaded, `dry_run` is false.' }),
    change_request_id: z.int().nullable().meta({ description: 'The change request that has its rows.' }),
    allow_mass_delete: z.boolean(),
    mass_delete_percent: z.int(),
    safe_cells: z.boolean(),
    import_mapping_id: z.int().nullable(),
    file_size: count.nullable(),
    upload_expires_at: time,
    progress: progressSchema,
    metrics: z
      .object({
        rows_read: count,
        inserted: count,
        updated: count,
        deleted: count,
        unchanged: count,
        rejected: count,
        bytes: count,
        duration: count.meta({ description: 'Milliseconds.' }),
      })
      .meta({ id: 'ImportMetrics' })
      .nullable(),
    rejections: z
      .array(rejectionSchema)
      .meta({ description: 'The first 100; causes stand before rows that are rejected because of them.' }),
    rejected_rows_url: z
      .string()
      .nullable()
      .meta({ description: 'All rejected rows as CSV; fresh at every GET, for one hour.' }),
    corrected_rows: count.meta({ description: 'Rows of the file that were corrected in place (`correct`).' }),
    errors: z.array(z.string()),
    created_at: time,
    started_at: time.nullable(),
    finished_at: time.nullable(),
  })
  .meta({ id: 'ImportTable' });

export const newImportTableSchema = importTableSchema.extend({
  upload_url: z.string().meta({ description: 'PUT the file there; no token is needed.' }),
});

export const importDetailSchema = importSchema
  .extend({
    progress: progressSchema,
    import_tables: z.array(importTableSchema),
    actions: z.array(
      z
        .object({
          action: z.string(),
          user_id: z.int().nullable(),
          application_id: z.int().nullable(),
          comment: z.string().nullable(),
          at: time,
        })
        .meta({ id: 'ImportAction' }),
    ),
  })
  .meta({ id: 'ImportDetails' });

const listed = {
  id: true,
  table_definition_id: true,
  table_definition_key: true,
  status: true,
  pattern: true,
  dry_run: true,
  finished_at: true,
} as const;

const listedTableSchema = importTableSchema.pick({ ...listed, metrics: true }).meta({ id: 'ListedImportTable' });

export const listedImportSchema = importSchema
  .extend({
    tables_count: count.optional().meta({ description: 'With `include=tables`: how many tables the import has.' }),
    import_tables: z
      .array(listedTableSchema)
      .optional()
      .meta({ description: `With \`include=tables\`: the first ${listedTables} tables of the import.` }),
  })
  .meta({ id: 'Import' });

const dryRunChangeSchema = z
  .object({
    kind: z.enum(['created', 'updated', 'deleted']),
    key: z.record(z.string(), z.unknown()).meta({ description: 'The primary key; nothing in a table without one.' }),
    id: z.int().nullable().meta({ description: 'The `svc_sk` of the row; null of a new one.' }),
    cells: z
      .record(z.string(), z.object({ from: z.unknown(), to: z.unknown() }).meta({ id: 'DryRunCell' }))
      .meta({ description: 'Column name to both values; null: no value.' }),
  })
  .meta({ id: 'DryRunChange' });
export const dryRunChangesSchema = z
  .object({
    rows: z.array(dryRunChangeSchema),
    rowCount: count.meta({ description: 'Of the requested kind, as far as they are kept.' }),
    counts: z
      .object({ created: count, updated: count, deleted: count })
      .meta({ id: 'DryRunCounts', description: 'Of all that the dry run would change, as its metrics say.' }),
    truncated: z.boolean().meta({ description: 'Only the first rows are kept: 100,000, or 16 MB of them.' }),
  })
  .meta({ id: 'DryRunChanges' });

const rejectedRowSchema = z
  .object({
    row: count.meta({ description: 'Its number in the file.' }),
    cells: z.array(z.string().nullable()).meta({ description: 'One for each column, as the load read them.' }),
    problems: z.array(
      z
        .object({
          column: z.string().meta({ description: 'Of the table, or several of a key; empty: the row as a whole.' }),
          value: z.string().nullable(),
          message: z.string(),
        })
        .meta({ id: 'RejectedCell' }),
    ),
  })
  .meta({ id: 'RejectedRow' });
export const rejectedRowsSchema = z
  .object({
    columns: z.array(
      z
        .object({
          name: z.string().meta({ description: 'In the file.' }),
          target: z.string().nullable().meta({ description: 'The column of the table that it fills.' }),
        })
        .meta({ id: 'FileColumn' }),
    ),
    rows: z.array(rejectedRowSchema),
    rowCount: count,
  })
  .meta({ id: 'RejectedRows' });

export type ImportDetail = data_import & { import_tables: import_table[]; actions: import_action[] };

/** An import in a list. */
export function showImport(row: data_import): z.input<typeof importSchema> {
  return {
    id: row.id,
    branch_id: row.branch_id,
    correlation_code: row.correlation_code,
    status: row.status as z.input<typeof importStatus>,
    created_by: row.user_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/** What a list reads of a table. */
export const listedTableFields = {
  ...listed,
  rows_read: true,
  rows_inserted: true,
  rows_updated: true,
  rows_deleted: true,
  rows_unchanged: true,
  rows_rejected: true,
  object_size: true,
  duration_ms: true,
} as const satisfies Partial<Record<keyof import_table, true>>;
type ListedTable = Pick<import_table, keyof typeof listedTableFields>;

/** A table of an import in a list. */
export function showListedTable(row: ListedTable): z.input<typeof listedTableSchema> {
  return {
    id: row.id,
    table_definition_id: row.table_definition_id,
    table_definition_key: row.table_definition_key,
    status: row.status as ImportTableStatus,
    pattern: row.pattern as 'full',
    dry_run: row.dry_run,
    metrics: metricsOf(row),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/** An import with its tables, metrics and history. */
export async function showImportDetail(ctx: Pick<JobsContext, 'store'>, row: ImportDetail) {
  const import_tables = await Promise.all(row.import_tables.map((table) => showImportTable(ctx, table)));
  return {
    ...showImport(row),
    progress: totalProgress(
      import_tables.map(({ progress }) => progress),
      row.finished_at !== null,
    ),
    import_tables,
    actions: row.actions.map(({ action, user_id, application_id, comment, at }) => ({
      action,
      user_id,
      application_id,
      comment,
      at: at.toISOString(),
    })),
  };
}

/** One table of an import. */
export async function showImportTable(
  ctx: Pick<JobsContext, 'store'>,
  row: import_table,
): Promise<z.input<typeof importTableSchema>> {
  const { id, import_id, table_definition_id, table_definition_key, dry_run, allow_mass_delete, errors } = row;
  return {
    id,
    import_id,
    table_definition_id,
    table_definition_key,
    status: row.status as ImportTableStatus,
    pattern: row.pattern as 'full',
    format: row.format as 'auto',
    on_error: row.on_error as 'reject_file',
    dry_run,
    applied_as: row.applied_as as (typeof applications)[number] | null,
    change_request_id: row.change_request_id,
    allow_mass_delete,
    mass_delete_percent: row.mass_delete_percent,
    safe_cells: row.safe_cells,
    import_mapping_id: row.import_mapping_id,
    file_size: toNumber(row.object_size),
    upload_expires_at: row.upload_expires_at.toISOString(),
    progress: progressOf(row),
    metrics: metricsOf(row),
    rejections: row.rejections as z.input<typeof rejectionSchema>[],
    rejected_rows_url: await rejectedUrl(ctx, row),
    corrected_rows: (row.corrections as unknown[]).length,
    errors,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

async function rejectedUrl(ctx: Pick<JobsContext, 'store'>, row: import_table): Promise<string | null> {
  const { rejected_key, finished_at } = row;
  if (!rejected_key || !finished_at || daysFromNow(-retentionDays.result) >= finished_at) return null;
  return ctx.store.presignGet(rejected_key, {
    expiresSeconds: 3600,
    fileName: `${row.table_definition_key}-rejected-${row.id}.csv`,
    contentType: 'text/csv; charset=utf-8',
  });
}

const toNumber = (value: bigint | null) => (value === null ? null : Number(value));

function progressOf(row: import_table): z.input<typeof progressSchema> {
  const bytes_total = toNumber(row.object_size);
  const bytes_processed = Number(row.bytes_processed);
  const finished = (finishedTableStates as string[]).includes(row.status);
  // All bytes are read before the rows are merged, so reading alone never makes 100 %.
  const read = bytes_total ? Math.min(Math.floor((bytes_processed / bytes_total) * 100), 99) : 0;
  return { percent: finished ? 100 : read, bytes_processed, bytes_total, rows_processed: Number(row.rows_processed) };
}

function totalProgress(parts: z.input<typeof progressSchema>[], finished: boolean): z.input<typeof progressSchema> {
  const sum = (pick: (part: z.input<typeof progressSchema>) => number) =>
    parts.reduce((all, part) => all + pick(part), 0);
  const known = parts.filter(({ bytes_total }) => bytes_total !== null);
  return {
    percent: finished ? 100 : Math.floor(sum(({ percent }) => percent) / Math.max(parts.length, 1)),
    bytes_processed: sum(({ bytes_processed }) => bytes_processed),
    bytes_total: known.length === 0 ? null : sum(({ bytes_total }) => bytes_total ?? 0),
    rows_processed: sum(({ rows_processed }) => rows_processed),
  };
}

function metricsOf(row: ListedTable): z.input<typeof importTableSchema>['metrics'] {
  if (row.rows_read === null) return null;
  return {
    rows_read: Number(row.rows_read),
    inserted: Number(row.rows_inserted),
    updated: Number(row.rows_updated),
    deleted: Number(row.rows_deleted),
    unchanged: Number(row.rows_unchanged),
    rejected: Number(row.rows_rejected),
    bytes: Number(row.object_size),
    duration: Number(row.duration_ms),
  };
}
