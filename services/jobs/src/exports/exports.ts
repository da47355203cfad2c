// Exports: creating, finding and listing them.
import type { DeployedTable__Output } from '@almanac/protos/generated/almanac/data/v1/DeployedTable.ts';
import { type ListQuery, page, prismaOrderBy, prismaWhere, window } from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { createdAct } from '@almanac/service-kit/messaging/audit';
import { type Problem, type ProblemCode, rule } from '@almanac/service-kit/problems';
import { requireRight } from '@almanac/service-kit/rights/rights';
import { isInFuture, readInstant } from '@almanac/service-kit/text/instants';
import { z } from 'zod';
import type { JobsContext } from '../context.ts';
import { readCorrelationCode } from '../correlation-code.ts';
import { requireFreeStorage, saveLimit } from '../files/account-storage.ts';
import { type FileFormat, fileFormats } from '../formats/table-file/file-format.ts';
import type { data_export, Prisma } from '../generated/prisma/client.ts';
import { transactOnce } from '../idempotency.ts';
import { requireRoomForOne } from '../open-limit.ts';
import { cancelJob, queueJob } from '../queue/jobs.ts';
import { type ExportStatus, exportMachine, openExportStates } from '../states/export-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import { announce, lockAccount, recordAct, type Transaction } from '../transaction.ts';
import { readReach } from '../visibility.ts';
import { type criteriaFields, criteriaSchema, readCriteria, readRequestOf, showCriteria } from './export-criteria.ts';

export const exportPatterns = ['full', 'incremental'] as const;
export const exportFormats = fileFormats;

const time = z.iso.datetime();

export const exportSchema = z
  .object({
    id: z.int(),
    branch_id: z.int(),
    table_definition_id: z.int(),
    table_definition_key: z.string(),
    correlation_code: z.string(),
    status: z.enum(['created', 'processing', 'completed', 'failed', 'cancelled']),
    pattern: z.enum(exportPatterns),
    high_water_mark: z.string().nullable(),
    as_of: z.string().nullable(),
    format: z.enum(exportFormats),
    gzip: z.boolean(),
    safe_cells: z.boolean(),
    for_editing: z.boolean(),
    exact_numbers: z.boolean(),
    criteria: criteriaSchema.nullable().meta({
      description: 'Which rows, in which order and columns, as POST /exports took them; null for all.',
    }),
    download_url: z.string().nullable().meta({
      description:
        'Null until completed; fresh at every GET, for one hour. With criteria null for other people than its creator, who may see other tables.',
    }),
    rows_exported: z.int().nullable(),
    bytes_exported: z.int().nullable(),
    next_high_water_mark: z
      .string()
      .nullable()
      .meta({ description: 'For the next incremental export: no row is missed. Null with criteria.' }),
    error: z.string().nullable(),
    created_by: z.int().nullable(),
    created_at: time,
    updated_at: time,
    finished_at: time.nullable(),
    file_expires_at: time.nullable(),
  })
  .meta({ id: 'Export' });

export const exportFields = {
  id: 'integer',
  branch_id: 'integer',
  table_definition_id: 'integer',
  table_definition_key: 'text',
  correlation_code: 'text',
  status: 'text',
  pattern: 'text',
  created_at: 'time',
  updated_at: 'time',
} as const;

/**
 * An ISO 8601 date and time, in UTC unless it has an offset. Marks and timestamps of rows have
 * milliseconds, so a finer mark is cut to its millisecond.
 */
export const highWaterMarkSchema = z
  .string()
  .refine((text) => readInstant(text) !== undefined, rule('wrong_format', 'must be an ISO 8601 datetime'))
  .transform((text) => (readInstant(text) as Date).toISOString())
  .meta({ type: 'string', format: 'date-time' });

export type NewExport = {
  branch_id: number;
  table_definition_key: string;
  pattern: string;
  high_water_mark?: string | null | undefined;
  as_of?: string | null | undefined;
  correlation_code?: string | null | undefined;
  format?: string | undefined;
  gzip?: boolean | undefined;
  safe_cells?: boolean | undefined;
  for_editing?: boolean | undefined;
  exact_numbers?: boolean | undefined;
} & z.input<z.ZodObject<typeof criteriaFields>>;

