// What each plan gives (contract, Limits; design 3.3): calls a month, branching, and room for
// files.

export const planNames = ['free', 'plus', 'business', 'enterprise'] as const;
export type PlanName = (typeof planNames)[number];

const GB = 1024 ** 3;

export const plans = {
  free: { allowance: 1_000, branching: false, storageBytes: 100 * GB },
  plus: { allowance: 15_000, branching: false, storageBytes: 250 * GB },
  business: { allowance: 45_000, branching: true, storageBytes: 1024 * GB },
  // The allowance is agreed per account; until an operator sets it, what Business gives.
  enterprise: { allowance: 45_000, branching: true, storageBytes: 5 * 1024 * GB },
} as const satisfies Record<PlanName, { allowance: number; branching: boolean; storageBytes: number }>;

export const billingStatuses = ['current', 'overdue', 'cancelled'] as const;
export type BillingStatus = (typeof billingStatuses)[number];

/** How long an account may be overdue before writes stop. */
export const graceSeconds = 7 * 86_400;

/**
 * When writes stop for want of payment: overdue by more than 7 days (7 days exactly still pass), or a cancelled account.
 * `inSeconds` counts down to the second after them while overdue and not yet blocked; else 0.
 */
export function writeBlock(status: string, overdueSeconds: number | null): { blocked: boolean; inSeconds: number } {
  if (status === 'cancelled') return { blocked: true, inSeconds: 0 };
  if (status !== 'overdue' || overdueSeconds === null) return { blocked: false, inSeconds: 0 };
  if (overdueSeconds > graceSeconds) return { blocked: true, inSeconds: 0 };
  return { blocked: false, inSeconds: Math.floor(graceSeconds - overdueSeconds) + 1 };
}
