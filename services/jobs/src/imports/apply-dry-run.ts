// A dry run is applied without a second upload: its stored file is loaded, or its rows become the
// operations of a change request.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import type { JobsContext } from '../context.ts';
import { daysFromNow, recordObject, retentionDays } from '../files/stored-objects.ts';
import type { import_table } from '../generated/prisma/client.ts';
import { findEarlierResult, transactOnce } from '../idempotency.ts';
import { queueJob } from '../queue/jobs.ts';
import { finishedTableStates, importTableMachine } from '../states/import-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import type { Transaction } from '../transaction.ts';
import { furtherLoad } from './further-load.ts';
import { authorizeMassDeletion } from './import-tables.ts';
import type { applications, ImportDetail } from './import-view.ts';
import {
  getImport,
  lockImport,
  moveImport,
  recordAction,
  requireImportRight,
  requireRoomForImport,
} from './imports.ts';
import { requireLoadable } from './row-policy.ts';

/** `title` and `description`: of the change request. */
export type Application = {
  as: (typeof applications)[number];
  title?: string | undefined;
  description?: string | null | undefined;
};

/** So long metadata and data may take to propose 100,000 rows. */
const proposingDeadlineMs = 22_000;

/**
 * Applies a dry run that has ended, once, and answers its table. 422 for another table, for one
 * that was applied, when its file or its rows are no longer kept, and, to load it, when changes to
 * its table are proposed.
 */
export async function applyDryRun(
  ctx: JobsContext,
  call: CallContext,
  { importId, tableId }: { importId: number; tableId: number },
  read: () => Application,
): Promise<import_table> {
  const found = await getImport(ctx, call, importId);
  await requireImportRight(ctx, call, found, 'edit');
  const table = found.import_tables.find(({ id }) => id === tableId);
  if (!table) throw notFound('Import table');
  const application = readApplication(read());
  if ((await findEarlierResult(ctx, call)) === undefined) {
    requireApplicable(table, application);
    if (application.as === 'rows') await loadFile(ctx, call, found, table);
    else await propose(ctx, call, found, table, application);
  }
  return ctx.prisma.import_table.findFirstOrThrow({ where: { id: tableId, account_id: call.accountId } });
}

function readApplication(given: Application): Application {
  const field = given.title !== undefined ? 'title' : given.description !== undefined ? 'description' : undefined;
  if (given.as === 'change_request' || field === undefined) return given;
  throw new ServiceError('bad_request', {
    code: 'incompatible',
    message: `${field} goes with as: change_request only.`,
    field,
  });
}

const wrongState = (message: string, params = {}) =>
  new ServiceError('wrong_state', { code: 'wrong_state', message, params });

const appliedAlready = (as: string | null) =>
  wrongState(`The dry run was applied already${as === null ? '' : `, as ${as}`}.`, { applied_as: as });

// A proposal without a change request was interrupted, and is completed by the same call.
const isInterrupted = ({ applied_as, change_request_id }: import_table) =>
  applied_as === 'change_request' && change_request_id === null;

function requireApplicable(table: import_table, { as }: Application): void {
  const { applied_as, dry_run, status } = table;
  if (applied_as !== null && !(as === 'change_request' && isInterrupted(table))) throw appliedAlready(applied_as);
  if (!dry_run) throw wrongState('The import table is no dry run; its rows are loaded.');
  if (statesAllowing(importTableMachine, 'apply').some((state) => state === status)) return;
  const hasEnded = finishedTableStates.some((state) => state === status);
  throw wrongState(
    hasEnded ? `The dry run is ${status}; correct the file and import it again.` : 'The dry run has not ended yet.',
    { state: status },
  );
}

async function loadFile(ctx: JobsContext, call: CallContext, found: ImportDetail, table: import_table) {
  const { accountId } = call;
  await requireLoadable(ctx, call, table.table_definition_id);
  const mass_delete_by = await authorizeMassDeletion(ctx, call, found.branch_id, table);
  await requireStoredFile(ctx, table);
  const load = async (tx: Transaction) => {
    await requireOpenable(tx, call, found.id);
    const { count } = await tx.import_table.updateMany({
      where: {
        ...{ id: table.id, account_id: accountId, dry_run: true, applied_as: null },
        status: { in: statesAllowing(importTableMachine, 'apply') },
      },
      data: { ...furtherLoad(), dry_run: false, applied_as: 'rows', mass_delete_by },
    });
    if (count === 0) throw appliedAlready(null);
    await moveImport(tx, accountId, found.id, 'apply');
    await recordAction(tx, call, found.id, 'apply', table.table_definition_key);
    await recordObject(tx, accountId, table.object_key, daysFromNow(retentionDays.upload));
    const { giveUpAfterSeconds } = ctx.work;
    await queueJob(tx, { kind: 'import_table', subjectId: table.id, groupId: found.id, call, giveUpAfterSeconds });
    return table.id;
  };
  await transactOnce(ctx, call, load);
}

// Files are kept for days after their table has ended.
async function requireStoredFile({ store }: JobsContext, { object_key, object_etag }: import_table): Promise<void> {
  if ((await store.stat(object_key))?.etag === object_etag) return;
  throw wrongState('The file is no longer stored; upload it again, in a new import.');
}

// Locks the import, which is open from then on.
async function requireOpenable(tx: Transaction, call: CallContext, importId: number): Promise<void> {
  const status = await lockImport(tx, call.accountId, importId);
  const where = { id: importId, account_id: call.accountId };
  const { cancel_requested } = await tx.data_import.findFirstOrThrow({ where });
  if (status === 'cancelled' || (status === 'processing' && cancel_requested))
    throw wrongState(
      `The import is ${status === 'cancelled' ? status : 'being cancelled'}; its tables are not loaded.`,
    );
  if (status !== 'processing') await requireRoomForImport(tx, call);
}

async function propose(
  ctx: JobsContext,
  call: CallContext,
  { id: importId, branch_id }: ImportDetail,
  table: import_table,
  { title, description }: Application,
): Promise<void> {
  const { id, load_id, table_definition_key: key } = table;
  const where = { id, account_id: call.accountId, load_id, change_request_id: null };
  const open = { ...where, OR: [{ applied_as: null }, { applied_as: 'change_request' }] };
  const status = { in: statesAllowing(importTableMachine, 'propose') };
  const claim = { where: { ...open, status }, data: { applied_as: 'change_request' } };
  // From here on the dry run is not applied in the other way.
  if ((await ctx.prisma.import_table.updateMany(claim)).count === 0) {
    if ((await findEarlierResult(ctx, call)) !== undefined) return;
    throw appliedAlready(null);
  }
  const request = {
    ...{ branch_id, load_id, title: title ?? `Import of ${key}` },
    ...(description == null ? {} : { description }),
  };
  let made: { id: number };
  try {
    made = await ctx.metadata.CreateChangeRequest(call, request, { deadlineMs: proposingDeadlineMs });
  } catch (error) {
    // After any other failure the change request may be there.
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    await ctx.prisma.import_table.updateMany({ where, data: { applied_as: null } });
    throw error.kind === 'not_found' ? noLongerKept() : error;
  }
  await transactOnce(ctx, call, async (tx) => {
    const data = { applied_as: 'change_request', change_request_id: made.id };
    const { count } = await tx.import_table.updateMany({ where: open, data });
    if (count > 0) await recordAction(tx, call, importId, 'propose', key);
    return id;
  });
}

const noLongerKept = () =>
  wrongState(
    'The rows of the dry run are no longer kept, or its table is not deployed; import the file with dry_run again.',
  );