/** Queues an export of a deployed table; at most ten are open at once. */
export async function createExport(ctx: JobsContext, call: CallContext, input: NewExport): Promise<data_export> {
  await ctx.metadata.GetBranch(call, { id: input.branch_id });
  const { branch_id, table_definition_key } = input;
  const table = await ctx.data.GetDeployedTable(call, { branch_id, table_definition_key });
  const { table_definition_id, domain_id } = table;
  const where = { domainId: domain_id, branchId: branch_id, tableDefinitionId: table_definition_id };
  // Fresh, since a repeated request answers the first export with the link to its file.
  await requireRight(ctx.rights, call, 'view', where, { fresh: true });
  const pattern = readPattern(input);
  const high_water_mark = readHighWaterMark(input, table);
  const as_of = readAsOf(input, table);
  const format = readFormat(input);
  const for_editing = input.for_editing ?? false;
  if (for_editing) requireEditable(input, table);
  const criteria = readCriteria(input);
  const read = { table_definition_id, pattern, high_water_mark, as_of, for_editing, criteria };
  if (criteria !== null) await ctx.data.CheckBulkRead(call, { read: readRequestOf(read) });
  const correlation_code = readCorrelationCode(input.correlation_code);
  await saveLimit(ctx, call);
  let made: data_export | undefined;
  const id = await transactOnce(ctx, call, async (tx) => {
    await lockAccount(tx, call.accountId, 'exports');
    const open = await tx.data_export.count({
      where: { account_id: call.accountId, status: { in: openExportStates } },
    });
    requireRoomForOne(open, limits.openExportsPerAccount, 'exports', 'Wait for one to finish.');
    await requireFreeStorage(tx, call);
    made = await tx.data_export.create({
      data: {
        account_id: call.accountId,
        branch_id,
        ...read,
        table_definition_key: table.key,
        domain_id,
        format,
        gzip: input.gzip ?? false,
        safe_cells: input.safe_cells ?? false,
        exact_numbers: input.exact_numbers ?? false,
        correlation_code,
        user_id: call.userId ?? null,
        application_id: call.applicationId ?? null,
      },
    });
    await recordAct(tx, call, createdAct('export', auditedFields(made)));
    const { giveUpAfterSeconds } = ctx.work;
    await queueJob(tx, { kind: 'export', subjectId: made.id, call, giveUpAfterSeconds });
    return made.id;
  });
  // As created; a worker may have started it by now.
  return made ?? findExport(ctx, call, id);
}

// The fields that the audit log keeps: which rows were exported, not where the file is.
function auditedFields({ id, branch_id, table_definition_id, table_definition_key, pattern, ...made }: data_export) {
  const { high_water_mark, as_of, criteria, correlation_code } = made;
  return {
    id,
    branch_id,
    table_definition_id,
    table_definition_key,
    pattern,
    high_water_mark,
    as_of,
    criteria,
    correlation_code,
  };
}

function readPattern(input: NewExport): string {
  if (!(exportPatterns as readonly string[]).includes(input.pattern))
    throw validationFailed({
      code: 'not_in_list',
      message: `Pattern must be one of ${exportPatterns.join(', ')}`,
      field: 'pattern',
      params: { allowed: exportPatterns },
    });
  return input.pattern;
}

function readHighWaterMark(
  { pattern, high_water_mark }: NewExport,
  { as_of_until }: DeployedTable__Output,
): string | null {
  const field = 'high_water_mark';
  const bad = (code: ProblemCode, message: string) => new ServiceError('bad_request', { code, message, field });
  if (pattern !== 'incremental') return null;
  if (high_water_mark === null || high_water_mark === undefined)
    throw bad('blank', 'high_water_mark is required when the pattern is incremental.');
  if (isInFuture(high_water_mark, as_of_until))
    throw bad('out_of_range', 'high_water_mark must not be in the future: use the next_high_water_mark of an export.');
  return high_water_mark;
}

const jsonFormats = new Set(['json', 'ndjson']);

