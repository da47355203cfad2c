// The port to the payment provider. It sends events about payments and subscriptions; billing calls
// nothing of it.
import type { IncomingHttpHeaders } from 'node:http';
import type { BillingStatus, PlanName } from '../accounts/plans.ts';

/** An event of the provider that concerns the books of an account. */
export type PaymentEvent = {
  /** The provider's id of the event; the same for repeats. */
  id: string;
  type: string;
  accountId: number;
  occurredAt: Date;
  billingStatus: BillingStatus | null;
  plan: PlanName | null;
  allowance: number | null;
};

/**
 * Verifies and reads a message. Throws `bad_request` unless it is signed by the provider, recent
 * and complete. Undefined for a type of message that does not concern the books.
 */
export type PaymentProvider = (headers: IncomingHttpHeaders, body: Buffer) => PaymentEvent | undefined;
