// Creates the bus: chooses its transport by the URL, loads only that one, and adds tracing.

import { traceBus } from '../observability/tracing/calls.ts';
import { tracing } from '../observability/tracing/tracing.ts';
import type { Bus } from './bus/bus.ts';
import type { BusOptions } from './bus/message.ts';

/** Nothing is connected before `start`. */
export async function createBus(url: string, options: BusOptions): Promise<Bus> {
  const bus = await createTransport(url, options);
  return tracing ? traceBus(tracing, bus) : bus;
}

/** Whether the bus is a server of its own, not the database. */
export const isBroker = (url: string): boolean => ['amqp:', 'amqps:'].includes(new URL(url).protocol);

async function createTransport(url: string, options: BusOptions): Promise<Bus> {
  if (isBroker(url)) return (await import('./amqp/bus.ts')).createAmqpBus(url, options);
  const { protocol } = new URL(url);
  if (protocol === 'postgres:' || protocol === 'postgresql:')
    return (await import('./postgres/bus.ts')).createPostgresBus(url, options);
  throw new Error(`There is no bus for ${protocol}//; use amqp:// or postgres://.`);
}
