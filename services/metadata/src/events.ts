// What metadata hears from identity.
import type { Bus, BusMessage } from '@almanac/service-kit/bus/bus';
import { hearOfRights } from '@almanac/service-kit/remembered-rights';
import { openMainBranch } from './branches.ts';
import type { Context } from './context.ts';

/** Takes accounts and users from the bus; each effect can happen twice without harm. */
export async function consumeEvents(ctx: Context, bus: Bus): Promise<void> {
  await bus.consume('metadata.accounts', ['identity.account.created', 'identity.user.deleted'], (message) =>
    receive(ctx, message),
  );
  await hearOfRights(bus, ctx.rights);
}

async function receive(ctx: Context, { type, payload, request_id }: BusMessage): Promise<void> {
  const accountId = payload.account_id;
  if (typeof accountId !== 'number') return;
  if (type === 'identity.account.created') await openMainBranch(ctx, { accountId, requestId: request_id });
  else if (typeof payload.user_id === 'number')
    await ctx.prisma.current_branch.deleteMany({ where: { account_id: accountId, user_id: payload.user_id } });
}
