// Runs the jobs of a lane: takes them from the queue when a message says "look" and every few seconds besides, keeps their leases
// alive, and decides what a failure means: given up, or tried again.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorKind, ServiceError, toServiceError } from '@almanac/service-kit/errors';
import { carrierOf, tracing } from '@almanac/service-kit/observability/tracing/tracing';
import { toPostgresError } from '@almanac/service-kit/postgres/errors';
import type { JobsContext } from '../context.ts';
import { type Transaction, transact } from '../transaction.ts';
import { endRun, type Job, type JobKind, type LaneName, LeaseLost, type laneOf, renewLease, takeJobs } from './jobs.ts';

export type JobHandler = {
  /** Does the work and commits its result together with `endRun`. `signal` aborts when the lease is lost or the service stops. */
  run(job: Job, signal: AbortSignal): Promise<void>;
  /**
   * Asked before the work is given up, where an attempt may have had an effect that nobody heard of: true when it had, and the job has
   * ended by that; false when it had none and never will.
   */
  settle?(job: Job, signal: AbortSignal): Promise<boolean>;
  /** Marks the subject as failed, in the transaction that ends the job. */
  fail(tx: Transaction, job: Job, reasons: string[]): Promise<void>;
  /** Marks the subject as waiting for the next attempt. */
  wait(tx: Transaction, job: Job, reason: string): Promise<void>;
};

/** One handler for each kind of job that keeps to the lane. */
type Handlers<L extends LaneName> = {
  [K in JobKind as (typeof laneOf)[K] extends L ? K : never]: JobHandler;
};

export type Lane<L extends LaneName> = {
  name: L;
  /** Jobs of the lane this instance runs at once. */
  concurrency: number;
  /** How many more it runs when they are of accounts of which no job runs: others' long ones don't keep those waiting. */
  spare: number;
  /** Jobs of one account in the lane that run at once, in all instances together. */
  concurrencyPerAccount: number;
  /** What the growing pauses before another attempt end at. */
  longestPauseMs: number;
  handlers: Handlers<L>;
};

export type Worker = { start(): void; stop(): Promise<void>; look(): void };

/** A reason that the next attempt would meet again. */
const definitive: readonly ErrorKind[] = [
  'bad_request',
  'forbidden',
  'not_found',
  'too_large',
  'validation_failed',
  'already_exists',
  'wrong_state',
  'precondition_failed',
];

/** Too many attempts of the job ended without a word. */
class Interrupted extends ServiceError {
  constructor(attempts: number) {
    super('internal', `It was interrupted ${attempts} times and is given up.`);
  }
}

type WorkerContext = Pick<JobsContext, 'prisma' | 'pool' | 'logger' | 'work'>;

export function createWorker<L extends LaneName>(ctx: WorkerContext, lane: Lane<L>): Worker {
  const { pool, logger, work } = ctx;
  const { leaseMs, giveUpAfterSeconds } = work;
  const { concurrency, spare, concurrencyPerAccount } = lane;
  const taking = { lane: lane.name, leaseMs, concurrencyPerAccount, giveUpAfterSeconds };
  const handlers = lane.handlers as Partial<Record<JobKind, JobHandler>>;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let nudge = new AbortController();
  let loop: Promise<void> | undefined;

  const look = () => nudge.abort();

  const poll = async () => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      nudge = new AbortController(); // renewed before looking, so that what comes meanwhile is looked for again
      try {
        const free = Math.max(0, concurrency - running.size);
        const room = { free, spare: concurrency + spare - running.size - free };
        const taken = room.free + room.spare > 0 ? await takeJobs(pool, room, taking) : [];
        failures = 0;
        for (const job of taken) begin(job);
        if (taken.length > 0 && running.size < concurrency + spare) continue;
      } catch (error) {
        failures += 1;
        if (failures === 1) logger.warn({ err: error }, 'the work queue could not be read; it will be tried again');
      }
      const either = AbortSignal.any([nudge.signal, stopping.signal]);
      await sleep(work.pollMs, undefined, { signal: either }).catch(() => {});
    }
  };

  const begin = (job: Job) => {
    const handler = handlers[job.kind] as JobHandler; // nothing else was asked for
    const done = runOne(ctx, lane, handler, job, stopping.signal)
      .catch((error: unknown) => logger.error({ err: error, job_id: job.id }, 'a job ended without a trace'))
      .finally(() => {
        running.delete(done);
        look();
      });
    running.add(done);
  };

  return {
    look,
    start: () => {
      loop ??= poll();
    },
    stop: async () => {
      stopping.abort(new ServiceError('unavailable', 'The service stops; the job will go on elsewhere.'));
      await loop;
      await Promise.all(running);
    },
  };
}

/** What every line about a job says; the request is the one that asked for it. */
const factsOf = ({ id, kind, subject_id, account_id, request_id }: Job) => ({
  job_id: id,
  kind,
  subject_id,
  account_id,
  request_id: request_id ?? undefined,
});

