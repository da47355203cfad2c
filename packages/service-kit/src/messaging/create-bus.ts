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

async function createTransport(url: string, options: BusOptions): Promise<Bus> {
  const { protocol } = new URL(url);
  if (protocol === 'amqp:' || protocol === 'amqps:') return (await import('./amqp/bus.ts')).createAmqpBus(url, options);
  if (protocol === 'postgres:' || protocol === 'postgresql:')
    return (await import('./postgres/bus.ts')).createPostgresBus(url, options);
  throw new Error(`There is no bus for ${protocol}//; use amqp:// or postgres://.`);
}
