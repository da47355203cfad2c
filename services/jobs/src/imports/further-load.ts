// An import table whose stored file is loaded once more.
import { randomUUID } from 'node:crypto';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { JobsContext } from '../context.ts';
import { daysFromNow, recordObject, retentionDays } from '../files/stored-objects.ts';
import type { import_table, Prisma } from '../generated/prisma/client.ts';
import { transactOnce } from '../idempotency.ts';
import { queueJob } from '../queue/jobs.ts';
import { importTableMachine } from '../states/import-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import type { Transaction } from '../transaction.ts';
import { lockImport, moveImport, recordAction, requireRoomForImport, wrongState } from './imports.ts';

const emptyResult = {
  bytes_processed: 0,
  rows_processed: 0,
  rows_read: null,
  rows_inserted: null,
  rows_updated: null,
  rows_deleted: null,
  rows_unchanged: null,
  rows_rejected: null,
  duration_ms: null,
  rejections: [],
  errors: [],
  rejected_key: null,
  started_at: null,
  finished_at: null,
};

/**
 * What the table then has instead of its result. Its load id is a new one: data would answer the
 * old one with that result.
 */
export const furtherLoad = () => ({ status: 'uploaded', load_id: randomUUID(), ...emptyResult });

type Change = {
  event: 'apply' | 'correct';
  where: Prisma.import_tableWhereInput;
  data: Prisma.import_tableUncheckedUpdateManyInput;
};

/**
 * Changes the table and queues the load of its file, as one act of the caller. False: the table no
 * longer is `where` it has to be. 422 when its file is no longer stored, or its import is
 * cancelled.
 */
export async function loadAgain(
  ctx: JobsContext,
  call: CallContext,
  table: import_table,
  { event, where, data }: Change,
): Promise<boolean> {
  const { accountId } = call;
  const { id, import_id, object_key } = table;
  await requireStoredFile(ctx, table);
  const load = async (tx: Transaction): Promise<boolean> => {
    await requireOpenable(tx, call, import_id);
    const { count } = await tx.import_table.updateMany({
      where: { id, account_id: accountId, ...where, status: { in: statesAllowing(importTableMachine, event) } },
      data: { ...furtherLoad(), ...data },
    });
    if (count === 0) return false;
    await moveImport(tx, accountId, import_id, event);
    await recordAction(tx, call, import_id, event, table.table_definition_key);
    await recordObject(tx, accountId, object_key, daysFromNow(retentionDays.upload));
    const { giveUpAfterSeconds } = ctx.work;
    await queueJob(tx, { kind: 'import_table', subjectId: id, groupId: import_id, call, giveUpAfterSeconds });
    return true;
  };
  return transactOnce(ctx, call, load);
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
