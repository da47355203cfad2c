// A bus connection for tests, and collected messages.
import type { Bus, BusMessage } from '@almanac/service-kit/messaging/bus/bus';
import { samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { createBus } from '@almanac/service-kit/messaging/create-bus';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { z } from 'zod';
import { eventually } from '../eventually.ts';

/** Accepts any payload: for tests that only collect messages. */
export const anyPayload = z.looseObject({});

/** Connects as this service, and waits until the bus is ready: it receives all later messages. */
export async function startBus(url: string, service: string): Promise<Bus> {
  const logger = createLogger(service, 'silent');
  const bus = await createBus(url, { service, instance: `${service}-test`, logger });
  await bus.start();
  await eventually(() => {
    if (!bus.isReady()) throw new Error('The bus is not ready.');
  });
  return bus;
}

/**
 * Collects the messages of these types from a queue of its own. The bus delivers at least once and
 * in no promised order; the list has each message once, in the order of their times.
 */
export async function collectMessages<T extends object = BusMessage>(
  bus: Bus,
  queue: string,
  types: string[],
  read = (message: BusMessage) => message as unknown as T,
): Promise<T[]> {
  const known = new Set<string>();
  const announcedAt = new Map<T, string>();
  const items: T[] = [];
  const at = (item: T) => announcedAt.get(item) ?? '';
  await bus.consume(queue, samePayload(types, anyPayload), (message) => {
    if (known.has(message.id)) return;
    known.add(message.id);
    const item = read(message);
    announcedAt.set(item, message.occurred_at);
    items.push(item);
    items.sort((a, b) => (at(a) < at(b) ? -1 : Number(at(a) > at(b))));
  });
  return items;
}
