// upload_complete: looks at every file once, pins its size and etag, queues the tables that have one, fails those that haven't.
import type { CallContext } from '@almanac/service-kit/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Context } from '../context.ts';
import type { import_table } from '../generated/prisma/client.ts';
import type { StoredObject } from '../object-store/object-store.ts';
import { queueJob } from '../queue/jobs.ts';
import { doOnce, findDone } from '../repeated-requests.ts';
import { before } from '../states.ts';
import { type Transaction, transact } from '../transaction.ts';
import { importTableMachine } from './import-states.ts';
import {
  finishImport,
  getImport,
  lockImport,
  moveImport,
  noteAction,
  requireImportRight,
  requireOpen,
} from './imports.ts';

type Found = { table: import_table; file: StoredObject | undefined };

/** Ends the uploads. Repeating it while the import is processing changes nothing; on a finished import it is 422. */
export async function uploadComplete(ctx: Context, call: CallContext, id: number): Promise<void> {
  for (let tries = 0; tries < 5; tries += 1) {
    const detail = await getImport(ctx, call, id);
    await requireImportRight(ctx, call, detail, 'edit');
    if ((await findDone(ctx, call)) !== undefined) return;
    requireOpen(detail.status, 'completed');
    if (detail.status === 'processing') return;
    const found = await Promise.all(
      detail.import_tables.map(async (table) => ({ table, file: await ctx.store.stat(table.object_key) })),
    );
    requireDeclaredSizes(found);
    if (await begin(ctx, call, id, found)) return;
  }
  throw new ServiceError('unavailable', 'The tables of the import are being changed just now; try again.');
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

// False: the tables changed since their files were looked at.
async function begin(ctx: Context, call: CallContext, id: number, found: Found[]): Promise<boolean> {
  const queue = async (tx: Transaction) => {
    const status = await lockImport(tx, call.accountId, id);
    requireOpen(status, 'completed');
    if (status === 'processing') return id;
    const now = await tx.import_table.findMany({ where: { import_id: id, account_id: call.accountId } });
    const isSame = now.length === found.length && now.every((row) => found.some(({ table }) => isSameFile(table, row)));
    if (!isSame) return undefined;
    await moveImport(tx, call.accountId, id, 'upload_complete');
    await noteAction(tx, call, id, 'upload_complete');
    for (const { table, file } of found) {
      const problem = problemOf(file);
      if (problem === undefined && file) await queueTable(ctx, tx, call, table, file);
      else await failTable(tx, table, problem ?? 'No file was uploaded.');
    }
    await finishImport(tx, call, id);
    return id;
  };
  return (await transact(ctx, (tx) => doOnce(tx, call, () => queue(tx)))) !== undefined;
}

const isSameFile = (one: import_table, other: import_table) =>
  one.id === other.id && one.object_key === other.object_key;

function problemOf(file: StoredObject | undefined): string | undefined {
  if (!file) return 'No file was uploaded.';
  if (file.size === 0) return 'The file is empty.';
  return file.size > limits.uploadBytes ? `The file is larger than ${limits.uploadBytes} bytes.` : undefined;
}

async function queueTable(ctx: Context, tx: Transaction, call: CallContext, table: import_table, file: StoredObject) {
  const { count } = await tx.import_table.updateMany({
    where: { id: table.id, account_id: call.accountId, status: { in: before(importTableMachine, 'upload') } },
    data: { status: 'uploaded', object_size: file.size, object_etag: file.etag },
  });
  if (count === 0) return;
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
