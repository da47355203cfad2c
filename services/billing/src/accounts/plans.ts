// The plans (contract, Limits): calls a month, branching, and storage for files.

export const planNames = ['free', 'plus', 'business', 'enterprise'] as const;
export type PlanName = (typeof planNames)[number];

const GB = 1024 ** 3;

export const plans = {
  free: { allowance: 1_000, branching: false, storageBytes: 100 * GB },
  plus: { allowance: 15_000, branching: false, storageBytes: 250 * GB },
  business: { allowance: 45_000, branching: true, storageBytes: 1024 * GB },
  // Agreed for each account; until an operator sets it, the allowance of Business.
  enterprise: { allowance: 45_000, branching: true, storageBytes: 5 * 1024 * GB },
} as const satisfies Record<PlanName, { allowance: number; branching: boolean; storageBytes: number }>;

export const billingStatuses = ['current', 'overdue', 'cancelled'] as const;
export type BillingStatus = (typeof billingStatuses)[number];

/** How long an account may be overdue before writes stop. */
export const graceSeconds = 7 * 86_400;

/**
 * Whether payment blocks writes: overdue by more than 7 days (exactly 7 days still write), or
 * cancelled. `inSeconds` is the time until the block of an overdue account, else 0.
 */
export function writeBlock(status: string, overdueSeconds: number | null): { blocked: boolean; inSeconds: number } {
  if (status === 'cancelled') return { blocked: true, inSeconds: 0 };
  if (status !== 'overdue' || overdueSeconds === null) return { blocked: false, inSeconds: 0 };
  if (overdueSeconds > graceSeconds) return { blocked: true, inSeconds: 0 };
  return { blocked: false, inSeconds: Math.floor(graceSeconds - overdueSeconds) + 1 };
}
