// Calls this gateway holds for an account and what it served of them. Everything it served is reported to billing under one
// lease id with rising sequence numbers; a report whose fate is not known is sent again as it was, so it is booked once.
import type { AccountBilling__Output as AccountBilling } from '@almanac/protos/generated/almanac/billing/v1/AccountBilling.ts';
import type { CallCount } from '@almanac/protos/generated/almanac/billing/v1/CallCount.ts';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';

export type { AccountBilling };

export type BillingClient = Pick<RpcClient<'billing'>, 'ReserveCalls' | 'SettleCalls'>;

export type LeaseTerms = {
  id: string;
  accountId: number;
  granted: number;
  /** Until when (performance.now) its calls may be handed out. */
  usableUntil: number;
  /** The month ends here (performance.now): no report can make the lease usable any longer. */
  periodEndsAt: number;
  /** The grant was smaller than asked for: others may need what is not used. */
  clipped: boolean;
  /** Adds to performance.now and gives the database's time, which decides the day of a call. */
  clockOffsetMs: number;
};

/** `madeAt`: no word to billing had been of its calls before (performance.now). */
type Report = { sequence: number; served: CallCount[]; release: boolean; give_back: number; madeAt: number };

/** Told when a report was booked that gave calls back, and when it had been made: billing may know of it since then. */
export type GivenBack = (calls: number, madeAt: number) => void;

// A lease is left this long before billing would take it back: for a report that is late, and for clocks.
const safetyMs = 3_000;
const settleDeadlineMs = 5_000;

export class CallLease {
  readonly terms: LeaseTerms;
  readonly startedAt = performance.now();
  available: number;
  inFlight = 0;
  /** Hands out no more; what is left goes back with the next report. */
  retired = false;
  ended = false;
  /** The last report did not get through. */
  hasFailed = false;
  lastTakenAt = performance.now();
  lastSettledAt = performance.now();
  private usableUntil: number;
  private sequence = 0;
  private readonly served = new Map<string, CallCount & { calls: number }>();
  private report: Report | undefined;
  private settling: Promise<void> | undefined;
  private readonly onGivenBack: GivenBack;

  constructor(terms: LeaseTerms, onGivenBack: GivenBack) {
    this.terms = terms;
    this.onGivenBack = onGivenBack;
    this.available = terms.granted;
    this.usableUntil = terms.usableUntil;
  }

  /** Hands out one call. */
  take(now: number): boolean {
    if (this.available === 0 || this.retired || now >= this.usableUntil) return false;
    this.available -= 1;
    this.inFlight += 1;
    this.lastTakenAt = now;
    return true;
  }

  /** A call was served: it is counted now, booked with the next report. */
  count(method: string, resource: string, applicationId: number): void {
    this.inFlight -= 1;
    const time = performance.now() + this.terms.clockOffsetMs;
    const day = dayOf(time);
    const key = `${day} ${method} ${resource} ${applicationId}`;
    const count = this.served.get(key);
    if (count) count.calls += 1;
    else this.served.set(key, { day, method, resource, application_id: applicationId, calls: 1 });
  }

  /** A call was handed out and not served: it can be handed out again. */
  putBack(): void {
    this.inFlight -= 1;
    this.available += 1;
  }

  /** Calls nobody is using that are not known to be back with billing. */
  get unused(): number {
    return this.available + (this.report?.give_back ?? 0);
  }

  /** What is on its way back in a report made after `time`, which therefore nothing heard by then can have told of. */
  goingBackSince(time: number): number {
    return this.report && this.report.madeAt > time ? this.report.give_back : 0;
  }

  get hasUnbooked(): boolean {
    return this.served.size > 0 || this.report !== undefined;
  }

  isUsable(now: number): boolean {
    return !this.retired && now < this.usableUntil;
  }

  /** Half of its time has gone without a word to billing. */
  needsWord(now: number): boolean {
    return this.usableUntil - now < (this.terms.usableUntil - this.startedAt) / 2 && this.terms.periodEndsAt > now;
  }

  /**
   * Books what was served. `release` ends the lease, when nothing is in flight; else `giveBack` gives back what is not handed
   * out. Joins a settlement that is under way; call again for what was served meanwhile.
   */
  settle(billing: BillingClient, options: { release?: boolean; giveBack?: boolean } = {}): Promise<void> {
    this.settling ??= this.send(billing, options).finally(() => {
      this.settling = undefined;
    });
    return this.settling;
  }

  /** Books everything that was served before this moment. */
  async settleAll(billing: BillingClient): Promise<void> {
    await this.settling?.catch(() => {}); // what it could not book is in the next report
    for (let attempt = 0; attempt < 3 && this.hasUnbooked; attempt += 1) await this.settle(billing);
  }

  /** Hands out no more, and gives back all that is not handed out. */
  async giveBackAll(billing: BillingClient): Promise<void> {
    this.retired = true;
    await this.settling?.catch(() => {}); // what it could not give back is in the next report
    for (let attempt = 0; attempt < 3 && this.unused > 0; attempt += 1) await this.settle(billing, { release: true });
  }

  private async send(billing: BillingClient, options: { release?: boolean; giveBack?: boolean }): Promise<void> {
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
      const until = sentAt + answer.expires_in_seconds * 1000 - safetyMs;
      this.usableUntil = Math.min(until, this.terms.periodEndsAt);
    } else {
      this.retired = true;
      this.available = 0;
    }
    this.ended = !answer.lease_open && this.inFlight === 0 && !this.hasUnbooked;
    if (report.give_back > 0) this.onGivenBack(report.give_back, report.madeAt);
  }

  private nextReport({ release = false, giveBack = false }: { release?: boolean; giveBack?: boolean }): Report {
    const served = [...this.served.values()];
    this.served.clear();
    this.sequence += 1;
    const ends = release && this.inFlight === 0;
    const give_back = release || giveBack ? this.available : 0;
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

/** How long before its end a lease that lives `seconds` is given up. */
export const usableFor = (seconds: number) => Math.max(seconds * 1000 - safetyMs, seconds * 500);
