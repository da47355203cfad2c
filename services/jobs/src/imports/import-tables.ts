// The tables of an import: adding one, and storing its file until it is queued.
import { randomUUID } from 'node:crypto';
import type { DeployedTable__Output } from '@almanac/protos/generated/almanac/data/v1/DeployedTable.ts';
import { humanize } from '@almanac/service-kit/api/input';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';
import { administersBranch, needsBranchAdministrator } from '@almanac/service-kit/rights/protected-branches';
import { requireRight } from '@almanac/service-kit/rights/rights';
import { readTableReference, requireSameTable, type TableReference } from '@almanac/service-kit/rights/table-reference';
import type { JobsContext } from '../context.ts';
import {
  putWithinLimit,
  releaseObjects,
  requireFreeStorage,
  reserveBytes,
  saveLimit,
  setCountedBytes,
  transferReservation,
} from '../files/account-storage.ts';
import { newObjectKey } from '../files/object-store/object-store.ts';
import { daysFromNow, recordObject, retentionDays } from '../files/stored-objects.ts';
import { fileFormats } from '../formats/table-file/file-format.ts';
import { type import_mapping, type import_table, Prisma } from '../generated/prisma/client.ts';
import { findEarlierResult, transactOnce } from '../idempotency.ts';
import { mappingOf, type PinnedMapping } from '../import-mappings/mapping.ts';
import { mappingProblems } from '../import-mappings/mapping-checks.ts';
import { importTableMachine } from '../states/import-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import { type Transaction, transact } from '../transaction.ts';
import {
  getImport,
  lockImport,
  moveImport,
  recordAction,
  requireImportRight,
  requireOpen,
  wrongState,
} from './imports.ts';
import { requireLoadable } from './row-policy.ts';
import { newApiFileKey, removeReplacedFiles, urlKeyOf } from './uploaded/uploads.ts';

export const uploadSeconds = 24 * 3600;
export const maxTablesPerImport = 100;
export const patterns = ['full', 'incremental', 'incremental_with_delete'] as const;
/** `auto`: detected from the file's content. */
export const formats = ['auto', ...fileFormats] as const;
export const onErrors = ['reject_file', 'reject_rows'] as const;

export type NewImportTable = {
  table_definition_id?: number | undefined;
  table_definition_key?: string | undefined;
  branch_id?: number | undefined;
  pattern: string;
  format?: string | undefined;
  import_mapping_id?: number | null | undefined;
  on_error?: string | undefined;
  dry_run?: boolean | undefined;
  allow_mass_delete?: boolean | undefined;
  mass_delete_percent?: number | undefined;
  safe_cells?: boolean | undefined;
  file_size?: number | undefined;
};

/**
 * Adds a table to an import that still accepts some; answers it with the URL for its file. The
 * caller needs the right to edit every table of the import, since each new table decides who may
 * complete it.
 */
