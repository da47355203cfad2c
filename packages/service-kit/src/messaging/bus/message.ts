// Messages of the bus, and the rules of both transports.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/**
 * A message. Receivers ignore unknown members; `v` changes only when old receivers couldn't read
 * it.
 */
export type BusMessage = {
  v: 1;
  id: string;
  type: string;
  occurred_at: string;
  payload: Record<string, unknown>;
  request_id?: string;
  /** The W3C trace context of the publisher, while calls are traced. */
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
  /** Called after each (re)connect: messages may have been missed, so read the current state. */
  onConnected?: () => Promise<void> | void;
};

export type BusOptions = {
  service: string;
  instance: string;
  logger: Logger;
  /** Called for each malformed message, with its queue or `subscriber`. */
  onUnreadable?: ((place: string) => void) | undefined;
};

/** Stands for the queue of a subscription, which has no dead letters. */
export const subscriberPlace = 'subscriber';

export const defaultAttempts = 5;
export const publishTimeoutMs = 10_000;
export const stopTimeoutMs = 20_000;

/** The delays before the second, third … attempt; the last one repeats. They outlast a restart. */
export const retryDelaysSeconds = [1, 5, 20, 60] as const;

/** The delay after attempt number `attempt` (from 1) has failed. */
export function retryDelaySeconds(attempt: number): number {
  return retryDelaysSeconds[Math.min(attempt, retryDelaysSeconds.length) - 1] as number;
}

/**
 * Work is requested (`jobs.import.requested`), an event has happened (`jobs.import.finished`). An
 * event without a consumer is done. Work without one is never dropped: its publisher keeps it until
 * the queue exists.
 */
export function isWork(type: string): boolean {
  return type.endsWith('.requested');
}

/** Some work has no queue yet. The bus has stored the other messages of the same `publish`. */
export class UnroutableError extends Error {
  readonly ids: string[];

  constructor(messages: BusMessage[]) {
    super(`No queue takes ${[...new Set(messages.map(({ type }) => type))].join(', ')} yet.`);
    this.name = 'UnroutableError';
    this.ids = messages.map(({ id }) => id);
  }
}

/** The message is malformed: it becomes a dead letter without a retry. */
export class UnreadableMessageError extends Error {}

/** The reason of a dead letter, bounded and valid for any broker. */
export function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return reason.replaceAll('\0', '').slice(0, 500).toWellFormed();
}

/** The attempt that a message states; 1 when it is no count of this bus. */
export function attemptOf(stated: unknown): number {
  return Number.isSafeInteger(stated) && (stated as number) >= 1 ? (stated as number) : 1;
}

/** Calls a subscriber's `onConnected` until it succeeds or its connection is no longer current. */
export async function resync(options: SubscribeOptions, isCurrent: () => boolean, logger: Logger): Promise<void> {
  for (let failures = 0; isCurrent(); failures += 1) {
    try {
      await options.onConnected?.();
      return;
    } catch (error) {
      if (failures === 0) logger.warn({ err: error }, 'reading the state after a reconnect failed; trying again');
      await sleep(Math.min(200 * 2 ** failures, 5_000), undefined, { ref: false });
    }
  }
}

/** Resolves true when all promises settle in time. */
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
