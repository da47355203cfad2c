// A dry run is applied without a second upload: its stored file is loaded, or its rows become the
// operations of a change request.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { JobsContext } from '../context.ts';
import type { import_table } from '../generated/prisma/client.ts';
import { findEarlierResult, transactOnce } from '../idempotency.ts';
import { finishedTableStates, importTableMachine } from '../states/import-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import { loadAgain } from './further-load.ts';
import { authorizeMassDeletion } from './import-tables.ts';
import type { applications, ImportDetail } from './import-view.ts';
import { openImportTable, recordAction, wrongState } from './imports.ts';
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
  ids: { importId: number; tableId: number },
  read: () => Application,
): Promise<import_table> {
  const { found, table } = await openImportTable(ctx, call, ids, 'edit');
  const application = readApplication(read());
  if ((await findEarlierResult(ctx, call)) === undefined) {
    requireApplicable(table, application);
    if (application.as === 'rows') await loadFile(ctx, call, found, table);
    else await propose(ctx, call, found, table, application);
  }
  return ctx.prisma.import_table.findFirstOrThrow({ where: { id: table.id, account_id: call.accountId } });
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
    hasEnded
      ? `The dry run is ${status}; correct its rows in place, or the file, and import it again.`
      : 'The dry run has not ended yet.',
    { state: status },
  );
}

async function loadFile(ctx: JobsContext, call: CallContext, found: ImportDetail, table: import_table) {
  await requireLoadable(ctx, call, table.table_definition_id);
  const mass_delete_by = await authorizeMassDeletion(ctx, call, found.branch_id, table);
  const isLoaded = await loadAgain(ctx, call, table, {
    event: 'apply',
    where: { dry_run: true, applied_as: null },
    data: { dry_run: false, applied_as: 'rows', mass_delete_by },
  });
  if (!isLoaded) throw appliedAlready(null);
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
