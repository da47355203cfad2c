// Sends the deliveries of all accounts: each instance takes what is due, and sends many at once.
// Events of the log wake it, and so does the time at which the next attempt is due.
import { setTimeout as sleep } from 'node:timers/promises';
import { InterruptibleSleep } from '@almanac/service-kit/interruptible-sleep';
import type { Part } from '@almanac/service-kit/process/part';
import type { JobsContext } from '../../context.ts';
import type { Appends } from '../../events/appends.ts';
import { signedHeaders, type WebhookSecrets } from '../secrets/webhook-secrets.ts';
import type { Reach } from '../sending/endpoint-url.ts';
import { type Outcome, sendingBounds, sendMessage } from '../sending/send-message.ts';
import { fanOut } from './fan-out.ts';
import { messageBody } from './message-body.ts';
import { type AttemptResult, recordAttempt } from './record-attempt.ts';
import { readRowChanges } from './row-changes.ts';
import { giveBack, readNextDue, renewLeases, type TakenDelivery, takeDeliveries } from './take-deliveries.ts';

// Receivers that don't answer hold a place for 15 s; the spare ones are for other accounts.
const sentAtOnce = 50;
const spareForOthers = 25;
const limits = { perAccount: 10, perEndpoint: 5 };
const lookAgainMs = 1_000;
/** How long a stop waits for messages that are being sent. */
const graceMs = 5_000;

type DispatcherContext = Pick<JobsContext, 'pool' | 'data' | 'logger' | 'work'>;
type Options = { appends: Appends; secrets: WebhookSecrets; reach: Reach; sendMs: number };

export type Dispatcher = Part & {
  /** Attempts since the start, by what became of them. */
  results: Record<AttemptResult, number>;
};

/** The part that sends deliveries while the service runs. */
export function createDispatcher(ctx: DispatcherContext, options: Options): Dispatcher {
  const { pool, logger, work } = ctx;
  const results = { delivered: 0, retried: 0, failed: 0 };
  const idle = new InterruptibleSleep();
  const stopping = new AbortController();
  const sending = new Map<TakenDelivery, Promise<void>>();
  let mayHaveEvents = true;
  let looksAgain = false;
  const wake = () => {
    mayHaveEvents = true;
    looksAgain = true;
    idle.end();
  };
  options.appends.subscribe({ onAppend: wake, onConnected: wake });
  let running: Promise<void> | undefined;
  let isEnding = false;
  let renewal: NodeJS.Timeout | undefined;

  const round = async (): Promise<boolean> => {
    const isAsked = mayHaveEvents;
    mayHaveEvents = false;
    if (isAsked && (await fanOut(pool))) mayHaveEvents = true;
    const free = Math.max(0, sentAtOnce - sending.size);
    const spare = sentAtOnce + spareForOthers - sending.size - free;
    const taken = free + spare > 0 ? await takeDeliveries(pool, { free, spare }, limits, work.leaseMs) : [];
    for (const delivery of taken) {
      const done = deliver(ctx, options, delivery, stopping.signal)
        .then((result) => {
          if (result) results[result] += 1;
        })
        .catch((error: unknown) =>
          logger.error({ err: error, delivery_id: delivery.id }, 'a delivery was not recorded'),
        )
        .finally(() => {
          sending.delete(delivery);
          idle.end();
        });
      sending.set(delivery, done);
    }
    return mayHaveEvents || taken.length > 0;
  };
  // A notification may be lost, so the log is read again after each pause that nothing ended. Soon
  // after a notification, too: another instance may have held an endpoint before the event came.
  const pause = async () => {
    const due = (await readNextDue(pool)) ?? work.pollMs;
    const pauseMs = Math.min(Math.max(due, 50), looksAgain ? lookAgainMs : work.pollMs);
    const startedAt = performance.now();
    await idle.wait(pauseMs);
    if (performance.now() - startedAt < pauseMs) return;
    mayHaveEvents = true;
    looksAgain = false;
  };
  const run = async () => {
    let failures = 0;
    while (!isEnding) {
      try {
        if (await round()) continue;
        failures = 0;
        await pause();
      } catch (error) {
        failures += 1;
        mayHaveEvents = true;
        if (failures === 1) logger.warn({ err: error }, 'deliveries could not be read; they will be tried again');
        await idle.wait(Math.min(100 * 2 ** failures, 10_000));
      }
    }
  };
  const renew = () => {
    const runs = [...sending.keys()].map(({ run_id }) => run_id);
    if (runs.length > 0)
      renewLeases(pool, runs, work.leaseMs).catch((error: unknown) =>
        logger.warn({ err: error }, 'leases of deliveries could not be renewed'),
      );
  };

  return {
    name: 'webhooks',
    results,
    start: async () => {
      renewal = setInterval(renew, work.leaseMs / 4);
      running ??= run();
    },
    stop: async () => {
      isEnding = true;
      wake();
      await running;
      await Promise.race([Promise.all(sending.values()), sleep(graceMs, undefined, { ref: false })]);
      stopping.abort();
      await Promise.all(sending.values());
      clearInterval(renewal);
    },
  };
}

// The log has neither the URL nor the body nor what the receiver answered.
async function deliver(
  ctx: DispatcherContext,
  options: Options,
  delivery: TakenDelivery,
  stopping: AbortSignal,
): Promise<AttemptResult | undefined> {
  const { pool, logger, work } = ctx;
  const outcome = await send(ctx, options, delivery, stopping).catch((error: unknown): Outcome => {
    logger.error({ err: error, delivery_id: delivery.id }, 'a delivery could not be made');
    return { error: 'The message could not be made.', durationMs: 0 };
  });
  if (stopping.aborted && outcome.status === undefined) {
    await giveBack(pool, delivery);
    return undefined;
  }
  const result = await recordAttempt(pool, delivery, outcome, work.retryMs);
  const { id, endpoint_id, account_id, attempts } = delivery;
  const facts = { delivery_id: id, endpoint_id, account_id, attempt: attempts, ms: outcome.durationMs };
  logger.info({ ...facts, status: outcome.status, result: result ?? 'taken by another run' }, 'webhook sent');
  return result;
}

async function send(
  ctx: DispatcherContext,
  { secrets, reach, sendMs }: Options,
  delivery: TakenDelivery,
  stopping: AbortSignal,
): Promise<Outcome> {
  const { endpoint_id, secret, previous_secret, message_id: id, url } = delivery;
  const body = messageBody(delivery, await readRowChanges(ctx, delivery));
  if (body === undefined) return { error: 'The log no longer has the event.', durationMs: 0 };
  const sealed = [secret, ...(previous_secret ? [previous_secret] : [])];
  const keys = sealed.map((each) => secrets.open(endpoint_id, each));
  const headers = signedHeaders(keys, { id, at: new Date(), body });
  const bounds = { ...sendingBounds, totalMs: sendMs };
  return sendMessage({ url, headers, body }, reach, { bounds, stopping });
}
