// What the payment provider says goes into the books: each event once, and in the order in which things happened.

import { notFound } from '@almanac/service-kit/errors';
import { withTransaction } from '@almanac/service-kit/postgres/database';
import { type Actor, isSameStanding, lockBooks, standingWith, storageWith, writeBooks } from '../account-changes.ts';
import type { BillingContext } from '../context.ts';
import type { PaymentEvent } from './payment-provider.ts';

/** Takes an event in; false when it was known already. An account without books is not found: the provider sends it again. */
export function takePaymentEvent(
  ctx: Pick<BillingContext, 'pool'>,
  from: Omit<Actor, 'accountId'>,
  event: PaymentEvent,
): Promise<boolean> {
  return withTransaction(ctx.pool, async (sql) => {
    const before = await lockBooks(sql, event.accountId);
    if (!before) throw notFound('Account');
    const standing = await standingWith(sql, before, {
      source: 'provider',
      id: event.id,
      type: event.type,
      occurred_at: event.occurredAt,
      billing_status: event.billingStatus,
      overdue_since: null,
      plan: event.plan,
      allowance: event.allowance,
    });
    if (standing && !isSameStanding(standing, before))
      await writeBooks(sql, { ...from, accountId: event.accountId }, before, {
        ...before,
        ...standing,
        storage_bytes: storageWith(before, standing),
      });
    return standing !== undefined;
  });
}
