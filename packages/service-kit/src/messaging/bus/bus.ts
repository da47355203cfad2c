// The bus: services announce events and take work over it. Two transports with one behaviour
// (bus.suite.ts): RabbitMQ, or PostgreSQL on one machine (create-bus.ts).

import type { BusMessage, ConsumeOptions, SubscribeOptions } from './message.ts';
import type { HandlerOf, Payloads } from './received-message.ts';

export type { BusMessage, BusOptions } from './message.ts';

export type Bus = {
  /** Connects, and reconnects until `stop`. Waits a bounded time for the first connection. */
  start(): Promise<void>;
  /** Resolves when the broker has stored all messages. When it rejects, some may be stored. */
  publish(messages: BusMessage[]): Promise<void>;
  /**
   * Consumes messages of the types in `payloads` from a durable queue that all instances of the
   * service share. A message is done when its handler returns, and retried with a delay when it
   * throws. After the last attempt it becomes a dead letter; at once, if it doesn't match
   * `payloads` or the handler throws `UnreadableMessageError`. Messages can come twice
   * (`receiveOnce`) and out of order. A handler has 30 minutes.
   */
  consume<P extends Payloads>(
    queue: string,
    payloads: P,
    handler: HandlerOf<P>,
    options?: ConsumeOptions,
  ): Promise<void>;
  /** Delivers messages to every instance while it is connected; drops malformed ones. */
  subscribe<P extends Payloads>(payloads: P, handler: HandlerOf<P>, options?: SubscribeOptions): Promise<void>;
  /** The queues that this instance consumes. */
  queues(): string[];
  /** The number of a queue's dead letters. */
  deadLetters(queue: string): Promise<number>;
  /** Moves dead letters back into their queue and returns their number. One can come twice. */
  redeliver(queue: string): Promise<number>;
  isReady(): boolean;
  /** Stops consuming, waits a bounded time for running handlers, and closes. */
  stop(): Promise<void>;
};
