// Imports as a whole: creating, finding and listing them, and the two ways to end their uploads.
import { type ListQuery, page, prismaOrderBy, prismaWhere, window } from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { createdAct } from '@almanac/service-kit/messaging/audit';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { isKnown, missingRight, type Reach } from '@almanac/service-kit/rights/rights';
import type { JobsContext } from '../context.ts';
import { readCorrelationCode } from '../correlation-code.ts';
import { releaseObjects } from '../files/account-storage.ts';
import type { import_table, Prisma } from '../generated/prisma/client.ts';
import { transactOnce } from '../idempotency.ts';
import { requireRoomForOne } from '../open-limit.ts';
import { restartJobs } from '../queue/jobs.ts';
import { finishedTableStates, importMachine, importOutcome, openImportStates } from '../states/import-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import { announce, lockAccount, recordAct, type Transaction } from '../transaction.ts';
import { readReach, requireReach } from '../visibility.ts';
import { type ImportDetail, listedTableFields, listedTables, showImport, showListedTable } from './import-view.ts';
import { urlKeyOf } from './uploaded/uploads.ts';

export const importFields = {
  id: 'integer',
  branch_id: 'integer',
  correlation_code: 'text',
  status: 'text',
  created_at: 'time',
  updated_at: 'time',
} as const;

type NewImport = { branch_id: number; correlation_code?: string | null | undefined };

/** Opens an import on a branch of the account; at most ten are open at once. */
export async function createImport(ctx: JobsContext, call: CallContext, input: NewImport): Promise<ImportDetail> {
  await ctx.metadata.GetBranch(call, { id: input.branch_id });
  requireReach(await readReach(ctx.rights, call, 'edit'), 'edit', input.branch_id);
  const correlation_code = readCorrelationCode(input.correlation_code);
  const id = await transactOnce(ctx, call, async (tx) => {
    await requireRoomForImport(tx, call);
    const made = await tx.data_import.create({
      data: {
        account_id: call.accountId,
        branch_id: input.branch_id,
        correlation_code,
        user_id: call.userId ?? null,
        application_id: call.applicationId ?? null,
      },
    });
    await recordAction(tx, call, made.id, 'created');
    await recordAct(tx, call, createdAct('import', { id: made.id, branch_id: made.branch_id, correlation_code }));
    return made.id;
  });
  return getImport(ctx, call, id);
}

/** 422 when as many imports are open as may be; until the transaction ends, no other one opens. */
export async function requireRoomForImport(tx: Transaction, { accountId }: CallContext): Promise<void> {
  await lockAccount(tx, accountId, 'imports');
  const where = { account_id: accountId, status: { in: openImportStates } };
  const open = await tx.data_import.count({ where });
  requireRoomForOne(open, limits.openImportsPerAccount, 'imports', 'Complete one first.');
}

/** Finds an import with its tables and actions. An import of another account is not found. */
export async function getImport(
  ctx: Pick<JobsContext, 'prisma'>,
  call: CallContext,
  id: number,
): Promise<ImportDetail> {
  const found = await ctx.prisma.data_import.findFirst({
    where: { id, account_id: call.accountId },
    include: { import_tables: { orderBy: { id: 'asc' } }, actions: { orderBy: { id: 'asc' } } },
  });
  if (!found) throw notFound('Import');
  return found;
}

/**
 * Throws 403 unless the caller has the right on every table of the import, or, while it has none,
 * on some table of the branch. Rights are read fresh, since an import shows rejected rows and links
 * to them.
 */
export async function requireImportRight(
  ctx: JobsContext,
  call: CallContext,
  found: ImportDetail,
  action: 'view' | 'edit',
): Promise<void> {
  const reach = await readReach(ctx.rights, call, action, { fresh: true });
  if (reach.branchIds.includes(found.branch_id)) return;
  const isClosed = reach.closedBranchIds.includes(found.branch_id);
  if (isClosed && !(await isKnownImport(ctx, call, found))) throw notFound('Import');
  if (found.import_tables.length === 0) return requireReach(reach, action, found.branch_id);
  if (reach.everywhere && !isClosed) return;
  for (const { domain_id, table_definition_id } of found.import_tables)
    if ((isClosed || !reach.domainIds.includes(domain_id)) && !reach.tableDefinitionIds.includes(table_definition_id))
      throw missingRight(action, {
        domainId: domain_id,
        branchId: found.branch_id,
        tableDefinitionId: table_definition_id,
      });
}

// Whether the caller knows an import on a private branch: by a right on the branch, or on each of
// its tables.
async function isKnownImport(ctx: JobsContext, call: CallContext, { branch_id, import_tables }: ImportDetail) {
  const held = await ctx.rights.get(call);
  if (isKnown(held, { branchId: branch_id })) return true;
  return (
    import_tables.length > 0 && import_tables.every(({ table_definition_id: id }) => held.table_definition.has(id))
  );
}