export async function addImportTable(
  ctx: JobsContext,
  call: CallContext,
  importId: number,
  read: () => NewImportTable,
) {
  const found = await getImport(ctx, call, importId);
  await requireImportRight(ctx, call, found, 'edit');
  const input = read();
  const done = await findEarlierResult<AddedTable>(ctx, call);
  if (done) return presignUpload(ctx, call, done);
  const reference = readReference(found.branch_id, input);
  const table = await findDeployedTable(ctx, call, found.branch_id, reference);
  await requireRight(ctx.rights, call, 'edit', {
    domainId: table.domain_id,
    branchId: table.branch_id,
    tableDefinitionId: table.table_definition_id,
  });
  requireSameTable(reference, table);
  if (!input.dry_run) await requireLoadable(ctx, call, table.table_definition_id);
  const massDeleteBy = await authorizeMassDeletion(ctx, call, table.branch_id, input);
  checkOptions(input);
  const kept = await findMapping(ctx, call, table.table_definition_id, input.import_mapping_id);
  const mapping = kept && mappingOf(kept);
  if (mapping) await requireMappingFits(ctx, call, table, mapping);
  const object_key = newObjectKey(call.accountId, 'imports', importId);
  await saveLimit(ctx, call);
  const add = async (tx: Transaction): Promise<AddedTable> => {
    requireAcceptsFiles(await lockImport(tx, call.accountId, importId));
    const others = await tx.import_table.findMany({ where: { import_id: importId, account_id: call.accountId } });
    if (others.length >= maxTablesPerImport)
      throw validationFailed({
        code: 'limit_reached',
        message: `The import has ${others.length} tables; at most ${maxTablesPerImport} fit into one.`,
        params: { maximum: maxTablesPerImport },
      });
    if (others.some(({ table_definition_id }) => table_definition_id === table.table_definition_id))
      throw validationFailed({ code: 'taken', message: `The table ${table.key} is part of this import already.` });
    await recordObject(tx, call.accountId, object_key, daysFromNow(retentionDays.upload));
    await requireFreeStorage(tx, call);
    await reserveBytes(tx, call, object_key, { least: input.file_size ?? 0 });
    await moveImport(tx, call.accountId, importId, 'add_table');
    await recordAction(tx, call, importId, 'add_table', table.key);
    const { id } = await tx.import_table.create({
      data: {
        account_id: call.accountId,
        import_id: importId,
        table_definition_id: table.table_definition_id,
        table_definition_key: table.key,
        domain_id: table.domain_id,
        pattern: input.pattern,
        format: input.format ?? 'auto',
        on_error: input.on_error ?? 'reject_file',
        dry_run: input.dry_run ?? false,
        allow_mass_delete: input.allow_mass_delete ?? false,
        mass_delete_percent: input.mass_delete_percent ?? defaultMassDeletePercent,
        mass_delete_by: massDeleteBy,
        safe_cells: input.safe_cells ?? false,
        import_mapping_id: mapping?.id ?? null,
        mapping: mapping ?? Prisma.DbNull,
        file_size: input.file_size ?? null,
        object_key,
        upload_expires_at: new Date(Date.now() + uploadSeconds * 1000),
        load_id: randomUUID(),
      },
      select: { id: true },
    });
    return { id, object_key };
  };
  return presignUpload(ctx, call, await transactOnce(ctx, call, add));
}

type AddedTable = { id: number; object_key: string };

// A repeated request gets a URL for the same key, which only receives files of that URL, with the
// same expiry as the first.
async function presignUpload(ctx: JobsContext, call: CallContext, { id, object_key }: AddedTable) {
  const made = await ctx.prisma.import_table.findFirst({ where: { id, account_id: call.accountId } });
  if (!made) throw notFound('Import table');
  const expiresSeconds = Math.max(Math.ceil((made.upload_expires_at.getTime() - Date.now()) / 1000), 1);
  return { made, upload_url: await ctx.store.presignPut(object_key, { expiresSeconds }) };
}

// A key is looked up on the branch of the import, unless the request names one.
function readReference(branchId: number, input: NewImportTable): TableReference {
  const { table_definition_id, table_definition_key, branch_id = branchId } = input;
  if (table_definition_id === undefined && table_definition_key === undefined)
    throw new ServiceError('bad_request', {
      code: 'blank',
      message: 'table_definition_id or table_definition_key is required.',
      field: 'table_definition_id',
    });
  return readTableReference({ table_definition_id, table_definition_key, branch_id });
}

async function findDeployedTable(
  ctx: JobsContext,
  call: CallContext,
  branchId: number,
  reference: TableReference,
): Promise<DeployedTable__Output> {
  if (!('id' in reference)) {
    // As of an unknown key: the other branch may be one that the caller does not see.
    if (reference.branchId !== branchId) throw notFound('Deployed table definition');
    return ctx.data.GetDeployedTable(call, { table_definition_key: reference.key, branch_id: branchId });
  }
  const table = await ctx.data.GetDeployedTable(call, { table_definition_id: reference.id });
  if (table.branch_id === branchId) return table;
  throw new ServiceError('not_found', {
    code: 'not_found',
    message: `Table ${reference.id} is not deployed on the branch of the import.`,
    field: 'table_definition_id',
  });
}

