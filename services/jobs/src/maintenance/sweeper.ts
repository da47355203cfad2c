// Removes what has expired: objects, abandoned imports, idempotency keys, mails and finished jobs.
import { sweepAnswers } from '@almanac/service-kit/caller/idempotency';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { Part } from '@almanac/service-kit/process/part';
import { periodic } from '@almanac/service-kit/process/periodic';
import { runTasks } from '@almanac/service-kit/process/run-tasks';
import type { JobsContext } from '../context.ts';
import { sweepEvents } from '../events/append-events.ts';
import { sweepObjects } from '../files/stored-objects.ts';
import { lockImport, moveImport, recordAction, removeCancelledFiles } from '../imports/imports.ts';
import { countUploadedBytes, extendOpenUploads } from '../imports/uploaded/uploads.ts';
import { sweepMailFiles } from '../mail/transports/folder-transport.ts';
import { finishedTableStates } from '../states/import-states.ts';
import { announce, transact } from '../transaction.ts';
import { sweepDeliveries } from '../webhooks/endpoints/deliveries.ts';

const day = 86_400_000;
const abandonedAfterMs = 7 * day;
const jobRetentionMs = 90 * day;
const mailFileRetentionMs = 30 * day;

/** One round. A task that fails is logged and runs again in the next round. */
export async function sweep(ctx: JobsContext): Promise<void> {
  const ago = (ms: number) => new Date(Date.now() - ms);
  await runTasks(ctx.logger, {
    imports: () => expireImports(ctx, ago(abandonedAfterMs)),
    objects: () => extendOpenUploads(ctx).then(() => sweepObjects(ctx)),
    sizes: () => countUploadedBytes(ctx),
    uploads: () => ctx.store.sweep(day / 1000),
    answers: () => sweepAnswers(prismaSql(ctx.prisma)),
    events: () => sweepEvents(prismaSql(ctx.prisma)),
    deliveries: () => sweepDeliveries(ctx),
    mails: () =>
      ctx.prisma.mail.deleteMany({ where: { status: { not: 'queued' }, updated_at: { lt: ago(jobRetentionMs) } } }),
    mail_files: async () => ctx.mailer?.folder && sweepMailFiles(ctx.mailer.folder, ago(mailFileRetentionMs)),
    jobs: () =>
      ctx.prisma.job.deleteMany({
        where: {
          OR: [{ state: { in: ['done', 'cancelled'] } }, { state: 'failed', kind: 'mail' }],
          updated_at: { lt: ago(jobRetentionMs) },
        },
      }),
  });
}

/** Cancels imports whose uploads were never completed, so that they don't stay open for ever. */
export async function expireImports(ctx: JobsContext, before: Date): Promise<void> {
  const abandoned = await ctx.prisma.data_import.findMany({
    where: { status: { in: ['created', 'uploading'] }, updated_at: { lt: before } },
    take: 1000,
  });
  for (const { id, account_id } of abandoned)
    await transact(ctx, async (tx) => {
      await lockImport(tx, account_id, id);
      if (!(await moveImport(tx, account_id, id, 'expire'))) return;
      await tx.import_table.updateMany({
        where: { import_id: id, account_id, status: { notIn: finishedTableStates } },
        data: { status: 'cancelled', finished_at: new Date() },
      });
      await recordAction(tx, { accountId: account_id }, id, 'expire', 'The uploads were not completed within 7 days.');
      await announce(tx, { accountId: account_id }, 'import.finished', { id, status: 'cancelled' });
    }).then(() => removeCancelledFiles(ctx, { accountId: account_id }, id));
}

/** Sweeps every few minutes while the service runs. */
export function createSweeper(ctx: JobsContext): Part {
  const { logger, work } = ctx;
  return periodic({ name: 'sweeper', everyMs: work.sweepMs, logger, startsWith: 'pause' }, () => sweep(ctx));
}
