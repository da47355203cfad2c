// Lets operators queue failed work again.

import { ServiceError } from '@almanac/service-kit/errors';
import type { JobsContext } from '../context.ts';
import { daysFromNow, recordObject, retentionDays } from '../files/stored-objects.ts';
import type { data_import, job } from '../generated/prisma/client.ts';
import { furtherLoad } from '../imports/further-load.ts';
import { lockImport, moveImport, recordAction } from '../imports/imports.ts';
import { type JobKind, queueJob } from '../queue/jobs.ts';
import { exportMachine } from '../states/export-states.ts';
import { importTableMachine } from '../states/import-states.ts';
import { mailMachine } from '../states/mail-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import { type Transaction, transact } from '../transaction.ts';
import { findJob } from './job-names.ts';

type Subject = Pick<job, 'account_id' | 'kind' | 'subject_id'>;

/** Queues a failed import table, export or mail again and answers its new status. */
export async function retryJob(ctx: JobsContext, call: { accountId: number }, id: string): Promise<string> {
  const job = await findJob(ctx, call, id);
  const retry = retryByKind[job.kind as JobKind];
  return transact(ctx, (tx) => retry(ctx, tx, job));
}

type Retry = (ctx: JobsContext, tx: Transaction, job: Subject) => Promise<string>;

const retryByKind: Record<JobKind, Retry> = { import_table: retryImportTable, export: retryExport, mail: retryMail };

const notFailed = (what: string, status: string) =>
  new ServiceError('wrong_state', {
    code: 'wrong_state',
    message: `The ${what} is ${status}; only failed work can be tried again.`,
    params: { state: status },
  });

async function retryExport(ctx: JobsContext, tx: Transaction, job: Subject): Promise<string> {
  const where = { id: job.subject_id, account_id: job.account_id };
  const { count } = await tx.data_export.updateMany({
    where: { ...where, status: { in: statesAllowing(exportMachine, 'retry') } },
    data: { status: 'created', error: null, finished_at: null },
  });
  if (count === 0) throw notFailed('export', (await tx.data_export.findFirstOrThrow({ where })).status);
  await requeue(ctx, tx, job, 'export');
  return 'created';
}

// Its job would end the table as cancelled, and the reason of the failure would be lost.
const importNotRetryable = ({ status, cancel_requested }: data_import) => {
  const how = status === 'processing' && cancel_requested ? 'being cancelled' : status;
  return new ServiceError('wrong_state', {
    code: 'wrong_state',
    message: `The import is ${how}; its tables are not tried again.`,
  });
};

async function retryImportTable(ctx: JobsContext, tx: Transaction, job: Subject): Promise<string> {
  const where = { id: job.subject_id, account_id: job.account_id };
  const table = await tx.import_table.findFirstOrThrow({ where });
  await lockImport(tx, job.account_id, table.import_id);
  const whole = await tx.data_import.findFirstOrThrow({ where: { id: table.import_id, account_id: job.account_id } });
  const { count } = await tx.import_table.updateMany({
    where: { ...where, status: { in: statesAllowing(importTableMachine, 'retry') } },
    data: furtherLoad(),
  });
  if (count === 0) throw notFailed('import table', table.status);
  const moved = await moveImport(tx, job.account_id, table.import_id, 'retry');
  if (!moved && (whole.status !== 'processing' || whole.cancel_requested)) throw importNotRetryable(whole);
  await recordAction(tx, { accountId: job.account_id }, table.import_id, 'retry', table.table_definition_key);
  await recordObject(tx, job.account_id, table.object_key, daysFromNow(retentionDays.upload));
  await requeue(ctx, tx, job, 'import_table', table.import_id);
  return 'uploaded';
}

async function retryMail(ctx: JobsContext, tx: Transaction, job: Subject): Promise<string> {
  const where = { id: job.subject_id, account_id: job.account_id };
  const { count } = await tx.mail.updateMany({
    where: { ...where, status: { in: statesAllowing(mailMachine, 'retry') } },
    data: { status: 'queued', error: null },
  });
  if (count === 0) throw notFailed('mail', (await tx.mail.findFirstOrThrow({ where })).status);
  await requeue(ctx, tx, job, 'mail');
  return 'queued';
}

async function requeue(ctx: JobsContext, tx: Transaction, job: Subject, kind: JobKind, groupId?: number) {
  await queueJob(tx, {
    kind,
    subjectId: job.subject_id,
    ...(groupId === undefined ? {} : { groupId }),
    call: { accountId: job.account_id },
    giveUpAfterSeconds: ctx.work.giveUpAfterSeconds,
  });
}