const defaultMassDeletePercent = 50;

/**
 * Allowing more deletions than usual is as good as removing the table, so a protected branch takes
 * an administrator. Answers the user whose right is checked again when the load begins.
 */
export async function authorizeMassDeletion(
  ctx: JobsContext,
  call: CallContext,
  branchId: number,
  {
    allow_mass_delete,
    mass_delete_percent = defaultMassDeletePercent,
  }: Pick<NewImportTable, 'allow_mass_delete' | 'mass_delete_percent'>,
): Promise<number | null> {
  if (!call.branching || (!allow_mass_delete && mass_delete_percent <= defaultMassDeletePercent)) return null;
  const { is_protected } = await ctx.metadata.GetBranch(call, { id: branchId });
  if (is_protected && !(await administersBranch(ctx.rights, call, branchId)))
    throw needsBranchAdministrator(call, 'allow mass deletion');
  return call.userId ?? null;
}

function checkOptions(input: NewImportTable): void {
  const problems: Problem[] = [];
  const oneOf = (field: string, value: string | undefined, allowed: readonly string[]) => {
    if (value === undefined || allowed.includes(value)) return;
    const message = `${humanize(field)} must be one of ${allowed.join(', ')}`;
    problems.push({ code: 'not_in_list', message, field, params: { allowed } });
  };
  oneOf('pattern', input.pattern, patterns);
  oneOf('format', input.format, formats);
  oneOf('on_error', input.on_error, onErrors);
  const percent = input.mass_delete_percent;
  if (percent !== undefined && (percent < 1 || percent > 100))
    problems.push({
      code: 'out_of_range',
      message: 'Mass delete percent must be from 1 to 100',
      field: 'mass_delete_percent',
      params: { minimum: 1, maximum: 100 },
    });
  if (input.file_size !== undefined && (input.file_size < 1 || input.file_size > limits.uploadBytes))
    problems.push({
      code: 'out_of_range',
      message: `File size must be from 1 to ${limits.uploadBytes}`,
      field: 'file_size',
      params: { minimum: 1, maximum: limits.uploadBytes },
    });
  if (problems.length > 0) throw validationFailed(problems);
}

// The given mapping, else the table's default; null: none.
async function findMapping(
  ctx: JobsContext,
  call: CallContext,
  tableDefinitionId: number,
  wanted: number | null | undefined,
): Promise<import_mapping | null> {
  if (wanted === null) return null;
  const where = { account_id: call.accountId };
  if (wanted === undefined)
    return ctx.prisma.import_mapping.findFirst({
      where: { ...where, table_definition_id: tableDefinitionId, is_default: true },
    });
  const found = await ctx.prisma.import_mapping.findFirst({ where: { ...where, id: wanted } });
  if (!found) throw notFound('Import mapping');
  if (found.table_definition_id !== tableDefinitionId)
    throw validationFailed({
      code: 'invalid_reference',
      message: 'Import mapping belongs to another table',
      field: 'import_mapping_id',
    });
  return found;
}

// The table may have changed since the mapping was made.
async function requireMappingFits(
  ctx: JobsContext,
  call: CallContext,
  table: DeployedTable__Output,
  mapping: PinnedMapping,
): Promise<void> {
  const find = async (id: number) => {
    try {
      return await ctx.data.GetDeployedTable(call, { table_definition_id: id });
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'not_found') return undefined;
      throw error;
    }
  };
  const problems = await mappingProblems(ctx, call, { columns: table.columns, findTarget: find }, mapping);
  if (problems.length === 0) return;
  throw validationFailed(
    problems.map((problem) => ({
      ...problem,
      field: 'import_mapping_id',
      message: `Import mapping ${mapping.name} no longer fits: ${problem.message}`,
    })),
  );
}

