// One queue's consumer in one instance. It fetches messages up to its concurrency, handles them
// concurrently, and completes, retries or buries each. Notifications wake it; it also polls.

import type pg from 'pg';
import type { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { InterruptibleSleep } from '../../interruptible-sleep.ts';
import { withTransaction } from '../../postgres/database.ts';
import {
  attemptOf,
  defaultAttempts,
  type Handler,
  reasonOf,
  retryDelaySeconds,
  settleWithin,
  UnreadableMessageError,
} from '../bus/message.ts';
import { type Payloads, readMessage, typeOf } from '../bus/received-message.ts';
import { exclusively } from './schema.ts';

// Notifications wake the consumer; polls find what was due later, or taken by a dead process.
const pollMs = 10_000;
const heartbeatSeconds = 10; // the least that pg-boss takes
const touchMs = 2_500;
const daySeconds = 86_400;
// After so many crashes of its consumer's process a message becomes a dead letter; attempts count
// failures of the handler.
const maxCrashes = 20;

/** As this bus writes it. Other clients of the database may write anything. */
type Data = Partial<Record<'message' | 'attempt', unknown>> | null;
type Job = { id: string; data: Data };

type ConsumerOptions = {
  queue: string;
  payloads: Payloads;
  handler: Handler;
  concurrency?: number;
  attempts?: number;
  pool: pg.Pool;
  logger: Logger;
  onUnreadable?: ((place: string) => void) | undefined;
};

export class QueueConsumer {
  /** The queue exists. */
  isPrepared = false;
  readonly prepared: Promise<void>;
  private readonly options: ConsumerOptions;
  private readonly logger: Logger;
  private readonly pause = new InterruptibleSleep();
  private readonly running = new Map<string, Promise<void>>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private markPrepared = () => {};
  private looping: Promise<void> | undefined;
  private stopping = false;

  constructor(options: ConsumerOptions) {
    this.options = options;
    this.logger = options.logger.child({ queue: options.queue });
    this.prepared = new Promise((resolve) => {
      this.markPrepared = resolve;
    });
  }

  get queue(): string {
    return this.options.queue;
  }

  start(boss: PgBoss): void {
    if (!this.stopping) this.looping ??= this.loop(boss);
  }

  takes(type: string): boolean {
    return Object.hasOwn(this.options.payloads, type);
  }

  wake(): void {
    this.pause.end();
  }

  /** Stops consuming and waits for running handlers. A message that takes longer is redelivered. */
  async stop(withinMs: number): Promise<void> {
    this.stopping = true;
    this.wake();
    await this.looping;
    const ended = await settleWithin(this.running.values(), withinMs);
    if (!ended) this.logger.warn({ messages: [...this.running.keys()] }, 'stopped while messages were being handled');
    for (const timer of this.timers) clearTimeout(timer);
  }

  private async loop(boss: PgBoss): Promise<void> {
    const { concurrency = 1 } = this.options;
    let failures = 0;
    const heartbeat = setInterval(() => this.touch(boss), touchMs);
    this.timers.add(heartbeat);
    while (!this.stopping) {
      try {
        if (!this.isPrepared) await this.prepare(boss);
        const room = concurrency - this.running.size;
        const jobs = room > 0 ? await boss.fetch<Data>(this.options.queue, { batchSize: room }) : [];
        for (const job of jobs) this.begin(boss, job);
        failures = 0;
        if (jobs.length < room || room === 0) await this.pause.wait(pollMs);
      } catch (error) {
        failures += 1;
        if (failures === 1 && !this.stopping) this.logger.warn({ err: error }, 'can not read the queue; trying again');
        await this.pause.wait(Math.min(100 * 2 ** failures, pollMs));
      }
    }
  }

  private async prepare(boss: PgBoss): Promise<void> {
    const { queue, payloads, pool } = this.options;
    const dead = `${queue}.dead`;
    await exclusively(pool, async () => {
      await boss.createQueue(dead, { retentionSeconds: 365 * daySeconds });
      await boss.createQueue(queue, {
        deadLetter: dead,
        retryLimit: maxCrashes,
        heartbeatSeconds,
        expireInSeconds: daySeconds,
        retentionSeconds: 365 * daySeconds,
        deleteAfterSeconds: daySeconds, // so long a message that is published again is recognised
      });
      for (const type of Object.keys(payloads)) await boss.subscribe(type, queue);
    });
    this.isPrepared = true;
    this.markPrepared();
  }

  private begin(boss: PgBoss, job: Job): void {
    const run = this.handle(boss, job).finally(() => {
      this.running.delete(job.id);
      this.wake();
    });
    this.running.set(job.id, run);
  }

  private async handle(boss: PgBoss, job: Job): Promise<void> {
    const { queue, payloads, handler } = this.options;
    try {
      const message = readMessage(payloads, job.data?.message);
      // Undefined: a type that an older release has subscribed the queue to.
      if (message) await handler(message);
    } catch (error) {
      await this.retryOrBury(boss, job, error).catch((failure) => this.abandon(job, failure));
      return;
    }
    await boss.complete(queue, job.id).catch((failure) => this.abandon(job, failure));
  }

  // Replaces a failed message by its next attempt or by a dead letter, in one transaction.
  private async retryOrBury(boss: PgBoss, job: Job, error: unknown): Promise<void> {
    const { queue, pool, attempts = defaultAttempts, onUnreadable } = this.options;
    const message = job.data?.message ?? job.data;
    const attempt = attemptOf(job.data?.attempt);
    const isUnreadable = error instanceof UnreadableMessageError;
    const isLast = attempt >= attempts || isUnreadable;
    const delay = retryDelaySeconds(attempt);
    this.logger.warn(
      {
        err: error,
        message: job.id,
        type: typeOf(message)?.slice(0, 200),
        attempt,
        retryInSeconds: isLast ? undefined : delay,
      },
      isLast ? 'a message became a dead letter' : 'a message could not be handled',
    );
    await withTransaction(pool, async (_sql, client) => {
      const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
      const reason = reasonOf(error);
      if (isLast) await boss.insert(`${queue}.dead`, [{ data: { message, attempt, reason } }], { db, returnId: false });
      else
        await boss.insert(queue, [{ data: { message, attempt: attempt + 1 }, startAfter: delay }], {
          db,
          returnId: false,
        });
      await boss.complete(queue, job.id, null, { db });
    });
    if (isUnreadable) onUnreadable?.(queue);
    if (isLast || this.stopping) return;
    const timer = setTimeout(
      () => {
        this.timers.delete(timer);
        this.wake();
      },
      delay * 1000 + 20,
    );
    this.timers.add(timer);
  }

  // A message without a recorded outcome gets no more heartbeats, and is redelivered.
  private abandon(job: Job, error: unknown): void {
    this.logger.warn(
      { err: error, message: job.id },
      'could not record the outcome of a message; it will be redelivered',
    );
  }

  private touch(boss: PgBoss): void {
    const ids = [...this.running.keys()];
    if (ids.length > 0) boss.touch(this.options.queue, ids).catch(() => {}); // the next one may reach the database again
  }
}
