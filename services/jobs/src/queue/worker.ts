// Runs the jobs of a lane: polls the queue, at once when a message arrives, keeps leases alive, and
// decides whether a failed job is retried or given up.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorKind, ServiceError, toServiceError } from '@almanac/service-kit/errors';
import { carrierOf, tracing } from '@almanac/service-kit/observability/tracing/tracing';
import { toPostgresError } from '@almanac/service-kit/postgres/errors';
import type { JobsContext } from '../context.ts';
import { type Transaction, transact } from '../transaction.ts';
import { endRun, type Job, type JobKind, type LaneName, LeaseLost, type laneOf, renewLease, takeJobs } from './jobs.ts';

export type JobHandler = {
  /**
   * Does the work and commits its result together with `endRun`. `signal` aborts when the lease is
   * lost or the service stops.
   */
  run(job: Job, signal: AbortSignal): Promise<void>;
  /**
   * Called before a job is given up whose earlier attempt may have committed without an answer.
   * True: that attempt took effect, and its result has ended the job. False: it had no effect and
   * never will.
   */
  resolveOutcome?(job: Job, signal: AbortSignal): Promise<boolean>;
  /** Marks the subject as failed, in the transaction that ends the job. */
  fail(tx: Transaction, job: Job, reasons: string[]): Promise<void>;
  /** Marks the subject as waiting for the next attempt. */
  wait(tx: Transaction, job: Job, reason: string): Promise<void>;
};

/** A handler for each kind of job of the lane. */
type Handlers<L extends LaneName> = {
  [K in JobKind as (typeof laneOf)[K] extends L ? K : never]: JobHandler;
};

export type Lane<L extends LaneName> = {
  name: L;
  /** Jobs of the lane this instance runs at once. */
  concurrency: number;
  /**
   * Extra slots for accounts that have no running job, so that long jobs of others don't block
   * them.
   */
  spare: number;
  /** Jobs of one account in the lane that run at once, across all instances. */
  concurrencyPerAccount: number;
  /** The upper bound of the growing pause between attempts. */
  maxPauseMs: number;
  handlers: Handlers<L>;
};

export type Worker = { start(): void; stop(): Promise<void>; wake(): void };

/** Errors that a retry would meet again. */
const permanentErrors: readonly ErrorKind[] = [
  'bad_request',
  'forbidden',
  'not_found',
  'too_large',
  'validation_failed',
  'already_exists',
  'wrong_state',
  'precondition_failed',
];

/** The job was interrupted too often. */
class InterruptedTooOften extends ServiceError {
  constructor(attempts: number) {
    super('internal', `It was interrupted ${attempts} times and is given up.`);
  }
}

type WorkerContext = Pick<JobsContext, 'prisma' | 'pool' | 'logger' | 'work'>;

/** A worker that runs the jobs of one lane on this instance. */
export function createWorker<L extends LaneName>(ctx: WorkerContext, lane: Lane<L>): Worker {
  const { pool, logger, work } = ctx;
  const { leaseMs, giveUpAfterSeconds } = work;
  const { concurrency, spare, concurrencyPerAccount } = lane;
  const taking = { lane: lane.name, leaseMs, concurrencyPerAccount, giveUpAfterSeconds };
  const handlers = lane.handlers as Partial<Record<JobKind, JobHandler>>;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let wakeSignal = new AbortController();
  let loop: Promise<void> | undefined;

  const wake = () => wakeSignal.abort();

  const poll = async () => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      // Replaced before the poll, so that a wake-up during it causes another poll.
      wakeSignal = new AbortController();
      try {
        const free = Math.max(0, concurrency - running.size);
        const capacity = { free, spare: concurrency + spare - running.size - free };
        const taken = capacity.free + capacity.spare > 0 ? await takeJobs(pool, capacity, taking) : [];
        failures = 0;
        for (const job of taken) startJob(job);
        if (taken.length > 0 && running.size < concurrency + spare) continue;
      } catch (error) {
        failures += 1;
        if (failures === 1) logger.warn({ err: error }, 'the work queue could not be read; it will be tried again');
      }
      const either = AbortSignal.any([wakeSignal.signal, stopping.signal]);
      await sleep(work.pollMs, undefined, { signal: either }).catch(() => {});
    }
  };

  const startJob = (job: Job) => {
    const handler = handlers[job.kind] as JobHandler; // only kinds of this lane are taken
    const done = runJob(ctx, lane, handler, job, stopping.signal)
      .catch((error: unknown) => logger.error({ err: error, job_id: job.id }, 'a job ended without a recorded outcome'))
      .finally(() => {
        running.delete(done);
        wake();
      });
    running.add(done);
  };

  return {
    wake,
    start: () => {
      loop ??= poll();
    },
    stop: async () => {
      stopping.abort(new ServiceError('unavailable', 'The service is stopping; another instance will run the job.'));
      await loop;
      await Promise.all(running);
    },
  };
}

/** Log fields of a job; the request id is that of the call that queued it. */
const logFields = ({ id, kind, subject_id, account_id, request_id }: Job) => ({
  job_id: id,
  kind,
  subject_id,
  account_id,
  request_id: request_id ?? undefined,
});

