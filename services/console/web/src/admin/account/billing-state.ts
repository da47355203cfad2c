// What an account may still do when its payment is overdue or its plan has ended.
import type { Schemas } from '../../api/client.ts';

type Billing = Pick<Schemas['Account'], 'billing_status' | 'overdue_since'>;

export type BillingState =
  | { kind: 'current' | 'cancelled' }
  /** Overdue, but all works until then. */
  | { kind: 'grace'; until: string }
  | { kind: 'blocked'; since: string };

const graceMs = 7 * 86_400_000;

export function billingState({ billing_status, overdue_since }: Billing, now: number): BillingState {
  if (billing_status === 'cancelled') return { kind: 'cancelled' };
  if (overdue_since === null) return { kind: 'current' };
  const end = Date.parse(overdue_since) + graceMs;
  const instant = new Date(end).toISOString();
  return end > now ? { kind: 'grace', until: instant } : { kind: 'blocked', since: instant };
}
