// What travels on the bus, and the rules both transports keep.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** One announcement. Receivers ignore what they don't know; `v` changes only when old receivers could no longer read it. */
export type BusMessage = {
  v: 1;
  id: string;
  type: string;
  occurred_at: string;
  payload: Record<string, unknown>;
  request_id?: string;
  /** The W3C trace context of what announced it, while calls are traced. */
  traceparent?: string;
};

export type Handler = (message: BusMessage) => Promise<void> | void;

export type ConsumeOptions = {
  /** How many messages an instance handles at once. */
  concurrency?: number;
  /** How often a message is tried before it becomes a dead letter. */
  attempts?: number;
};

export type SubscribeOptions = {
  /** After each (re)connect: what was announced meanwhile was not heard, so the caller reads the present state anew. */
  onConnected?: () => Promise<void> | void;
};

export type BusOptions = {
  service: string;
  instance: string;
  logger: Logger;
  /** Told of each message that nobody can read, with the queue it was in, or `subscriber`. */
  onUnreadable?: ((place: string) => void) | undefined;
};

/** Where those who only listen hear: there are no dead letters. */
export const subscriberPlace = 'subscriber';

export const defaultAttempts = 5;
export const publishTimeoutMs = 10_000;
export const stopTimeoutMs = 20_000;

/** The pauses before the second, third … attempt; the last one repeats. Long enough together for a dependency's restart. */
export const retryDelaysSeconds = [1, 5, 20, 60] as const;

/** How long to wait after attempt number `attempt` (from 1) has failed. */
export function retryDelaySeconds(attempt: number): number {
  return retryDelaysSeconds[Math.min(attempt, retryDelaysSeconds.length) - 1] as number;
}

/**
 * Work is asked for (`jobs.import.requested`), an event is told (`jobs.import.finished`). An event that nobody wants is done
 * with; work that nobody takes is never dropped: its publisher keeps it until the queue exists.
 */
export function isWork(type: string): boolean {
  return type.endsWith('.requested');
}

/** Work for which no queue exists yet. The other messages of the same `publish` are held by the bus. */
export class UnroutableError extends Error {
  readonly ids: string[];

  constructor(messages: BusMessage[]) {
    super(`No queue takes ${[...new Set(messages.map(({ type }) => type))].join(', ')} yet.`);
    this.name = 'UnroutableError';
    this.ids = messages.map(({ id }) => id);
  }
}

/** Thrown by a handler that will never understand a message: trying again is in vain, it becomes a dead letter at once. */
export class UnreadableMessageError extends Error {}

/** Why a message was given up, short and fit for any broker. */
export function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return reason.replaceAll('\0', '').slice(0, 500).toWellFormed();
}

/** Which attempt a message says it is: a count of ours, or the first. */
export function attemptOf(said: unknown): number {
  return Number.isSafeInteger(said) && (said as number) >= 1 ? (said as number) : 1;
}

/** Calls `onConnected` of a subscriber until it succeeds or `isCurrent` says that the connection it was for has gone. */
export async function resync(options: SubscribeOptions, isCurrent: () => boolean, logger: Logger): Promise<void> {
  for (let failures = 0; isCurrent(); failures += 1) {
    try {
      await options.onConnected?.();
      return;
    } catch (error) {
      if (failures === 0) logger.warn({ err: error }, 'reading the state anew after a reconnect failed; trying again');
      await sleep(Math.min(200 * 2 ** failures, 5_000), undefined, { ref: false });
    }
  }
}

/** Resolves true when all handlers end in time. */
export async function settleWithin(running: Iterable<Promise<unknown>>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const done = Promise.allSettled([...running]).then(() => true);
  const inTime = await Promise.race([done, late]);
  clearTimeout(timer);
  return inTime;
}