function readFormat({ format = 'csv', safe_cells, exact_numbers }: NewExport): string {
  if (!(exportFormats as readonly string[]).includes(format))
    throw validationFailed({
      code: 'not_in_list',
      message: `Format must be one of ${exportFormats.join(', ')}`,
      field: 'format',
      params: { allowed: exportFormats },
    });
  if (safe_cells && format !== 'csv')
    throw validationFailed({
      code: 'incompatible',
      message: 'Safe cells go with the format csv only',
      field: 'safe_cells',
    });
  if (exact_numbers && !jsonFormats.has(format))
    throw validationFailed({
      code: 'incompatible',
      message: 'Exact numbers go with the formats json and ndjson only; the others need no such choice',
      field: 'exact_numbers',
    });
  return format;
}

function requireEditable({ pattern, format, as_of }: NewExport, { columns }: DeployedTable__Output): void {
  const problems: Problem[] = [];
  const field = 'for_editing';
  if (format !== 'xlsx')
    problems.push({ code: 'incompatible', message: 'An export for editing has the format xlsx', field });
  if (pattern !== 'full' || (as_of ?? null) !== null)
    problems.push({
      code: 'incompatible',
      message: 'An export for editing has the pattern full and the rows as they are now, without as_of',
      field,
    });
  if (!columns.some(({ is_primary_key }) => is_primary_key))
    problems.push({
      code: 'incompatible',
      message: 'A table without a primary key can not be exported for editing: its rows can only be added by an import',
      field,
    });
  if (problems.length > 0) throw validationFailed(problems);
}

function readAsOf({ as_of, pattern }: NewExport, table: DeployedTable__Output): string | null {
  const bad = (code: ProblemCode, message: string) =>
    new ServiceError('bad_request', { code, message, field: 'as_of' });
  if (as_of === null || as_of === undefined) return null;
  if (pattern !== 'full')
    throw bad('incompatible', 'as_of goes with the pattern full only: a high-water mark has its own instant.');
  if (as_of > table.as_of_until) throw bad('out_of_range', 'as_of must not be in the future.');
  if (as_of < table.as_of_from)
    throw bad('out_of_range', `The history of this table goes back to ${table.as_of_from}.`);
  return as_of;
}

async function findExport(ctx: Pick<JobsContext, 'prisma'>, call: CallContext, id: number): Promise<data_export> {
  const found = await ctx.prisma.data_export.findFirst({ where: { id, account_id: call.accountId } });
  if (!found) throw notFound('Export');
  return found;
}

/**
 * One export. The right to view the table is read fresh, since the answer contains the link to the
 * file.
 */
export async function getExport(ctx: JobsContext, call: CallContext, id: number): Promise<data_export> {
  const found = await findExport(ctx, call, id);
  const { domain_id, branch_id, table_definition_id } = found;
  const where = { domainId: domain_id, branchId: branch_id, tableDefinitionId: table_definition_id };
  await requireRight(ctx.rights, call, 'view', where, { fresh: true, missing: () => notFound('Export') });
  return found;
}

/** Cancels an export before its file exists; bytes written so far are never shown, and swept. */
export async function cancelExport(ctx: JobsContext, call: CallContext, id: number): Promise<data_export> {
  const where = { id, account_id: call.accountId };
  const cancel = async (tx: Transaction) => {
    const { count } = await tx.data_export.updateMany({
      where: { ...where, status: { in: statesAllowing(exportMachine, 'cancel') } },
      data: { status: 'cancelled', finished_at: new Date() },
    });
    if (count === 0) {
      const { status } = await tx.data_export.findFirstOrThrow({ where });
      throw new ServiceError('wrong_state', {
        code: 'wrong_state',
        message: `The export is ${status} and can't be cancelled any more.`,
        params: { state: status },
      });
    }
    await cancelJob(tx, { kind: 'export', subjectId: id, accountId: call.accountId });
    await announce(tx, call, 'export.finished', { id, status: 'cancelled' });
    return id;
  };
  await transactOnce(ctx, call, cancel);
  return findExport(ctx, call, id);
}

