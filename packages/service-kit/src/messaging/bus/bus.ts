// The bus: how services announce and take work. Two transports, one behaviour (bus.suite.ts): RabbitMQ, or PostgreSQL when the
// system runs on one machine (create-bus.ts).

import type { BusMessage, ConsumeOptions, SubscribeOptions } from './message.ts';
import type { HandlerOf, Payloads } from './received-message.ts';

export type { BusMessage, BusOptions } from './message.ts';

export type Bus = {
  /** Begins to connect and goes on until `stop`, whatever happens to the broker; waits a moment for the first connection. */
  start(): Promise<void>;
  /** Resolves when the broker holds all of the messages durably; rejects otherwise, some may be held then. */
  publish(messages: BusMessage[]): Promise<void>;
  /**
   * Takes messages of the types that `payloads` name from a durable queue that all instances of the service share. A message is done when the
   * handler returns, comes again after a pause when it throws, and goes to the dead letters after the last attempt, or at once
   * when it is not what `payloads` say or the handler will never understand it (`UnreadableMessageError`). It can come twice (`receiveOnce`), and out of order. A handler should be done within 30 minutes.
   */
  consume<P extends Payloads>(
    queue: string,
    payloads: P,
    handler: HandlerOf<P>,
    options?: ConsumeOptions,
  ): Promise<void>;
  /** Hears messages of these types from now on, in every instance; nothing is kept while it isn't connected, and what can't be read is dropped. */
  subscribe<P extends Payloads>(payloads: P, handler: HandlerOf<P>, options?: SubscribeOptions): Promise<void>;
  /** The queues it consumes. */
  queues(): string[];
  /** How many messages of a queue were given up. */
  deadLetters(queue: string): Promise<number>;
  /** Puts the messages that were given up back into their queue, to be tried anew; answers how many. One can come twice. */
  redeliver(queue: string): Promise<number>;
  isReady(): boolean;
  /** Takes nothing more, waits (bounded) for the handlers that run, and closes. */
  stop(): Promise<void>;
};