function requireAcceptsFiles(status: string): void {
  requireOpen(status, 'changed');
  if (status === 'processing')
    throw wrongState('The import is processing; its uploads are complete.', { state: 'processing' });
}

/**
 * Stores a file sent through the gateway. It replaces an earlier one as long as the import accepts
 * files.
 */
export async function storeFile(
  ctx: JobsContext,
  call: CallContext,
  ids: { importId: number; tableId: number; declaredBytes: number },
  open: () => AsyncIterable<Uint8Array>,
): Promise<import_table> {
  const found = await getImport(ctx, call, ids.importId);
  const table = found.import_tables.find(({ id }) => id === ids.tableId);
  if (!table) throw notFound('Import table');
  await requireRight(ctx.rights, call, 'edit', {
    domainId: table.domain_id,
    branchId: found.branch_id,
    tableDefinitionId: table.table_definition_id,
  });
  requireAcceptsFiles(found.status);
  const { accountId } = call;
  // A new key, since the earlier file may be pinned or in use.
  const object_key = newApiFileKey(table.object_key);
  await recordObject(ctx.prisma, accountId, object_key, daysFromNow(retentionDays.upload));
  const urlKey = urlKeyOf(table.object_key);
  await saveLimit(ctx, call);
  // The reservation for the announced file moves to this one. A file that is already stored counts
  // as well until it is replaced.
  const isReserved = !(await ctx.store.stat(urlKey));
  if (isReserved) await transferReservation(ctx, call, urlKey, object_key);
  let stored: { size: number; etag: string };
  try {
    const options = { maxBytes: limits.uploadBytes, declaredBytes: ids.declaredBytes };
    stored = await putWithinLimit(ctx, call, object_key, open(), options);
  } catch (error) {
    if (isReserved) await transferReservation(ctx, call, object_key, urlKey).catch(() => {});
    await recordObject(ctx.prisma, accountId, object_key, new Date()).catch(() => {});
    throw error;
  }
  try {
    return await recordFile(ctx, call, { importId: ids.importId, table, object_key, stored });
  } catch (error) {
    // After any other failure it is unknown whether the table refers to the file.
    if (error instanceof ServiceError && error.kind === 'wrong_state') await releaseObjects(ctx, call, [object_key]);
    throw error;
  }
}

type ReceivedFile = {
  importId: number;
  table: import_table;
  object_key: string;
  stored: { size: number; etag: string };
};

async function recordFile(ctx: JobsContext, call: CallContext, { importId, table, object_key, stored }: ReceivedFile) {
  const { accountId } = call;
  const { replaced, now } = await transact(ctx, async (tx) => {
    requireAcceptsFiles(await lockImport(tx, accountId, importId));
    const where = { id: table.id, account_id: accountId };
    const { object_key: replaced } = await tx.import_table.findFirstOrThrow({ where });
    const { count } = await tx.import_table.updateMany({
      where: { ...where, status: { in: statesAllowing(importTableMachine, 'upload') } },
      data: { status: 'uploaded', object_key, object_size: stored.size, object_etag: stored.etag },
    });
    if (count === 0)
      throw new ServiceError('wrong_state', {
        code: 'wrong_state',
        message: 'The import table takes no file any more.',
      });
    const now = await tx.import_table.findFirstOrThrow({ where });
    // The URL may still be written to, so its key stays recorded until the URL expires.
    await recordObject(tx, accountId, replaced, daysFromNow(2));
    await setCountedBytes(tx, call, urlKeyOf(replaced), 0);
    await removeReplacedFiles(ctx, replaced);
    return { replaced, now };
  });
  // Not the URL's own key: a newer file may have arrived there.
  if (replaced !== urlKeyOf(replaced)) await releaseObjects(ctx, call, [replaced]);
  return now;
}