/**
 * A table of an import, and the import, of which the caller has the right on every table. 404 for
 * an unknown one.
 */
export async function openImportTable(
  ctx: JobsContext,
  call: CallContext,
  { importId, tableId }: { importId: number; tableId: number },
  action: 'view' | 'edit',
): Promise<{ found: ImportDetail; table: import_table }> {
  const found = await getImport(ctx, call, importId);
  await requireImportRight(ctx, call, found, action);
  const table = found.import_tables.find(({ id }) => id === tableId);
  if (!table) throw notFound('Import table');
  return { found, table };
}

// The same rule as a query condition, so that a list shows exactly what can be opened.
function importsWithin(reach: Reach): Prisma.data_importWhereInput {
  const { everywhere, branchIds, domainIds, tableDefinitionIds, closedBranchIds } = reach;
  const open = { branch_id: { notIn: closedBranchIds } };
  const own = { table_definition_id: { in: tableDefinitionIds } };
  const seen = { OR: [{ domain_id: { in: domainIds } }, own] };
  const hasTables = domainIds.length > 0 || tableDefinitionIds.length > 0;
  return {
    OR: [
      { branch_id: { in: branchIds } },
      ...(everywhere ? [open] : []),
      // Also true of an import without tables.
      ...(hasTables ? [{ ...open, import_tables: { every: seen } }] : []),
      { import_tables: { some: own, every: own } },
    ],
  };
}

/** The account's imports of which the caller may view every table; `tables`: with the first. */
export async function listImports(ctx: JobsContext, call: CallContext, list: ListQuery, { tables = false } = {}) {
  const seen = importsWithin(await readReach(ctx.rights, call, 'view'));
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions), ...seen };
  const lines = { where, orderBy: prismaOrderBy(list), ...window(list) };
  const count = ctx.prisma.data_import.count({ where });
  const [found, total] = await Promise.all([tables ? readWithTables(ctx, lines) : readLines(ctx, lines), count]);
  return page(found, list, total);
}

type Lines = Pick<Prisma.data_importFindManyArgs, 'where' | 'orderBy' | 'skip' | 'take'>;

async function readLines({ prisma }: JobsContext, lines: Lines) {
  return (await prisma.data_import.findMany(lines)).map(showImport);
}

async function readWithTables({ prisma }: JobsContext, lines: Lines) {
  const import_tables = { select: listedTableFields, orderBy: { id: 'asc' }, take: listedTables } as const;
  const include = { import_tables, _count: { select: { import_tables: true } } };
  const found = await prisma.data_import.findMany({ ...lines, include });
  return found.map((row) => ({
    ...showImport(row),
    tables_count: row._count.import_tables,
    import_tables: row.import_tables.map(showListedTable),
  }));
}

/** Completes the import by hand: tables not started are cancelled, running ones finish. */
export async function completeImport(ctx: JobsContext, call: CallContext, id: number): Promise<void> {
  const complete = async (tx: Transaction) => {
    const status = await lockImport(tx, call.accountId, id);
    requireOpen(status, 'completed');
    await cancelNotStarted(tx, call.accountId, id);
    await moveImport(tx, call.accountId, id, 'complete');
    await recordAction(tx, call, id, 'complete');
    await finishImport(tx, call, id);
    return id;
  };
  await transactOnce(ctx, call, complete);
  await removeCancelledFiles(ctx, call, id);
}

/**
 * Cancels the import. Tables not started are cancelled at once, a running one as soon as its job
 * learns of it. Merged rows stay, and the table reports them.
 */
export async function cancelImport(ctx: JobsContext, call: CallContext, id: number): Promise<void> {
  const cancel = async (tx: Transaction) => {
    const status = await lockImport(tx, call.accountId, id);
    requireOpen(status, 'cancelled');
    await cancelNotStarted(tx, call.accountId, id);
    await recordAction(tx, call, id, 'cancel');
    if (status === 'processing') {
      await tx.data_import.updateMany({ where: { id, account_id: call.accountId }, data: { cancel_requested: true } });
      await restartJobs(tx, { kind: 'import_table', groupId: id, accountId: call.accountId });
      await finishImport(tx, call, id);
    } else {
      await moveImport(tx, call.accountId, id, 'cancel');
      await announce(tx, call, 'import.finished', { id, status: 'cancelled' });
    }
    return id;
  };
  await transactOnce(ctx, call, cancel);
  await removeCancelledFiles(ctx, call, id);
}

