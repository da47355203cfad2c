// upload_complete: looks at every file once, takes the newest of each table, pins its size and etag, queues the tables that have one,
// fails those that haven't.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { JobsContext } from '../context.ts';
import { inWords, releaseObjects, rememberLimit, reserveBytes } from '../files/account-storage.ts';
import { keepObject } from '../files/stored-objects.ts';
import type { import_table } from '../generated/prisma/client.ts';
import { doOnce, findDone } from '../idempotency.ts';
import { queueJob } from '../queue/jobs.ts';
import { importTableMachine } from '../states/import-states.ts';
import { before } from '../states/state-machine.ts';
import { type Transaction, transact } from '../transaction.ts';
import type { ImportDetail } from './import-view.ts';
import {
  finishImport,
  getImport,
  lockImport,
  moveImport,
  noteAction,
  requireImportRight,
  requireOpen,
} from './imports.ts';
import { findUploaded, type Uploaded } from './uploads.ts';

type Found = Uploaded & { table: import_table };

/** Ends the uploads. Repeating it while the import is processing changes nothing; on a finished import it is 422. */
export async function uploadComplete(ctx: JobsContext, call: CallContext, id: number): Promise<void> {
  const detail = await getImport(ctx, call, id);
  await requireImportRight(ctx, call, detail, 'edit');
  if ((await findDone(ctx, call)) !== undefined) return;
  requireOpen(detail.status, 'completed');
  if (detail.status === 'processing') return;
  const found = await lookAt(ctx, detail.import_tables, []);
  requireDeclaredSizes(found);
  await requireRoomFor(ctx, call, found);
  await begin(ctx, call, detail, found);
}

// What has been looked at is not asked for again.
function lookAt(ctx: JobsContext, tables: import_table[], seen: Found[]): Promise<Found[]> {
  return Promise.all(
    tables.map(async (table) => {
      const known = seen.find((each) => each.table.object_key === table.object_key);
      return { ...(known ?? (await findUploaded(ctx, table.object_key))), table };
    }),
  );
}

// Half a file is noticed where its size was told beforehand; the import stays open for the rest of it.
function requireDeclaredSizes(found: Found[]): void {
  const problems = found.flatMap(({ table, file }) => {
    const declared = table.file_size === null ? undefined : Number(table.file_size);
    if (declared === undefined || file?.size === declared) return [];
    return [
      `The file of table ${table.table_definition_key} has ${file?.size ?? 0} of the ${declared} bytes that were announced; upload it again.`,
    ];
  });
  if (problems.length > 0) throw validationFailed(problems);
}

// Files that came straight to the object store are counted now. What does not fit is removed; the
// import stays open for a smaller one.
async function requireRoomFor(ctx: JobsContext, call: CallContext, found: Found[]): Promise<void> {
  await rememberLimit(ctx, call);
  const problems: string[] = [];
  for (const { table, key, file } of found) {
    if (!file) continue;
    try {
      await transact(ctx, (tx) => reserveBytes(tx, call, key, { least: file.size }));
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'validation_failed') throw error;
      await releaseObjects(ctx, call, [key]);
      const removed = `The file of table ${table.table_definition_key} (${inWords(file.size)}) was removed.`;
      problems.push(`${removed} ${error.message}`);
    }
  }
  if (problems.length > 0) throw validationFailed(problems);
}

// Nobody adds a table while the import is locked, so those that came meanwhile are looked at then; there are few.
async function begin(ctx: JobsContext, call: CallContext, detail: ImportDetail, seen: Found[]): Promise<void> {
  const { id } = detail;
  const queue = async (tx: Transaction) => {
    const status = await lockImport(tx, call.accountId, id);
    requireOpen(status, 'completed');
    if (status === 'processing') return id;
    // In the order in which they are loaded: those that others refer to come first.
    const where = { import_id: id, account_id: call.accountId };
    const tables = await tx.import_table.findMany({ where, orderBy: { id: 'asc' } });
    if (tables.length > seen.length) await requireImportRight(ctx, call, { ...detail, import_tables: tables }, 'edit');
    const found = await lookAt(ctx, tables, seen);
    requireDeclaredSizes(found);
    for (const { key, file } of found) if (file) await reserveBytes(tx, call, key, { least: file.size });
    await moveImport(tx, call.accountId, id, 'upload_complete');
    await noteAction(tx, call, id, 'upload_complete');
    for (const each of found) {
      const problem = problemOf(each);
      if (problem === undefined) await queueTable(ctx, tx, call, each);
      else await failTable(tx, each.table, problem);
    }
    await finishImport(tx, call, id);
    return id;
  };
  await transact(ctx, (tx) => doOnce(tx, call, () => queue(tx)));
}

function problemOf({ file, table }: Found): string | undefined {
  if (!file) return 'No file was uploaded.';
  // No lines are no records; everything else has at least a header.
  if (file.size === 0 && table.format !== 'ndjson') return 'The file is empty.';
  return file.size > limits.uploadBytes ? `The file is larger than ${limits.uploadBytes} bytes.` : undefined;
}

async function queueTable(ctx: JobsContext, tx: Transaction, call: CallContext, { table, key, file }: Found) {
  const { count } = await tx.import_table.updateMany({
    where: { id: table.id, account_id: call.accountId, status: { in: before(importTableMachine, 'upload') } },
    data: { status: 'uploaded', object_key: key, object_size: file?.size ?? null, object_etag: file?.etag ?? null },
  });
  if (count === 0) return;
  if (key !== table.object_key) await keepObject(tx, call.accountId, table.object_key, new Date());
  await queueJob(tx, {
    kind: 'import_table',
    subjectId: table.id,
    groupId: table.import_id,
    call,
    giveUpAfterSeconds: ctx.work.giveUpAfterSeconds,
  });
}

async function failTable(tx: Transaction, table: import_table, problem: string): Promise<void> {
  await tx.import_table.updateMany({
    where: { id: table.id, account_id: table.account_id, status: { in: before(importTableMachine, 'fail') } },
    data: { status: 'failed', errors: [problem], finished_at: new Date() },
  });
}