async function runJob(
  ctx: WorkerContext,
  lane: Pick<Lane<LaneName>, 'maxPauseMs'>,
  handler: JobHandler,
  job: Job,
  stopping: AbortSignal,
): Promise<void> {
  const { logger, work } = ctx;
  const about = logFields(job);
  const lost = new AbortController();
  const renewal = renewPeriodically(ctx, job, lost);
  const startedAt = performance.now();
  const signal = AbortSignal.any([lost.signal, stopping]);
  try {
    if (job.attempts > work.attempts) throw new InterruptedTooOften(work.attempts);
    await runTraced(handler, job, signal);
    logger.info({ ...about, attempt: job.attempts, ms: Math.round(performance.now() - startedAt) }, 'job done');
  } catch (thrown) {
    if (thrown instanceof LeaseLost || lost.signal.aborted) {
      logger.warn(about, 'another run has taken the job');
      return;
    }
    await handleFailure(ctx, lane, handler, job, thrown, { stopping, signal });
  } finally {
    clearInterval(renewal);
  }
}

// The span of a job continues the trace of the call that queued it.
function runTraced(handler: JobHandler, job: Job, signal: AbortSignal): Promise<void> {
  if (!tracing) return handler.run(job, signal);
  const facts = { 'almanac.job_id': job.id, 'almanac.request_id': job.request_id ?? undefined };
  const options = { kind: 'consumer', name: `job ${job.kind}`, parent: carrierOf(job.traceparent), facts } as const;
  return tracing.run(options, () => handler.run(job, signal));
}

// A lease that could not be renewed within its time counts as lost.
function renewPeriodically(ctx: Pick<JobsContext, 'pool' | 'work'>, job: Job, lost: AbortController): NodeJS.Timeout {
  const { leaseMs } = ctx.work;
  let renewedAt = performance.now();
  return setInterval(async () => {
    const askedAt = performance.now();
    const ours = await renewLease(ctx.pool, job, leaseMs).catch(() => undefined);
    if (ours) renewedAt = askedAt;
    if (ours === false || performance.now() - renewedAt > leaseMs) lost.abort(new LeaseLost());
  }, leaseMs / 4);
}

async function handleFailure(
  ctx: Pick<JobsContext, 'prisma' | 'logger' | 'work'>,
  { maxPauseMs }: Pick<Lane<LaneName>, 'maxPauseMs'>,
  handler: JobHandler,
  job: Job,
  thrown: unknown,
  { stopping, signal }: { stopping: AbortSignal; signal: AbortSignal },
): Promise<void> {
  const { logger, work } = ctx;
  const error = toServiceError(toPostgresError(thrown));
  const about = { err: error.cause ?? error, ...logFields(job) };
  const retryLater = (afterMs: number, counted: boolean) =>
    recordEnd(ctx, job, { state: 'queued', error: error.message, afterMs, counted }, (tx) =>
      handler.wait(tx, job, error.message),
    );
  const fail = async (by: 'caller' | 'system', reasons: string[]) => {
    const outcome = await resolveOutcome(ctx, handler, job, signal);
    if (outcome === 'unknown') return retryLater(Math.min(work.retryMs * 2 ** job.deferrals, maxPauseMs), false);
    if (outcome === 'nothing done')
      await recordEnd(ctx, job, { state: 'failed', error: reasons.join(' '), by }, (tx) =>
        handler.fail(tx, job, reasons),
      );
  };

  if (stopping.aborted) return retryLater(0, false);
  if (permanentErrors.includes(error.kind)) return fail('caller', error.errors);
  const isUnavailable = error.kind === 'unavailable';
  const tries = isUnavailable ? job.deferrals + 1 : job.attempts;
  const pause = Math.min(work.retryMs * 2 ** (tries - 1), maxPauseMs);
  if (isUnavailable && Date.now() < job.give_up_at.getTime()) {
    logger.warn(about, 'the job waits for an unavailable service');
    return retryLater(pause, false);
  }
  if (!isUnavailable && job.attempts < work.attempts) {
    logger.error(about, 'the job failed and will be tried again');
    return retryLater(pause, true);
  }
  logger.error(about, 'the job is given up');
  return fail('system', error.errors);
}

// Don't record an outcome that isn't known yet; retry later.
async function resolveOutcome(
  { logger }: Pick<JobsContext, 'logger'>,
  handler: JobHandler,
  job: Job,
  signal: AbortSignal,
): Promise<'done' | 'nothing done' | 'unknown'> {
  try {
    return (await handler.resolveOutcome?.(job, signal)) ? 'done' : 'nothing done';
  } catch (thrown) {
    logger.warn({ err: thrown, ...logFields(job) }, 'the outcome of the job is not known yet');
    return 'unknown';
  }
}

async function recordEnd(
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
    // The lease will expire, and another run takes the job.
    if (!(error instanceof LeaseLost))
      ctx.logger.warn({ err: error, job_id: job.id }, 'the outcome of a run could not be recorded');
  }
}