/** Removes the files of cancelled tables. Files that arrive later by their URLs are swept. */
export async function removeCancelledFiles(ctx: JobsContext, owner: { accountId: number }, id: number): Promise<void> {
  const cancelled = await ctx.prisma.import_table.findMany({
    where: { import_id: id, account_id: owner.accountId, status: 'cancelled' },
    select: { object_key: true },
  });
  const keys = new Set(cancelled.flatMap(({ object_key }) => [object_key, urlKeyOf(object_key)]));
  await releaseObjects(ctx, owner, [...keys]);
}

async function cancelNotStarted(tx: Transaction, accountId: number, id: number): Promise<void> {
  // Only tables that no instance has started: the answer of a started load may be lost although the
  // load took effect.
  await prismaSql(tx)(
    `update job set state = 'cancelled', updated_at = now() where account_id = $1::int and group_id = $2::int
         and kind = 'import_table' and state = 'queued' and attempts = 0 and deferrals = 0`,
    [accountId, id],
  );
  await prismaSql(tx)(
    `update import_table t set status = 'cancelled', finished_at = now(), updated_at = now()
       where account_id = $1::int and import_id = $2::int and status in ('created', 'uploaded')
         and not exists (
           select from job j where j.kind = 'import_table' and j.subject_id = t.id and j.state in ('queued', 'running')
         )`,
    [accountId, id],
  );
}

/**
 * Locks the import until the transaction ends, so that changes to it and its tables are serialized.
 * Answers its status.
 */
export async function lockImport(tx: Transaction, accountId: number, id: number): Promise<string> {
  const { rows } = await prismaSql(tx)(
    'select status from data_import where id = $1::int and account_id = $2::int for update',
    [id, accountId],
  );
  if (rows.length === 0) throw notFound('Import');
  return rows[0]?.status as string;
}

/** Throws 422 with the state unless the import can still change. */
export function requireOpen(status: string, wanted: string): void {
  if ((openImportStates as string[]).includes(status)) return;
  throw wrongState(`The import is ${status} and can't be ${wanted} any more.`, { state: status });
}

/** A 422: what is asked for does not go with the state of an import or of its table. */
export const wrongState = (message: string, params = {}) =>
  new ServiceError('wrong_state', { code: 'wrong_state', message, params });

type DirectEvent = 'add_table' | 'upload_complete' | 'complete' | 'cancel' | 'expire' | 'retry' | 'apply' | 'correct';
const outcomes = {
  add_table: 'uploading',
  upload_complete: 'processing',
  complete: 'processing',
  cancel: 'cancelled',
  expire: 'cancelled',
  retry: 'processing',
  apply: 'processing',
  correct: 'processing',
} as const satisfies Record<DirectEvent, string>;

const loadAgainEvents: ReadonlySet<DirectEvent> = new Set(['retry', 'apply', 'correct']);

/** Applies one transition; false: the current state does not allow the event. */
export async function moveImport(tx: Transaction, accountId: number, id: number, event: DirectEvent): Promise<boolean> {
  const status = outcomes[event];
  const { count } = await tx.data_import.updateMany({
    where: { id, account_id: accountId, status: { in: statesAllowing(importMachine, event) } },
    data: {
      status,
      finished_at: status === 'cancelled' ? new Date() : null,
      ...(loadAgainEvents.has(event) ? { cancel_requested: false } : {}),
    },
  });
  return count === 1;
}

/**
 * Finishes a processing import once all of its tables have finished. The caller holds the lock of
 * the import.
 */
export async function finishImport(
  tx: Transaction,
  call: { accountId: number; requestId?: string },
  id: number,
): Promise<void> {
  const tables = await tx.import_table.findMany({ where: { import_id: id, account_id: call.accountId } });
  const isFinished = ({ status }: import_table) => (finishedTableStates as string[]).includes(status);
  if (!tables.every(isFinished)) return;
  const found = await tx.data_import.findFirstOrThrow({ where: { id, account_id: call.accountId } });
  const states = tables.map((table) => table.status as (typeof finishedTableStates)[number]);
  const status = found.cancel_requested && states.includes('cancelled') ? 'cancelled' : importOutcome(states);
  const { count } = await tx.data_import.updateMany({
    where: { id, account_id: call.accountId, status: { in: statesAllowing(importMachine, 'finish', status) } },
    data: { status, finished_at: new Date() },
  });
  if (count === 0) return;
  await tx.import_action.create({ data: { account_id: call.accountId, import_id: id, action: status } });
  await announce(tx, call, 'import.finished', { id, status });
}

/**
 * Adds an entry to the history of the import; a machine is recorded as its application, without a
 * user.
 */
export async function recordAction(
  tx: Transaction,
  call: { accountId: number; userId?: number; applicationId?: number },
  importId: number,
  action: string,
  comment?: string,
): Promise<void> {
  await tx.import_action.create({
    data: {
      account_id: call.accountId,
      import_id: importId,
      action,
      comment: comment ?? null,
      user_id: call.userId ?? null,
      application_id: call.applicationId ?? null,
    },
  });
}
