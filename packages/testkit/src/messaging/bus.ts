// The bus as tests take part in it: heard from the first word on, and what a queue brings noted once.
import type { Bus, BusMessage } from '@almanac/service-kit/messaging/bus/bus';
import { samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { createBus } from '@almanac/service-kit/messaging/create-bus';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { z } from 'zod';
import { eventually } from '../eventually.ts';

/** For whoever only looks at what is announced. */
export const anyPayload = z.looseObject({});

/** Connects as this service; what is announced from now on is heard. A bus started alone may need a moment more. */
export async function startBus(url: string, service: string): Promise<Bus> {
  const logger = createLogger(service, 'silent');
  const bus = createBus(url, { service, instance: `${service}-test`, logger });
  await bus.start();
  await eventually(() => {
    if (!bus.isReady()) throw new Error('The bus is not ready.');
  });
  return bus;
}

/**
 * Takes messages from a queue of its own. The bus brings each at least once and promises no order: here each is once, and they
 * stand in the order in which they were announced.
 */
export async function gather<T extends object = BusMessage>(
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
