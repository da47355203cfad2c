// What is appended to the logs of accounts, as PostgreSQL notifies it: one connection of a process
// for all that follow the log.
import type { Logger } from '@almanac/service-kit/observability/logger';
import { DatabaseListener } from '@almanac/service-kit/postgres/listener';
import type { Part } from '@almanac/service-kit/process/part';
import type pg from 'pg';
import { eventsChannel } from './append-events.ts';

type Subscriber = {
  onAppend(accountId: number): void;
  /** Appends may have been missed. */
  onConnected(): void;
};

export type Appends = Required<Part> & {
  /** Calls the subscriber until the process ends. */
  subscribe(subscriber: Subscriber): void;
};

/** The part that listens while the service runs. */
export function createAppends(pool: pg.Pool, logger: Logger): Appends {
  const subscribers: Subscriber[] = [];
  const { connectionString = '', application_name = '' } = pool.options;
  const listener = new DatabaseListener({
    url: connectionString,
    name: `${application_name}-events`,
    channel: eventsChannel,
    logger,
    onNotify: (payload) => subscribers.forEach((subscriber) => void subscriber.onAppend(Number(payload))),
    onConnected: () => subscribers.forEach((subscriber) => void subscriber.onConnected()),
  });
  return {
    name: 'appends to the log',
    subscribe: (subscriber) => subscribers.push(subscriber),
    start: async () => listener.start(),
    stop: () => listener.stop(),
  };
}
