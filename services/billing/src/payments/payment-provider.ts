// The port to whoever takes the money. It tells us what became of payments and subscriptions; we ask it nothing.
import type { IncomingHttpHeaders } from 'node:http';
import type { BillingStatus, PlanName } from '../plans.ts';

/** Something that happened at the provider and concerns the books of an account. */
export type PaymentEvent = {
  /** The provider's own; the same when it sends the event again. */
  id: string;
  type: string;
  accountId: number;
  occurredAt: Date;
  billingStatus: BillingStatus | null;
  plan: PlanName | null;
  allowance: number | null;
};

/**
 * Reads a message that came from outside. Whatever is not provably the provider's, recent and complete is `bad_request`; a
 * message that concerns nothing of ours is undefined.
 */
export type PaymentProvider = (headers: IncomingHttpHeaders, body: Buffer) => PaymentEvent | undefined;
