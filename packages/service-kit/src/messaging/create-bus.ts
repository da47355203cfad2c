// Creates the bus: chooses its transport by the URL, and adds tracing.
import { traceBus } from '../observability/tracing/calls.ts';
import { tracing } from '../observability/tracing/tracing.ts';
import { createAmqpBus } from './amqp/bus.ts';
import type { Bus } from './bus/bus.ts';
import type { BusOptions } from './bus/message.ts';
import { createPostgresBus } from './postgres/bus.ts';

/** Nothing is connected before `start`. */
export function createBus(url: string, options: BusOptions): Bus {
  const bus = createTransport(url, options);
  return tracing ? traceBus(tracing, bus) : bus;
}

/** Whether the bus is a server of its own, not the database. */
export const isBroker = (url: string): boolean => ['amqp:', 'amqps:'].includes(new URL(url).protocol);

function createTransport(url: string, options: BusOptions): Bus {
  if (isBroker(url)) return createAmqpBus(url, options);
  const { protocol } = new URL(url);
  if (protocol === 'postgres:' || protocol === 'postgresql:') return createPostgresBus(url, options);
  throw new Error(`There is no bus for ${protocol}//; use amqp:// or postgres://.`);
}
