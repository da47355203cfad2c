// Erases a deleted account from the queue, the object store and the mail folder.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { createAccountErasure } from '@almanac/service-kit/process/account-erasure';
import type { Part } from '@almanac/service-kit/process/part';
import type { JobsContext } from '../context.ts';
import { accountPrefix } from '../files/object-store/object-store.ts';
import { removeMailFile } from '../mail/transports/folder-transport.ts';

/** The part that erases accounts in what jobs stores. */
export function createJobsErasure(ctx: JobsContext, bus: Bus): Part {
  const { pool, logger } = ctx;
  const stores = [{ pool, removeOther: (accountId: number) => removeFiles(ctx, accountId) }];
  return createAccountErasure({ service: 'jobs', bus, logger, stores });
}

// The rows of mails name the files, so they are deleted after them. Runs that lose their lease end
// within moments; what one of them still writes is removed by a later round.
async function removeFiles(ctx: JobsContext, accountId: number): Promise<void> {
  await pgSql(ctx.pool)(
    `update job set state = 'cancelled', run_id = null, lease_until = null, updated_at = now()
     where account_id = $1::int and state in ('queued', 'running')`,
    [accountId],
  );
  if (ctx.mailer?.folder !== undefined) {
    const { folder } = ctx.mailer;
    const mails = await ctx.prisma.mail.findMany({
      where: { account_id: accountId },
      select: { id: true, created_at: true },
    });
    for (const mail of mails) await removeMailFile(folder, mail);
  }
  await ctx.store.removeUnder(accountPrefix(accountId));
}
