// Calls that billing has granted this gateway for one account, and the counts of those it served.
// Reports to billing carry the lease's id and a rising sequence number. A report whose answer was
// lost is sent again unchanged, so billing books it once.
import type { AccountBilling__Output as AccountBilling } from '@almanac/protos/generated/almanac/billing/v1/AccountBilling.ts';
import type { CallCount } from '@almanac/protos/generated/almanac/billing/v1/CallCount.ts';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';

export type { AccountBilling };

export type BillingClient = Pick<RpcClient<'billing'>, 'ReserveCalls' | 'SettleCalls'>;

export type LeaseTerms = {
  id: string;
  accountId: number;
  granted: number;
  /** When its calls expire (performance.now). */
  usableUntil: number;
  /** When the month ends (performance.now), and with it the lease, however often it is renewed. */
  periodEndsAt: number;
  /** The grant was smaller than requested: other gateways may need its unused calls. */
  isPartial: boolean;
  /** The database's time minus performance.now: its clock decides the day of a call. */
  clockOffsetMs: number;
};

/** `madeAt` (performance.now): no earlier message to billing can include the report's calls. */
type Report = { sequence: number; served: CallCount[]; release: boolean; give_back: number; madeAt: number };

/** Called when billing has booked a report that returned calls; `reportMadeAt` as in `Report`. */
export type OnReturned = (calls: number, reportMadeAt: number) => void;

// The gateway stops using a lease this long before billing expires it: clocks differ, and the last
// report takes time.
const safetyMs = 3_000;
const settleDeadlineMs = 5_000;

export class CallLease {
  readonly terms: LeaseTerms;
  readonly startedAt = performance.now();
  available: number;
  inFlight = 0;
  /** No more calls are taken from it; the next report returns the rest. */
  retired = false;
  ended = false;
  /** The last report failed. */
  hasFailed = false;
  lastTakenAt = performance.now();
  lastSettledAt = performance.now();
  private usableUntil: number;
  private sequence = 0;
  private readonly served = new Map<string, CallCount & { calls: number }>();
  private report: Report | undefined;
  private settling: Promise<void> | undefined;
  private readonly onReturned: OnReturned;

  constructor(terms: LeaseTerms, onReturned: OnReturned) {
    this.terms = terms;
    this.onReturned = onReturned;
    this.available = terms.granted;
    this.usableUntil = terms.usableUntil;
  }

  /** Takes one call, if there is one. */
  take(now: number): boolean {
    if (this.available === 0 || this.retired || now >= this.usableUntil) return false;
    this.available -= 1;
    this.inFlight += 1;
    this.lastTakenAt = now;
    return true;
  }

  /** Counts a call that was served; the next report books it. */
  count(method: string, resource: string, applicationId: number): void {
    this.inFlight -= 1;
    const time = performance.now() + this.terms.clockOffsetMs;
    const day = dayOf(time);
    const key = `${day} ${method} ${resource} ${applicationId}`;
    const count = this.served.get(key);
    if (count) count.calls += 1;
    else this.served.set(key, { day, method, resource, application_id: applicationId, calls: 1 });
  }

  /** Puts back a call that was taken and not served. */
  putBack(): void {
    this.inFlight -= 1;
    this.available += 1;
  }

  /** Unused calls that billing has not confirmed as returned. */
  get unreturned(): number {
    return this.available + (this.report?.give_back ?? 0);
  }

  /**
   * Calls returned by a pending report made after `time`: no answer of that time can include them.
   */
  returningSince(time: number): number {
    return this.report && this.report.madeAt > time ? this.report.give_back : 0;
  }

  get hasUnbooked(): boolean {
    return this.served.size > 0 || this.report !== undefined;
  }

  isUsable(now: number): boolean {
    return !this.retired && now < this.usableUntil;
  }

  /** Half of the lease's time has passed since its last renewal. */
  needsRenewal(now: number): boolean {
    return this.usableUntil - now < (this.terms.usableUntil - this.startedAt) / 2 && this.terms.periodEndsAt > now;
  }

  /**
   * Sends a report. `release` ends the lease if no call is in flight, and returns unused calls, as
   * `returnUnused` does. When a report is already pending, waits for that one and sends no other.
   */
  settle(billing: BillingClient, options: { release?: boolean; returnUnused?: boolean } = {}): Promise<void> {
    this.settling ??= this.send(billing, options).finally(() => {
      this.settling = undefined;
    });
    return this.settling;
  }

  /** Reports all calls that were counted so far. */
  async settleAll(billing: BillingClient): Promise<void> {
    await this.settling?.catch(() => {}); // the next report includes what failed
    for (let attempt = 0; attempt < 3 && this.hasUnbooked; attempt += 1) await this.settle(billing);
  }

  /** Retires the lease and returns its unused calls. */
  async returnAll(billing: BillingClient): Promise<void> {
    this.retired = true;
    await this.settling?.catch(() => {}); // the next report includes what failed
    for (let attempt = 0; attempt < 3 && this.unreturned > 0; attempt += 1)
      await this.settle(billing, { release: true });
  }

  private async send(billing: BillingClient, options: { release?: boolean; returnUnused?: boolean }): Promise<void> {
    const report = this.report ?? this.nextReport(options);
    this.report = report;
    const sentAt = performance.now();
    this.lastSettledAt = sentAt;
    const answer = await billing.SettleCalls(
      { accountId: this.terms.accountId },
      {
        lease_id: this.terms.id,
        sequence: report.sequence,
        served: report.served,
        release: report.release,
        give_back: report.give_back,
      },
      { deadlineMs: settleDeadlineMs },
    );
    this.report = undefined;
    if (answer.lease_open) {
      this.usableUntil = Math.min(sentAt + usableMs(answer.expires_in_seconds), this.terms.periodEndsAt);
    } else {
      this.retired = true;
      this.available = 0;
    }
    this.ended = !answer.lease_open && this.inFlight === 0 && !this.hasUnbooked;
    if (report.give_back > 0) this.onReturned(report.give_back, report.madeAt);
  }

  private nextReport({ release = false, returnUnused = false }: { release?: boolean; returnUnused?: boolean }): Report {
    const served = [...this.served.values()];
    this.served.clear();
    this.sequence += 1;
    const ends = release && this.inFlight === 0;
    const give_back = release || returnUnused ? this.available : 0;
    this.available -= give_back;
    return { sequence: this.sequence, served, release: ends, give_back, madeAt: performance.now() };
  }
}

let today = { from: 0, to: 0, text: '' };

function dayOf(time: number): string {
  if (time >= today.from && time < today.to) return today.text;
  const from = Math.floor(time / 86_400_000) * 86_400_000;
  today = { from, to: from + 86_400_000, text: new Date(from).toISOString().slice(0, 10) };
  return today.text;
}

/** How long a lease that expires after `seconds` may be used. */
export const usableMs = (seconds: number) => Math.max(seconds * 1000 - safetyMs, seconds * 500);
