// Admits the calls of one account: each takes a call from a lease, which billing grants ahead of
// time, and is counted when it is answered (docs/adr/0005-call-leases.md).
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReserveCallsResponse__Output as Reserved } from '@almanac/protos/generated/almanac/billing/v1/ReserveCallsResponse.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { AccountLeases } from './account-leases.ts';
import { Allowance } from './allowance.ts';
import { type BillingClient, CallLease, usableMs } from './call-lease.ts';

export type MeterOptions = {
  billing: BillingClient;
  gatewayId: string;
  graceCalls: number;
  reserveDeadlineMs: number;
  logger: Logger;
};

/** An admitted call. It ends exactly once: counted or put back. */
export type Ticket = { meter: AccountMeter; lease: CallLease; ended: boolean };

type CallFacts = { method: string; resource: string; applicationId: number };

const minLease = 20;
const maxLease = 2_000;
/** A lease is sized for the calls of this time. */
const secondsOfCallsALease = 5;
/** Billing is not asked again for this time after it failed. */
const unreachableForMs = 1_000;
/** Billing is not asked again for this time after it had no calls left. */
const exhaustedForMs = 1_000;
/** A call waits this long for calls that other gateways hold. */
const waitForOthersMs = 2_500;
const retryMs = 50;

const unavailable = () => new ServiceError('unavailable', 'Calls can not be counted at the moment; retry later.');

export class AccountMeter {
  readonly accountId: number;
  lastUsedAt = performance.now();
  private readonly options: MeterOptions;
  private readonly leases: AccountLeases;
  private readonly allowance = new Allowance((reportedAt) => this.leases.heldCalls(reportedAt));
  /** The account may have changed: billing must be asked before the next call. */
  private stale = true;
  /**
   * The number of changes announced so far: an answer that was requested before one stays stale.
   */
  private changes = 0;
  private reserving: Promise<void> | undefined;
  private unreachableUntil = 0;
  private exhaustedUntil = 0;
  /**
   * Calls that other gateways hold, or that this one has not returned yet: they may become free.
   */
  private heldCalls = 0;
  /** How many calls this gateway has returned. */
  private returned = 0;
  private waiting = 0;
  private taken = 0;
  private rate = { taken: 0, at: performance.now(), perSecond: 0 };

  constructor(accountId: number, options: MeterOptions) {
    this.accountId = accountId;
    this.options = options;
    this.leases = new AccountLeases({ accountId, ...options });
  }

  get branching(): boolean {
    return this.allowance.branching;
  }

  get storageBytes(): number | undefined {
    return this.allowance.storageBytes;
  }

  /** The allowance headers of an answer. */
  headers(): Record<string, string> {
    return this.allowance.headers();
  }

  /** Admits a call without waiting; undefined when that needs `admit`. Throws 402. */
  tryAdmit(isWrite: boolean): Ticket | undefined {
    if (this.stale) return undefined;
    this.allowance.requirePaid(isWrite);
    return this.take();
  }

  /**
   * Admits a call; 402 when writes are blocked, 429 when no call is left, 503 when billing can't
   * say.
   */
  async admit(isWrite: boolean): Promise<Ticket> {
    const waitUntil = performance.now() + waitForOthersMs;
    this.waiting += 1;
    try {
      for (;;) {
        while (this.stale && !this.isUnreachable()) await this.reserve();
        this.allowance.requirePaid(isWrite);
        const ticket = this.take();
        if (ticket) return ticket;
        const now = performance.now();
        if (this.isUnreachable()) return this.takeGrace(now);
        if (now < this.exhaustedUntil) {
          if (this.heldCalls === 0) throw this.allowance.exceeded();
          if (now >= waitUntil) {
            // Other gateways keep the last calls: for a second, later calls are refused without
            // waiting.
            this.exhaustedUntil = now + exhaustedForMs;
            this.heldCalls = 0;
            throw this.allowance.exceeded();
          }
          await sleep(retryMs);
        } else if (now >= waitUntil + waitForOthersMs) throw unavailable();
        await this.reserve();
      }
    } finally {
      this.waiting -= 1;
    }
  }

  /**
   * Admits a call that takes none of the allowance; 402 when writes are blocked. While billing is
   * unreachable its last answer holds.
   */
  async admitUncounted(isWrite: boolean): Promise<void> {
    this.lastUsedAt = performance.now();
    while (this.stale && !this.isUnreachable()) await this.reserve();
    this.allowance.requirePaid(isWrite);
  }

  /** Ends a call that was answered; some statuses don't count. */
  count(ticket: Ticket, status: number, facts: CallFacts): void {
    if (ticket.ended) return;
    ticket.ended = true;
    if (status >= 500 || status === 429 || status === 402) ticket.lease.putBack();
    else ticket.lease.count(facts.method, facts.resource, facts.applicationId);
  }

  /** Ends a call that was not served. */
  putBack(ticket: Ticket): void {
    if (ticket.ended) return;
    ticket.ended = true;
    ticket.lease.putBack();
  }