async function runOne(
  ctx: WorkerContext,
  lane: Pick<Lane<LaneName>, 'longestPauseMs'>,
  handler: JobHandler,
  job: Job,
  stopping: AbortSignal,
): Promise<void> {
  const { logger, work } = ctx;
  const about = factsOf(job);
  const lost = new AbortController();
  const beating = keepAlive(ctx, job, lost);
  const startedAt = performance.now();
  const signal = AbortSignal.any([lost.signal, stopping]);
  try {
    if (job.attempts > work.attempts) throw new Interrupted(work.attempts);
    await runTraced(handler, job, signal);
    logger.info({ ...about, attempt: job.attempts, ms: Math.round(performance.now() - startedAt) }, 'job done');
  } catch (thrown) {
    if (thrown instanceof LeaseLost || lost.signal.aborted) {
      logger.warn(about, 'the job was taken over');
      return;
    }
    await judge(ctx, lane, handler, job, thrown, { stopping, signal });
  } finally {
    clearInterval(beating);
  }
}

// The work is a part of the call that asked for it, however much later it is done.
function runTraced(handler: JobHandler, job: Job, signal: AbortSignal): Promise<void> {
  if (!tracing) return handler.run(job, signal);
  const facts = { 'almanac.job_id': job.id, 'almanac.request_id': job.request_id ?? undefined };
  const options = { kind: 'consumer', name: `job ${job.kind}`, parent: carrierOf(job.traceparent), facts } as const;
  return tracing.run(options, () => handler.run(job, signal));
}

// A lease that can't be renewed is lost when its time is over, also to ourselves.
function keepAlive(ctx: Pick<JobsContext, 'pool' | 'work'>, job: Job, lost: AbortController): NodeJS.Timeout {
  const { leaseMs } = ctx.work;
  let renewedAt = performance.now();
  return setInterval(async () => {
    const askedAt = performance.now();
    const ours = await renewLease(ctx.pool, job, leaseMs).catch(() => undefined);
    if (ours) renewedAt = askedAt;
    if (ours === false || performance.now() - renewedAt > leaseMs) lost.abort(new LeaseLost());
  }, leaseMs / 4);
}

async function judge(
  ctx: Pick<JobsContext, 'prisma' | 'logger' | 'work'>,
  { longestPauseMs }: Pick<Lane<LaneName>, 'longestPauseMs'>,
  handler: JobHandler,
  job: Job,
  thrown: unknown,
  { stopping, signal }: { stopping: AbortSignal; signal: AbortSignal },
): Promise<void> {
  const { logger, work } = ctx;
  const error = toServiceError(toPostgresError(thrown));
  const about = { err: error.cause ?? error, ...factsOf(job) };
  const again = (afterMs: number, counted: boolean) =>
    end(ctx, job, { state: 'queued', error: error.message, afterMs, counted }, (tx) =>
      handler.wait(tx, job, error.message),
    );
  const fail = async (reasons: string[]) => {
    const outcome = await settle(ctx, handler, job, signal);
    if (outcome === 'unknown') return again(Math.min(work.retryMs * 2 ** job.deferrals, longestPauseMs), false);
    if (outcome === 'nothing done')
      await end(ctx, job, { state: 'failed', error: reasons.join(' ') }, (tx) => handler.fail(tx, job, reasons));
  };

  if (stopping.aborted) return again(0, false);
  if (definitive.includes(error.kind)) return fail(error.errors);
  const away = error.kind === 'unavailable';
  const tries = away ? job.deferrals + 1 : job.attempts;
  const pause = Math.min(work.retryMs * 2 ** (tries - 1), longestPauseMs);
  if (away && Date.now() < job.give_up_at.getTime()) {
    logger.warn(about, 'the job waits for what is not available');
    return again(pause, false);
  }
  if (!away && job.attempts < work.attempts) {
    logger.error(about, 'the job failed and will be tried again');
    return again(pause, true);
  }
  logger.error(about, 'the job is given up');
  return fail(error.errors);
}

// An end that might be untrue is none: it is put off for as long as nobody can say what the work has done.
async function settle(
  { logger }: Pick<JobsContext, 'logger'>,
  handler: JobHandler,
  job: Job,
  signal: AbortSignal,
): Promise<'done' | 'nothing done' | 'unknown'> {
  try {
    return (await handler.settle?.(job, signal)) ? 'done' : 'nothing done';
  } catch (thrown) {
    logger.warn({ err: thrown, ...factsOf(job) }, 'it is not known yet what the job has done');
    return 'unknown';
  }
}

async function end(
  ctx: Pick<JobsContext, 'prisma' | 'logger'>,
  job: Job,
  ending: Parameters<typeof endRun>[2],
  mark: (tx: Transaction) => Promise<void>,
): Promise<void> {
  try {
    await transact(ctx, async (tx) => {
      await mark(tx);
      await endRun(tx, job, ending);
    });
  } catch (error) {
    // The lease runs out, and somebody takes the job up again.
    if (!(error instanceof LeaseLost))
      ctx.logger.warn({ err: error, job_id: job.id }, 'the end of a run could not be noted');
  }
}
