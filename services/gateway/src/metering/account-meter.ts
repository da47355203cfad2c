// The calls of one account at this gateway: handed out from leases, counted when they are answered, shown in headers.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReserveCallsResponse__Output as Reserved } from '@almanac/protos/generated/almanac/billing/v1/ReserveCallsResponse.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { type AccountBilling, type BillingClient, CallLease, usableFor } from './call-lease.ts';

export type MeterOptions = {
  billing: BillingClient;
  gatewayId: string;
  graceCalls: number;
  reserveDeadlineMs: number;
  logger: Logger;
};

/** A call that was let in. It is told how it ended exactly once. */
export type Ticket = { meter: AccountMeter; lease: CallLease; ended: boolean };

type CallFacts = { method: string; resource: string; applicationId: number };

const smallestLease = 20;
const largestLease = 2_000;
const secondsOfCallsALease = 5;
const awayForMs = 1_000;
const exhaustedForMs = 1_000;
const waitForOthersMs = 2_500;
const askAgainMs = 50;
const oldAfterMs = 60_000;
const idleAfterMs = 10_000;
const settleEveryMs = 1_000;
const tightIdleMs = 200;

const unavailable = () => new ServiceError('unavailable', 'Calls can not be counted just now; try again.');

export class AccountMeter {
  readonly accountId: number;
  lastUsedAt = performance.now();
  private readonly options: MeterOptions;
  private leases: CallLease[] = [];
  private grace: CallLease | undefined;
  private billing: AccountBilling | undefined;
  /** What is known of the account may have changed: ask before the next call. */
  private stale = true;
  /** How many changes of the account were heard of: an answer that was asked for before one is not believed. */
  private changes = 0;
  private writesBlockedAt = Number.POSITIVE_INFINITY;
  private reserving: Promise<void> | undefined;
  private awayUntil = 0;
  private exhaustedUntil = 0;
  /** Calls that others hold, or that this gateway did not get back to billing: who is refused may wait for them. */
  private held = 0;
  /** How many calls this gateway has given back. */
  private freed = 0;
  private waiting = 0;
  private taken = 0;
  private rate = { calls: 0, at: performance.now(), perSecond: 0 };
  private period = { endsAt: Number.POSITIVE_INFINITY, endsOn: '' };
  /** Calls of the month nobody has reserved or used, as far as this gateway knows. */
  private unreserved = 0;
  private heardAt = 0;
  private shown = { periodEnd: '', allowance: -1, remaining: 0 };

  constructor(accountId: number, options: MeterOptions) {
    this.accountId = accountId;
    this.options = options;
  }

  /** What the plan allows. While billing has never been heard of this account the gates of branching stay as on the larger plans. */
  get branching(): boolean {
    return this.billing?.branching_enabled ?? true;
  }

  /** How many bytes of files the account may keep; undefined: billing has not said. */
  get storageBytes(): number | undefined {
    return this.billing?.storage_bytes;
  }

  /** Lets a call in without waiting, if that is possible; undefined: use `admit`. Throws 402. */
  tryAdmit(isWrite: boolean): Ticket | undefined {
    if (this.stale) return undefined;
    this.requirePaid(isWrite);
    return this.take();
  }

  /** Lets a call in; 402 when writes are blocked, 429 when nothing is left, 503 when that can't be found out any more. */
  async admit(isWrite: boolean): Promise<Ticket> {
    const giveUpAt = performance.now() + waitForOthersMs;
    this.waiting += 1;
    try {
      for (;;) {
        while (this.stale && !this.isAway()) await this.reserve();
        this.requirePaid(isWrite);
        const ticket = this.take();
        if (ticket) return ticket;
        const now = performance.now();
        if (this.isAway()) return this.takeGrace();
        if (now < this.exhaustedUntil) {
          if (this.held === 0) throw this.allowanceExceeded();
          if (now >= giveUpAt) {
            // Others sit on the last calls; who comes in the next moment need not wait for them too.
            this.exhaustedUntil = now + exhaustedForMs;
            this.held = 0;
            throw this.allowanceExceeded();
          }
          await sleep(askAgainMs);
        } else if (now >= giveUpAt + waitForOthersMs) throw unavailable();
        await this.reserve();
      }
    } finally {
      this.waiting -= 1;
    }
  }

  /** Counts a call that was answered, unless its status says that it does not count (design 3.10). */
  answered(ticket: Ticket, status: number, facts: CallFacts): void {
    if (ticket.ended) return;
    ticket.ended = true;
    if (status >= 500 || status === 429 || status === 402) ticket.lease.putBack();
    else ticket.lease.count(facts.method, facts.resource, facts.applicationId);
  }

  /** A call that was let in and not served. */
  putBack(ticket: Ticket): void {
    if (ticket.ended) return;
    ticket.ended = true;
    ticket.lease.putBack();
  }

