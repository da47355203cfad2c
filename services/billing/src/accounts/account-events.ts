// Opens the books of new accounts. Messages may arrive twice or late.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { messageId } from '@almanac/service-kit/messaging/bus/received-message';
import { receiveOnce } from '@almanac/service-kit/messaging/inbox';
import { withTransaction } from '@almanac/service-kit/postgres/database';
import { z } from 'zod';
import type { BillingContext } from '../context.ts';
import { openAccount } from './account-billing.ts';

const queue = 'billing.accounts';
const payloads = {
  'identity.account.created': z.object({ account_id: messageId, plan: z.string().max(100).optional() }),
};

/** Consumes the events for as long as the bus runs. */
export function consumeAccountEvents(ctx: BillingContext, bus: Bus): Promise<void> {
  return bus.consume(queue, payloads, async (message) => {
    const { account_id, plan } = message.payload;
    await withTransaction(ctx.pool, async (sql) => {
      if (await receiveOnce(sql, queue, message.id)) await openAccount(sql, account_id, plan ?? 'free');
    });
  });
}
