// The attempts to apply a change. The process that works on one holds a lease; when the lease has
// run out, after a crash, another process claims the attempt and resumes it.

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../context.ts';
import { callerFor } from '../requests/requester.ts';
import type { Transaction } from '../transaction.ts';
import { type Machine, type Noun, wordOf } from './approval-states.ts';
import { findApplier } from './change-history.ts';

const pollMs = 200;

export const maxTries = 5;

type Attempt = { id: number; number: number };

const runningState = ({ transitions, apply }: Machine) => transitions[apply]?.to;

/** Renews the lease; does nothing when the attempt is over or another one has begun. */
export async function renewLease(
  db: Pick<Transaction, '$queryRawUnsafe' | '$executeRawUnsafe'>,
  ctx: MetadataContext,
  machine: Machine,
  { id, number }: Attempt,
): Promise<void> {
  await prismaSql(db)(
    `update ${machine.noun} set lease_until = now() + make_interval(secs => $1::float8)
     where id = $2::int and attempt = $3::int and status = $4`,
    [ctx.timing.leaseMs / 1000, id, number, runningState(machine)],
  );
}

/** Releases a lease early: the next process need not wait for it, only for so many seconds. */
export async function releaseLease(
  ctx: MetadataContext,
  machine: Machine,
  { id, number }: Attempt,
  retryAfterSeconds: number,
): Promise<void> {
  await prismaSql(ctx.prisma)(
    `update ${machine.noun} set lease_until = least(lease_until, now() + make_interval(secs => $1::float8))
     where id = $2::int and attempt = $3::int and status = $4`,
    [retryAfterSeconds, id, number, runningState(machine)],
  );
}

// A refusal, or a fault that remained after the last try.
const isOutcome = (error: unknown, tries: number): error is ServiceError =>
  error instanceof ServiceError && error.kind !== 'unavailable' && (error.status < 500 || tries >= maxTries);

/** Works on an attempt, and renews its lease until the work is over. */
export async function underLease<T>(
  ctx: MetadataContext,
  machine: Machine,
  attempt: Attempt,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    renewLease(ctx.prisma, ctx, machine, attempt).catch((error) =>
      ctx.logger.warn({ err: error, [`${machine.noun}_id`]: attempt.id }, 'a lease could not be renewed'),
    );
  }, ctx.timing.leaseMs / 3);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/**
 * Works on an attempt under its lease, and answers why the change was not applied; undefined: it
 * was, or is not over. An error that is an outcome goes to `fail` with its reasons, `fault` for a
 * fault; after any other error the attempt is resumed later.
 */
export async function runAttempt(
  ctx: MetadataContext,
  machine: Machine,
  attempt: Attempt & { tries: number },
  { work, fail, fault }: AttemptWork,
): Promise<ServiceError | undefined> {
  const { noun } = machine;
  try {
    return await underLease(ctx, machine, attempt, work);
  } catch (error) {
    if (isOutcome(error, attempt.tries)) return fail(error.status < 500 ? error.errors : [fault]);
    ctx.logger.warn({ err: error, [`${noun}_id`]: attempt.id }, `the outcome of a ${wordOf(noun)} is not known yet`);
    await releaseLease(ctx, machine, attempt, Math.min(attempt.tries, 10));
    return undefined;
  }
}

type AttemptWork = {
  work(): Promise<ServiceError | undefined>;
  fail(reasons: string[]): Promise<ServiceError>;
  fault: string;
};

/** `tries`: how often it was claimed; `input`: what it was begun with; `caller`: who began it. */
export type ClaimedAttempt<Input> = Attempt & { tries: number; input: Input; caller: RpcCaller };

// Where the input of a running attempt is stored.
const inputColumns = { deployment: 'wanted', promotion: 'asked', change_request: 'asked' } as const satisfies Record<
  Noun,
  string
>;

/** Claims a running attempt whose lease has run out; undefined when there is none. */
export async function claimAttempt<Input>(
  ctx: MetadataContext,
  machine: Machine,
  id: number,
): Promise<ClaimedAttempt<Input> | undefined> {
  const { noun } = machine;
  const { rows } = await prismaSql(ctx.prisma)(
    `update ${noun} set lease_until = now() + make_interval(secs => $1::float8), tries = tries + 1
     where id = $2::int and status = $3 and lease_until <= now()
     returning account_id, attempt, tries, ${inputColumns[noun]} as input`,
    [ctx.timing.leaseMs / 1000, id, runningState(machine)],
  );
  const [claimed] = rows;
  if (!claimed) return undefined;
  const { account_id, attempt, tries, input } = claimed;
  ctx.logger.info({ [`${noun}_id`]: id, tries }, `resuming a ${wordOf(noun)} that was interrupted`);
  const caller = callerFor(account_id, await findApplier(ctx.prisma, machine, id));
  return { id, number: attempt, tries, input, caller };
}

/** The ids of changes whose attempt has no lease any more, longest ago first. */
export async function listExpiredAttempts(ctx: MetadataContext, machine: Machine, limit: number): Promise<number[]> {
  const { rows } = await prismaSql(ctx.prisma)(
    `select id from ${machine.noun} where status = $1 and lease_until <= now() order by lease_until limit $2::int`,
    [runningState(machine), limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Waits until a change is no longer being applied, at most `waitMs`; resumes it when its lease runs
 * out.
 */
export async function waitForEnd(
  ctx: MetadataContext,
  machine: Machine,
  id: number,
  resume: (ctx: MetadataContext, id: number) => Promise<void>,
  deadline: number = Date.now() + ctx.timing.waitMs,
): Promise<void> {
  const { noun } = machine;
  while (Date.now() < deadline) {
    const { rows } = await prismaSql(ctx.prisma)(`select status from ${noun} where id = $1::int`, [id]);
    if (rows[0]?.status !== runningState(machine)) return;
    await resume(ctx, id).catch((error) =>
      ctx.logger.warn({ err: error, [`${noun}_id`]: id }, `a ${wordOf(noun)} could not be resumed`),
    );
    await sleep(pollMs);
  }
}
