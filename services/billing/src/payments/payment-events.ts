// Applies events of the payment provider to the books, each once.
import { notFound } from '@almanac/service-kit/errors';
import { withTransaction } from '@almanac/service-kit/postgres/database';
import {
  type Actor,
  applyBillingEvent,
  isSameState,
  lockBooks,
  storageAfter,
  writeBooks,
} from '../accounts/account-changes.ts';
import type { BillingContext } from '../context.ts';
import type { PaymentEvent } from './payment-provider.ts';

/**
 * Applies an event; false for a repeat. 404 for an account without books: the provider sends it
 * again.
 */
export function applyPaymentEvent(
  ctx: Pick<BillingContext, 'pool'>,
  from: Omit<Actor, 'accountId'>,
  event: PaymentEvent,
): Promise<boolean> {
  return withTransaction(ctx.pool, async (sql) => {
    const before = await lockBooks(sql, event.accountId);
    if (!before) throw notFound('Account');
    const state = await applyBillingEvent(sql, before, {
      source: 'provider',
      id: event.id,
      type: event.type,
      occurred_at: event.occurredAt,
      billing_status: event.billingStatus,
      overdue_since: null,
      plan: event.plan,
      allowance: event.allowance,
    });
    if (state && !isSameState(state, before))
      await writeBooks(sql, { ...from, accountId: event.accountId }, before, {
        ...before,
        ...state,
        storage_bytes: storageAfter(before, state),
      });
    return state !== undefined;
  });
}
