// upload_complete: finds the newest file of each table, pins its size and etag, queues the tables
// that have a file and fails the others.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';
import type { JobsContext } from '../context.ts';
import { formatBytes, releaseObjects, reserveBytes, saveLimit } from '../files/account-storage.ts';
import { recordObject } from '../files/stored-objects.ts';
import type { import_table } from '../generated/prisma/client.ts';
import { findEarlierResult, transactOnce } from '../idempotency.ts';
import { queueJob } from '../queue/jobs.ts';
import { importTableMachine } from '../states/import-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import { type Transaction, transact } from '../transaction.ts';
import type { ImportDetail } from './import-view.ts';
import {
  finishImport,
  getImport,
  lockImport,
  moveImport,
  recordAction,
  requireImportRight,
  requireOpen,
} from './imports.ts';
import { requireAllLoadable } from './row-policy.ts';
import { findUploadedFile, type UploadedFile } from './uploaded/uploads.ts';

type LocatedFile = UploadedFile & { table: import_table };

/**
 * Ends the uploads. While the import is processing, a repeat changes nothing; on a finished import
 * it is 422.
 */
export async function uploadComplete(ctx: JobsContext, call: CallContext, id: number): Promise<void> {
  const detail = await getImport(ctx, call, id);
  await requireImportRight(ctx, call, detail, 'edit');
  if ((await findEarlierResult(ctx, call)) !== undefined) return;
  requireOpen(detail.status, 'completed');
  if (detail.status === 'processing') return;
  await requireAllLoadable(ctx, call, detail.import_tables);
  const found = await locateFiles(ctx, detail.import_tables, []);
  requireDeclaredSizes(found);
  await reserveStorage(ctx, call, found);
  await queueTables(ctx, call, detail, found);
}

// Files that were located before are not looked up again.
function locateFiles(ctx: JobsContext, tables: import_table[], seen: LocatedFile[]): Promise<LocatedFile[]> {
  return Promise.all(
    tables.map(async (table) => {
      const known = seen.find((each) => each.table.object_key === table.object_key);
      return { ...(known ?? (await findUploadedFile(ctx, table.object_key))), table };
    }),
  );
}

// A declared size reveals an incomplete file; the import stays open for the rest of it.
function requireDeclaredSizes(found: LocatedFile[]): void {
  const problems = found.flatMap(({ table, file }): Problem[] => {
    const declared = table.file_size === null ? undefined : Number(table.file_size);
    if (declared === undefined || file?.size === declared) return [];
    const message = `The file of table ${table.table_definition_key} has ${file?.size ?? 0} of the ${declared} bytes that were announced; upload it again.`;
    return [{ code: 'invalid_file', message, params: { import_table_id: table.id } }];
  });
  if (problems.length > 0) throw validationFailed(problems);
}

// Files uploaded directly to the object store are counted now. One that does not fit is removed,
// and the import stays open for a smaller one.
async function reserveStorage(ctx: JobsContext, call: CallContext, found: LocatedFile[]): Promise<void> {
  await saveLimit(ctx, call);
  const problems: Problem[] = [];
  for (const { table, key, file } of found) {
    if (!file) continue;
    try {
      await transact(ctx, (tx) => reserveBytes(tx, call, key, { least: file.size }));
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'validation_failed') throw error;
      await releaseObjects(ctx, call, [key]);
      const removed = `The file of table ${table.table_definition_key} (${formatBytes(file.size)}) was removed.`;
      problems.push({
        code: 'limit_reached',
        message: `${removed} ${error.message}`,
        params: { import_table_id: table.id },
      });
    }
  }
  if (problems.length > 0) throw validationFailed(problems);
}

// The lock on the import keeps further tables out. The few that were added since the first look-up
// are located inside the transaction.
async function queueTables(
  ctx: JobsContext,
  call: CallContext,
  detail: ImportDetail,
  seen: LocatedFile[],
): Promise<void> {
  const { id } = detail;
  const queue = async (tx: Transaction) => {
    const status = await lockImport(tx, call.accountId, id);
    requireOpen(status, 'completed');
    if (status === 'processing') return id;
    // In load order: referenced tables first.
    const where = { import_id: id, account_id: call.accountId };
    const tables = await tx.import_table.findMany({ where, orderBy: { id: 'asc' } });
    if (tables.length > seen.length) await requireImportRight(ctx, call, { ...detail, import_tables: tables }, 'edit');
    const found = await locateFiles(ctx, tables, seen);
    requireDeclaredSizes(found);
    for (const { key, file } of found) if (file) await reserveBytes(tx, call, key, { least: file.size });
    await moveImport(tx, call.accountId, id, 'upload_complete');
    await recordAction(tx, call, id, 'upload_complete');
    for (const each of found) {
      const problem = problemOf(each);
      if (problem === undefined) await queueTable(ctx, tx, call, each);
      else await failTable(tx, each.table, problem);
    }
    await finishImport(tx, call, id);
    return id;
  };
  await transactOnce(ctx, call, queue);
}

function problemOf({ file, table }: LocatedFile): string | undefined {
  if (!file) return 'No file was uploaded.';
  // An NDJSON file may be empty; every other format has at least a header.
  if (file.size === 0 && table.format !== 'ndjson') return 'The file is empty.';
  return file.size > limits.uploadBytes ? `The file is larger than ${limits.uploadBytes} bytes.` : undefined;
}

async function queueTable(ctx: JobsContext, tx: Transaction, call: CallContext, { table, key, file }: LocatedFile) {
  const { count } = await tx.import_table.updateMany({
    where: { id: table.id, account_id: call.accountId, status: { in: statesAllowing(importTableMachine, 'upload') } },
    data: { status: 'uploaded', object_key: key, object_size: file?.size ?? null, object_etag: file?.etag ?? null },
  });
  if (count === 0) return;
  if (key !== table.object_key) await recordObject(tx, call.accountId, table.object_key, new Date());
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
    where: { id: table.id, account_id: table.account_id, status: { in: statesAllowing(importTableMachine, 'fail') } },
    data: { status: 'failed', errors: [problem], finished_at: new Date() },
  });
}