  /** Limit, remaining and reset for an answer; nothing while billing has not been heard. */
  headers(): Record<string, string> {
    if (!this.billing) return {};
    const allowance = Number(this.billing.allowance);
    const mine = this.leases.reduce(
      (sum, lease) => sum + lease.available + lease.inFlight + lease.goingBackSince(this.heardAt),
      0,
    );
    const remaining = Math.max(0, this.unreserved + mine);
    const { shown, period } = this;
    // What other gateways give back must not make the number rise; only another month or another allowance may.
    const isSame = shown.periodEnd === period.endsOn && shown.allowance === allowance;
    shown.remaining = isSame ? Math.min(shown.remaining, remaining) : remaining;
    shown.periodEnd = period.endsOn;
    shown.allowance = allowance;
    return {
      'X-Allowance-Limit': String(allowance),
      'X-Allowance-Remaining': String(shown.remaining),
      'X-Allowance-Reset': period.endsOn,
    };
  }

  /** Something about the account changed: nothing remembered is used again. */
  forget(): void {
    this.stale = true;
    this.changes += 1;
    this.exhaustedUntil = 0;
    for (const lease of this.leases) lease.retired = true;
  }

  /** Books everything that was answered before this moment. */
  async settle(): Promise<void> {
    const leases = this.grace ? [...this.leases, this.grace] : this.leases;
    await Promise.all(leases.map((lease) => lease.settleAll(this.options.billing)));
  }

  /** Called a few times a second: reports, keeps leases alive, gives back what is not used. True while there is more to do. */
  tick(now: number): boolean {
    this.measureRate(now);
    for (const lease of this.leases) this.tend(lease, now);
    if (this.grace?.hasUnbooked && now - this.grace.lastSettledAt > settleEveryMs) void this.report(this.grace, {});
    this.leases = this.leases.filter((lease) => !lease.ended);
    if (this.grace?.ended) this.grace = undefined;
    return this.leases.length > 0 || this.grace !== undefined;
  }

  /** Books everything and gives everything back; for the end of the process. */
  async close(): Promise<void> {
    this.forget();
    const leases = this.grace ? [...this.leases, this.grace] : this.leases;
    await Promise.all(
      leases.map(async (lease) => {
        for (let attempt = 0; attempt < 5 && !lease.ended; attempt += 1)
          await lease.settle(this.options.billing, { release: true });
      }),
    );
  }

  private take(): Ticket | undefined {
    const now = performance.now();
    this.lastUsedAt = now;
    for (const lease of this.leases) {
      if (!lease.take(now)) continue;
      this.taken += 1;
      this.reserveAhead(lease, now);
      return { meter: this, lease, ended: false };
    }
    return undefined;
  }

  // Long before the last call is handed out the next lease is on its way, so that busy accounts never wait for billing.
  private reserveAhead(lease: CallLease, now: number): void {
    if (this.reserving || lease.available * 2 > lease.terms.granted || lease.terms.clipped) return;
    if (now < this.exhaustedUntil || this.isAway()) return;
    const left = this.leases.reduce((sum, each) => sum + (each.isUsable(now) ? each.available : 0), 0);
    if (left < this.wanted() / 2) void this.reserve();
  }

  private takeGrace(): Ticket {
    if (this.grace?.retired) {
      this.leases.push(this.grace);
      this.grace = undefined;
    }
    this.grace ??= new CallLease(
      {
        id: randomUUID(),
        accountId: this.accountId,
        granted: this.options.graceCalls,
        usableUntil: Number.POSITIVE_INFINITY,
        periodEndsAt: Number.POSITIVE_INFINITY,
        clipped: false,
        clockOffsetMs: Date.now() - performance.now(),
      },
      () => {},
    );
    if (!this.grace.take(performance.now())) throw unavailable();
    return { meter: this, lease: this.grace, ended: false };
  }

  private reserve(): Promise<void> {
    this.reserving ??= this.ask().finally(() => {
      this.reserving = undefined;
    });
    return this.reserving;
  }

  private async ask(): Promise<void> {
    const sentAt = performance.now();
    const wanted = this.wanted();
    const { changes, freed } = this;
    try {
      const answer = await this.options.billing.ReserveCalls(
        { accountId: this.accountId },
        { gateway_id: this.options.gatewayId, wanted },
        { deadlineMs: this.options.reserveDeadlineMs, waitForReady: false },
      );
      this.learn(answer, { sentAt, wanted, isCurrent: this.changes === changes });
      if (Number(answer.granted) > 0) return;
      await this.giveBackUnusable();
      // When calls went back meanwhile, or the account changed, there may be some: then it is no end, and is asked again.
      if (this.freed !== freed || this.changes !== changes) return;
      this.held = Number(answer.held_elsewhere) + this.unusable().reduce((sum, lease) => sum + lease.unused, 0);
      this.exhaustedUntil = performance.now() + (this.held > 0 ? askAgainMs : exhaustedForMs);
    } catch (error) {
      const wasAway = this.awayUntil > 0;
      this.awayUntil = performance.now() + awayForMs;
      if (!wasAway)
        this.options.logger.warn({ err: error, account_id: this.accountId }, 'no calls from billing; counting here');
    }
  }

