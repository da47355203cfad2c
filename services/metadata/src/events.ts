// The events of identity that metadata consumes.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { type MessageOf, messageId } from '@almanac/service-kit/messaging/bus/received-message';
import { invalidateOnEvents } from '@almanac/service-kit/rights/rights-cache';
import { z } from 'zod';
import { openMainBranch } from './branches/branches.ts';
import type { MetadataContext } from './context.ts';
import { releaseViews } from './views/views.ts';

const payloads = {
  'identity.account.created': z.object({ account_id: messageId }),
  'identity.user.deleted': z.object({ account_id: messageId, user_id: messageId }),
};

/** Consumes events of accounts and users; consuming one twice is harmless. */
export async function consumeEvents(ctx: MetadataContext, bus: Bus): Promise<void> {
  await bus.consume('metadata.accounts', payloads, (message) => receive(ctx, message));
  await invalidateOnEvents(bus, ctx.rights);
}

async function receive(ctx: MetadataContext, message: MessageOf<typeof payloads>): Promise<void> {
  const { account_id: accountId } = message.payload;
  if (message.type === 'identity.account.created') {
    await openMainBranch(ctx, { accountId, requestId: message.request_id });
    return;
  }
  const { user_id } = message.payload;
  await ctx.prisma.current_branch.deleteMany({ where: { account_id: accountId, user_id } });
  await releaseViews(ctx, accountId, user_id);
}
