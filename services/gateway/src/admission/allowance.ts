// What billing last reported about an account: its plan, its payment, and the allowance that
// answers show.
import type { ReserveCallsResponse__Output as Reserved } from '@almanac/protos/generated/almanac/billing/v1/ReserveCallsResponse.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import type { AccountBilling } from './call-lease.ts';

export class Allowance {
  /** When the month ends (performance.now). */
  periodEndsAt = Number.POSITIVE_INFINITY;
  private billing: AccountBilling | undefined;
  /** When the last report arrived (performance.now). */
  private updatedAt = 0;
  private writesBlockedAt = Number.POSITIVE_INFINITY;
  private periodEnd = '';
  /** Calls of the month that are neither reserved nor used, as far as this gateway knows. */
  private unreserved = 0;
  private shown = { periodEnd: '', allowance: -1, remaining: 0 };
  private readonly heldCalls: (reportedAt: number) => number;

  /**
   * `heldCalls`: the calls of this gateway's leases that a report of that time counts as reserved.
   */
  constructor(heldCalls: (reportedAt: number) => number) {
    this.heldCalls = heldCalls;
  }

  /**
   * Whether the plan includes branching. Until the first report it does, as on the larger plans.
   */
  get branching(): boolean {
    return this.billing?.branching_enabled ?? true;
  }

  /** The account's limit for files, in bytes; undefined until the first report. */
  get storageBytes(): number | undefined {
    return this.billing?.storage_bytes;
  }

  /** Takes over what billing answered to a request of `sentAt` (performance.now). */
  update(answer: Reserved, sentAt: number): void {
    const billing = answer.billing as AccountBilling;
    const blockedInSeconds = Number(billing.writes_blocked_in_seconds);
    const blockedLaterAt = blockedInSeconds > 0 ? sentAt + blockedInSeconds * 1000 : Number.POSITIVE_INFINITY;
    this.billing = billing;
    this.updatedAt = performance.now();
    this.writesBlockedAt = billing.writes_blocked ? 0 : blockedLaterAt;
    this.periodEndsAt = sentAt + Date.parse(answer.period_end) - Date.parse(answer.server_time);
    this.periodEnd = answer.period_end;
    this.unreserved = Number(answer.remaining);
  }

  /**
   * Calls were returned to billing by a report that was made at `reportMadeAt` (performance.now).
   */
  addReturned(calls: number, reportMadeAt: number): void {
    // A later answer may already include these calls; too low a number is better than too high.
    if (reportMadeAt > this.updatedAt) this.unreserved += calls;
  }

  /** The allowance headers of an answer; none before the first report. */
  headers(): Record<string, string> {
    if (!this.billing) return {};
    const allowance = Number(this.billing.allowance);
    const remaining = Math.max(0, this.unreserved + this.heldCalls(this.updatedAt));
    const { shown, periodEnd } = this;
    // The number rises for another month or allowance only, not for calls that other gateways
    // return.
    const isSame = shown.periodEnd === periodEnd && shown.allowance === allowance;
    shown.remaining = isSame ? Math.min(shown.remaining, remaining) : remaining;
    shown.periodEnd = periodEnd;
    shown.allowance = allowance;
    return {
      'X-Allowance-Limit': String(allowance),
      'X-Allowance-Remaining': String(shown.remaining),
      'X-Allowance-Reset': periodEnd,
    };
  }

  /** Throws 402 for a write while payment blocks writes. */
  requirePaid(isWrite: boolean): void {
    if (!isWrite || performance.now() < this.writesBlockedAt) return;
    const isCancelled = this.billing?.billing_status === 'cancelled';
    const message = isCancelled
      ? 'The account is cancelled: changes are blocked, reads work.'
      : 'Payment is overdue by more than 7 days: changes are blocked until it arrives, reads work.';
    const code = isCancelled ? 'account_cancelled' : 'payment_overdue';
    throw new ServiceError('payment_overdue', { code, message }, { headers: this.headers() });
  }

  /** The error for a call beyond the allowance (429). */
  exceeded(): ServiceError {
    const seconds = Math.max(1, Math.ceil((this.periodEndsAt - performance.now()) / 1000));
    return new ServiceError(
      'allowance_exceeded',
      { code: 'allowance_exceeded', message: "This month's allowance of API calls is used up." },
      {
        headers: { ...this.headers(), 'X-Allowance-Remaining': '0', 'Retry-After': String(seconds) },
      },
    );
  }
}