  /** The account has changed: asks billing before the next call, and retires the present leases. */
  invalidate(): void {
    this.stale = true;
    this.changes += 1;
    this.exhaustedUntil = 0;
    this.leases.retire();
  }

  /** Reports all calls that were counted so far. */
  settle(): Promise<void> {
    return this.leases.settle();
  }

  /** Maintains the leases. Called a few times a second; true while leases are left. */
  maintain(now: number): boolean {
    this.measureRate(now);
    return this.leases.maintain(now);
  }

  /** Reports all counted calls and returns all others, for the end of the process. */
  close(): Promise<void> {
    this.invalidate();
    return this.leases.close();
  }

  private take(): Ticket | undefined {
    const now = performance.now();
    this.lastUsedAt = now;
    const lease = this.leases.take(now);
    if (!lease) return undefined;
    this.taken += 1;
    this.reserveAhead(lease, now);
    return { meter: this, lease, ended: false };
  }

  private takeGrace(now: number): Ticket {
    const lease = this.leases.takeGrace(now);
    if (!lease) throw unavailable();
    return { meter: this, lease, ended: false };
  }

  // Requests the next lease long before this one is used up, so that busy accounts never wait.
  private reserveAhead(lease: CallLease, now: number): void {
    if (this.reserving || lease.available * 2 > lease.terms.granted || lease.terms.isPartial) return;
    if (now < this.exhaustedUntil || this.isUnreachable()) return;
    if (this.leases.usableCalls(now) < this.leaseSize() / 2) void this.reserve();
  }

  private reserve(): Promise<void> {
    this.reserving ??= this.requestLease().finally(() => {
      this.reserving = undefined;
    });
    return this.reserving;
  }

  private async requestLease(): Promise<void> {
    const sentAt = performance.now();
    const wanted = this.leaseSize();
    const { changes, returned } = this;
    const { billing, gatewayId, reserveDeadlineMs, logger } = this.options;
    try {
      const answer = await billing.ReserveCalls(
        { accountId: this.accountId },
        { gateway_id: gatewayId, wanted },
        { deadlineMs: reserveDeadlineMs, waitForReady: false },
      );
      this.applyAnswer(answer, { sentAt, wanted, isCurrent: this.changes === changes });
      if (Number(answer.granted) > 0) return;
      // Calls that this gateway itself keeps from billing must not lead to a refusal.
      await this.leases.returnUnusable();
      // If calls were returned or the account changed since the request, there may be calls again.
      if (this.returned !== returned || this.changes !== changes) return;
      this.heldCalls = Number(answer.held_elsewhere) + this.leases.unreturnedCalls();
      this.exhaustedUntil = performance.now() + (this.heldCalls > 0 ? retryMs : exhaustedForMs);
    } catch (error) {
      const wasUnreachable = this.unreachableUntil > 0;
      this.unreachableUntil = performance.now() + unreachableForMs;
      if (!wasUnreachable)
        logger.warn({ err: error, account_id: this.accountId }, 'billing is unreachable; the grace is used');
    }
  }

  private applyAnswer(
    answer: Reserved,
    { sentAt, wanted, isCurrent }: { sentAt: number; wanted: number; isCurrent: boolean },
  ): void {
    this.allowance.update(answer, sentAt);
    this.stale = !isCurrent;
    this.unreachableUntil = 0;
    const granted = Number(answer.granted);
    if (granted === 0) return;
    this.exhaustedUntil = 0;
    const { periodEndsAt } = this.allowance;
    const lease = new CallLease(
      {
        id: answer.lease_id,
        accountId: this.accountId,
        granted,
        usableUntil: Math.min(sentAt + usableMs(answer.expires_in_seconds), periodEndsAt),
        periodEndsAt,
        isPartial: granted < wanted,
        clockOffsetMs: Date.parse(answer.server_time) - sentAt,
      },
      (calls, reportMadeAt) => this.onReturned(calls, reportMadeAt),
    );
    // Granted by the terms before the change, like the leases that `invalidate` retired.
    lease.retired = !isCurrent;
    this.leases.add(lease);
  }

  private onReturned(calls: number, reportMadeAt: number): void {
    this.allowance.addReturned(calls, reportMadeAt);
    this.returned += calls;
    this.exhaustedUntil = 0;
  }

  private leaseSize(): number {
    const calls = Math.ceil(this.rate.perSecond * secondsOfCallsALease);
    return Math.min(Math.max(minLease, calls, this.waiting), maxLease);
  }

  private measureRate(now: number): void {
    const seconds = (now - this.rate.at) / 1000;
    if (seconds < 1) return;
    const perSecond = (this.taken - this.rate.taken) / seconds;
    this.rate = { taken: this.taken, at: now, perSecond: Math.max(perSecond, this.rate.perSecond / 2) };
  }

  private isUnreachable(): boolean {
    return performance.now() < this.unreachableUntil;
  }
}