type Filter = { table_definition_key?: string | undefined; branch_id?: number | undefined };

/** The account's exports of tables that the caller may view, each with the link to its file. */
export async function listExports(ctx: JobsContext, call: CallContext, filter: Filter, list: ListQuery) {
  const reach = await readReach(ctx.rights, call, 'view', { fresh: true });
  const open = {
    branch_id: { notIn: reach.closedBranchIds },
    ...(reach.everywhere ? {} : { domain_id: { in: reach.domainIds } }),
  };
  const seen: Prisma.data_exportWhereInput = {
    OR: [{ branch_id: { in: reach.branchIds } }, { table_definition_id: { in: reach.tableDefinitionIds } }, open],
  };
  const { AND } = prismaWhere(list.conditions);
  const wanted: Prisma.data_exportWhereInput[] = [
    seen,
    ...(filter.branch_id === undefined ? [] : [{ branch_id: filter.branch_id }]),
    ...(filter.table_definition_key === undefined ? [] : [{ table_definition_key: filter.table_definition_key }]),
  ];
  const where = { account_id: call.accountId, AND: [...AND, ...wanted] };
  const [rows, count] = await Promise.all([
    ctx.prisma.data_export.findMany({ where, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.data_export.count({ where }),
  ]);
  return page(await Promise.all(rows.map((row) => showExport(ctx, call, row))), list, count);
}

const contentTypes = {
  csv: 'text/csv; charset=utf-8',
  tsv: 'text/tab-separated-values; charset=utf-8',
  ndjson: 'application/x-ndjson',
  json: 'application/json; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  parquet: 'application/vnd.apache.parquet',
} as const satisfies Record<FileFormat, string>;

/** The content type of an export's file. */
export const contentTypeOf = ({ format, gzip }: Pick<data_export, 'format' | 'gzip'>): string =>
  gzip ? 'application/gzip' : contentTypes[format as FileFormat];

const toNumber = (value: bigint | null) => (value === null ? null : Number(value));

/** An export as shown to a caller, with a fresh link to its file until the file expires. */
export async function showExport(
  ctx: Pick<JobsContext, 'store'>,
  call: CallContext,
  row: data_export,
): Promise<z.input<typeof exportSchema>> {
  return {
    id: row.id,
    branch_id: row.branch_id,
    table_definition_id: row.table_definition_id,
    table_definition_key: row.table_definition_key,
    correlation_code: row.correlation_code,
    status: row.status as ExportStatus,
    pattern: row.pattern as (typeof exportPatterns)[number],
    high_water_mark: row.high_water_mark,
    as_of: row.as_of,
    format: row.format as FileFormat,
    gzip: row.gzip,
    safe_cells: row.safe_cells,
    for_editing: row.for_editing,
    exact_numbers: row.exact_numbers,
    criteria: showCriteria(row),
    download_url: mayDownload(call, row) ? await downloadUrl(ctx, row) : null,
    rows_exported: toNumber(row.rows_exported),
    bytes_exported: toNumber(row.bytes_exported),
    next_high_water_mark: row.next_high_water_mark,
    error: row.error,
    created_by: row.user_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    file_expires_at: row.file_expires_at?.toISOString() ?? null,
  };
}

// Labels and proposed rows are of tables that others may not view; applications view all.
const mayDownload = ({ userId }: CallContext, { criteria, user_id }: data_export): boolean =>
  criteria === null || userId === undefined || userId === user_id;

async function downloadUrl(ctx: Pick<JobsContext, 'store'>, row: data_export): Promise<string | null> {
  const { status, object_key, file_expires_at, finished_at } = row;
  if (status !== 'completed' || !object_key || !finished_at || !file_expires_at || file_expires_at <= new Date())
    return null;
  const stamp = finished_at.toISOString().slice(0, 19).replace(/[-:]/g, '');
  return ctx.store.presignGet(object_key, {
    expiresSeconds: 3600,
    fileName: `${row.table_definition_key}-${row.pattern}-${stamp}.${row.format}${row.gzip ? '.gz' : ''}`,
    contentType: contentTypeOf(row),
  });
}