  /** Leases that hand out no more and still hold calls. */
  private unusable(): CallLease[] {
    const now = performance.now();
    return this.leases.filter((lease) => lease.unused > 0 && !lease.isUsable(now));
  }

  // What this gateway keeps from billing itself must not make it refuse anybody.
  private async giveBackUnusable(): Promise<void> {
    const given = this.unusable().map((lease) => lease.giveBackAll(this.options.billing));
    await Promise.allSettled(given); // what fails is sent again by the clock, which tells of it too
  }

  private learn(
    answer: Reserved,
    { sentAt, wanted, isCurrent }: { sentAt: number; wanted: number; isCurrent: boolean },
  ): void {
    this.heardAt = performance.now();
    const serverTime = Date.parse(answer.server_time);
    const periodEndsAt = sentAt + Date.parse(answer.period_end) - serverTime;
    const billing = answer.billing as AccountBilling;
    this.billing = billing;
    this.stale = !isCurrent;
    this.awayUntil = 0;
    this.writesBlockedAt = billing.writes_blocked
      ? 0
      : Number(billing.writes_blocked_in_seconds) > 0
        ? sentAt + Number(billing.writes_blocked_in_seconds) * 1000
        : Number.POSITIVE_INFINITY;
    this.period = { endsAt: periodEndsAt, endsOn: answer.period_end };
    this.unreserved = Number(answer.remaining);
    const granted = Number(answer.granted);
    if (granted === 0) return;
    this.exhaustedUntil = 0;
    const lease = new CallLease(
      {
        id: answer.lease_id,
        accountId: this.accountId,
        granted,
        usableUntil: Math.min(sentAt + usableFor(answer.expires_in_seconds), periodEndsAt),
        periodEndsAt,
        clipped: granted < wanted,
        clockOffsetMs: serverTime - sentAt,
      },
      (calls, madeAt) => this.gotBack(calls, madeAt),
    );
    // Granted by the terms of before the change, as those are that `forget` ended.
    lease.retired = !isCurrent;
    this.leases.push(lease);
  }

  private gotBack(calls: number, madeAt: number): void {
    // An answer that was heard later may have told of these calls already; better too few than too many.
    if (madeAt > this.heardAt) this.unreserved += calls;
    this.freed += calls;
    this.exhaustedUntil = 0;
  }

  private wanted(): number {
    const calls = Math.ceil(this.rate.perSecond * secondsOfCallsALease);
    return Math.min(Math.max(smallestLease, calls, this.waiting), largestLease);
  }

  private measureRate(now: number): void {
    const seconds = (now - this.rate.at) / 1000;
    if (seconds < 1) return;
    const perSecond = (this.taken - this.rate.calls) / seconds;
    this.rate = { calls: this.taken, at: now, perSecond: Math.max(perSecond, this.rate.perSecond / 2) };
  }

  private tend(lease: CallLease, now: number): void {
    const idleMs = now - lease.lastTakenAt;
    const isIdle = idleMs > (lease.terms.clipped ? tightIdleMs : idleAfterMs);
    const isSpent = lease.available === 0 && lease.inFlight === 0;
    if (isIdle || isSpent || !lease.isUsable(now) || now - lease.startedAt > oldAfterMs) {
      // In flight calls keep the lease; what is not handed out goes back all the same.
      lease.retired = true;
      if (lease.inFlight === 0) return void this.report(lease, { release: true });
      if (lease.available > 0) return void this.report(lease, { giveBack: true });
    }
    const isDue = now - lease.lastSettledAt > (lease.terms.clipped ? tightIdleMs : settleEveryMs);
    if ((lease.hasUnbooked && isDue) || (lease.needsWord(now) && isDue)) void this.report(lease, {});
  }

  private async report(lease: CallLease, how: { release?: boolean; giveBack?: boolean }): Promise<void> {
    const isRepeat = lease.hasFailed && performance.now() - lease.lastSettledAt < settleEveryMs;
    if (isRepeat) return;
    try {
      await lease.settle(this.options.billing, how);
      lease.hasFailed = false;
    } catch (error) {
      if (!lease.hasFailed)
        this.options.logger.warn(
          { err: error, account_id: this.accountId },
          'calls could not be booked; they will be reported again',
        );
      lease.hasFailed = true;
    }
  }

  private isAway(): boolean {
    return performance.now() < this.awayUntil;
  }

  private requirePaid(isWrite: boolean): void {
    if (!isWrite || performance.now() < this.writesBlockedAt) return;
    const why =
      this.billing?.billing_status === 'cancelled'
        ? 'The account is cancelled: changes are blocked, reads work.'
        : 'Payment is overdue by more than 7 days: changes are blocked until it arrives, reads work.';
    throw new ServiceError('payment_overdue', why, { headers: this.headers() });
  }

  private allowanceExceeded(): ServiceError {
    const seconds = Math.max(1, Math.ceil((this.period.endsAt - performance.now()) / 1000));
    return new ServiceError('allowance_exceeded', "This month's allowance of API calls is used up.", {
      headers: { ...this.headers(), 'X-Allowance-Remaining': '0', 'Retry-After': String(seconds) },
    });
  }
}
