// The call leases of one account at this gateway: takes calls from them, reports to billing, keeps
// used leases alive and returns unused calls.
import { randomUUID } from 'node:crypto';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { type BillingClient, CallLease } from './call-lease.ts';

type Options = { accountId: number; billing: BillingClient; graceCalls: number; logger: Logger };

// A lease is retired when it is older or has been idle for longer.
const maxLeaseAgeMs = 60_000;
const maxIdleMs = 10_000;
const settleEveryMs = 1_000;
/**
 * For partial leases, whose unused calls other gateways may need: both the idle time and the
 * interval.
 */
const partialMs = 200;

export class AccountLeases {
  private leases: CallLease[] = [];
  /** A lease that this gateway gives itself while billing is unreachable. */
  private grace: CallLease | undefined;
  private readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }

  add(lease: CallLease): void {
    this.leases.push(lease);
  }

  /** Takes one call from the first lease that has one. */
  take(now: number): CallLease | undefined {
    for (const lease of this.leases) if (lease.take(now)) return lease;
    return undefined;
  }

  /** Takes one call from the bounded grace of a gateway that can't reach billing. */
  takeGrace(now: number): CallLease | undefined {
    if (this.grace?.retired) {
      this.leases.push(this.grace);
      this.grace = undefined;
    }
    this.grace ??= this.newGrace();
    return this.grace.take(now) ? this.grace : undefined;
  }

  private newGrace(): CallLease {
    const { accountId, graceCalls } = this.options;
    return new CallLease(
      {
        id: randomUUID(),
        accountId,
        granted: graceCalls,
        usableUntil: Number.POSITIVE_INFINITY,
        periodEndsAt: Number.POSITIVE_INFINITY,
        isPartial: false,
        clockOffsetMs: Date.now() - performance.now(),
      },
      () => {},
    );
  }

  /** Calls that can be taken now. */
  usableCalls(now: number): number {
    return this.leases.reduce((sum, lease) => sum + (lease.isUsable(now) ? lease.available : 0), 0);
  }

  /**
   * Calls that a report of `reportedAt` (performance.now) counts as reserved and that are not used.
   */
  heldCalls(reportedAt: number): number {
    return this.leases.reduce(
      (sum, lease) => sum + lease.available + lease.inFlight + lease.returningSince(reportedAt),
      0,
    );
  }

  /** Calls of unusable leases that are not known to be back at billing. */
  unreturnedCalls(): number {
    return this.unusable().reduce((sum, lease) => sum + lease.unreturned, 0);
  }

  /** Takes no more calls from the present leases. */
  retire(): void {
    for (const lease of this.leases) lease.retired = true;
  }

  /** Reports all calls that were counted so far. */
  async settle(): Promise<void> {
    await Promise.all(this.all().map((lease) => lease.settleAll(this.options.billing)));
  }

  /** Returns the calls of unusable leases. `maintain` repeats what fails. */
  async returnUnusable(): Promise<void> {
    await Promise.allSettled(this.unusable().map((lease) => lease.returnAll(this.options.billing)));
  }

  /**
   * Reports, renews and returns what is due. Called a few times a second; true while leases are
   * left.
   */
  maintain(now: number): boolean {
    for (const lease of this.leases) this.maintainLease(lease, now);
    if (this.grace?.hasUnbooked && now - this.grace.lastSettledAt > settleEveryMs) void this.report(this.grace, {});
    this.leases = this.leases.filter((lease) => !lease.ended);
    if (this.grace?.ended) this.grace = undefined;
    return this.leases.length > 0 || this.grace !== undefined;
  }

  /** Reports all counted calls and returns all others, for the end of the process. */
  async close(): Promise<void> {
    this.retire();
    await Promise.all(
      this.all().map(async (lease) => {
        for (let attempt = 0; attempt < 5 && !lease.ended; attempt += 1)
          await lease.settle(this.options.billing, { release: true });
      }),
    );
  }

  private all(): CallLease[] {
    return this.grace ? [...this.leases, this.grace] : this.leases;
  }

  /** Leases that allow no more calls and still hold some. */
  private unusable(): CallLease[] {
    const now = performance.now();
    return this.leases.filter((lease) => lease.unreturned > 0 && !lease.isUsable(now));
  }

  private maintainLease(lease: CallLease, now: number): void {
    const isIdle = now - lease.lastTakenAt > (lease.terms.isPartial ? partialMs : maxIdleMs);
    const isSpent = lease.available === 0 && lease.inFlight === 0;
    if (isIdle || isSpent || !lease.isUsable(now) || now - lease.startedAt > maxLeaseAgeMs) {
      lease.retired = true;
      // A lease with calls in flight stays open, but its other calls are returned.
      if (lease.inFlight === 0) return void this.report(lease, { release: true });
      if (lease.available > 0) return void this.report(lease, { returnUnused: true });
    }
    const isDue = now - lease.lastSettledAt > (lease.terms.isPartial ? partialMs : settleEveryMs);
    if (isDue && (lease.hasUnbooked || lease.needsRenewal(now))) void this.report(lease, {});
  }

  private async report(lease: CallLease, options: { release?: boolean; returnUnused?: boolean }): Promise<void> {
    const isTooSoon = lease.hasFailed && performance.now() - lease.lastSettledAt < settleEveryMs;
    if (isTooSoon) return;
    const { accountId, billing, logger } = this.options;
    try {
      await lease.settle(billing, options);
      lease.hasFailed = false;
    } catch (error) {
      if (!lease.hasFailed)
        logger.warn({ err: error, account_id: accountId }, 'a report of calls to billing failed; it will be repeated');
      lease.hasFailed = true;
    }
  }
}
