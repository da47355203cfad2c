// One queue's consumer in one instance. It acknowledges a message after its handler has finished,
// or after the broker has confirmed its next attempt or dead letter.
import type { ConfirmChannel, ConsumeMessage, Options } from 'amqplib';
import type { Logger } from 'pino';
import {
  attemptOf,
  type BusMessage,
  defaultAttempts,
  type Handler,
  reasonOf,
  retryDelaySeconds,
  settleWithin,
  UnreadableMessageError,
} from '../bus/message.ts';
import { type Payloads, parseJson, readMessage } from '../bus/received-message.ts';
import { declareQueue, retryExchange } from './topology.ts';

type ConsumerOptions = {
  queue: string;
  payloads: Payloads;
  handler: Handler;
  concurrency?: number;
  attempts?: number;
  logger: Logger;
  onUnreadable?: ((place: string) => void) | undefined;
};

export class AmqpConsumer {
  private readonly options: ConsumerOptions;
  private readonly logger: Logger;
  private readonly running = new Set<Promise<void>>();
  private cancel: () => Promise<unknown> = async () => {};
  private stopping = false;

  constructor(options: ConsumerOptions) {
    this.options = options;
    this.logger = options.logger.child({ queue: options.queue });
  }

  get queue(): string {
    return this.options.queue;
  }

  /** Declares the queue and begins to consume. Called for each new channel. */
  async setUp(channel: ConfirmChannel): Promise<void> {
    const { queue, payloads, concurrency = 1 } = this.options;
    await declareQueue(channel, queue, Object.keys(payloads));
    await channel.prefetch(concurrency);
    const { consumerTag } = await channel.consume(queue, (delivery) => this.take(channel, delivery));
    this.cancel = () => channel.cancel(consumerTag);
  }

  /** Stops consuming and waits for running handlers. A message that takes longer is redelivered. */
  async stop(withinMs: number): Promise<void> {
    this.stopping = true;
    await settleWithin([this.cancel().catch(() => {})], 1_000); // with no connection there is nothing to cancel
    const ended = await settleWithin(this.running, withinMs);
    if (!ended) this.logger.warn({ messages: this.running.size }, 'stopped while messages were being handled');
  }

  private take(channel: ConfirmChannel, delivery: ConsumeMessage | null): void {
    // The broker cancelled the consumer (the queue was deleted or moved): a new channel redeclares
    // it.
    if (!delivery) return void channel.close().catch(() => {});
    if (this.stopping) return; // not acknowledged: another instance gets it
    const run = this.handle(channel, delivery).catch((error) => {
      this.logger.warn({ err: error }, 'could not acknowledge a message; it will be redelivered');
    });
    this.running.add(run);
    run.finally(() => this.running.delete(run));
  }

  private async handle(channel: ConfirmChannel, delivery: ConsumeMessage): Promise<void> {
    let message: BusMessage | undefined;
    try {
      message = readMessage(this.options.payloads, parseJson(delivery.content));
      // Undefined: a type that an older release has bound to the queue.
      if (message) await this.options.handler(message);
    } catch (error) {
      await this.retryOrBury(channel, delivery, message, error);
    }
    channel.ack(delivery);
  }

  private async retryOrBury(
    channel: ConfirmChannel,
    delivery: ConsumeMessage,
    message: BusMessage | undefined,
    error: unknown,
  ): Promise<void> {
    const { queue, attempts = defaultAttempts, onUnreadable } = this.options;
    const attempt = attemptOf(delivery.properties.headers?.['x-attempt']);
    const isUnreadable = error instanceof UnreadableMessageError;
    const isLast = attempt >= attempts || isUnreadable;
    const delay = retryDelaySeconds(attempt);
    const { contentType, timestamp } = delivery.properties;
    const { id: messageId = delivery.properties.messageId, type = delivery.properties.type } = message ?? {};
    this.logger.warn(
      { err: error, message: messageId, type, attempt, retryInSeconds: isLast ? undefined : delay },
      isLast ? 'a message became a dead letter' : 'a message could not be handled',
    );
    const headers = isLast ? { 'x-attempt': attempt, 'x-reason': reasonOf(error) } : { 'x-attempt': attempt + 1 };
    const target = isLast ? { exchange: '', key: `${queue}.dead` } : { exchange: retryExchange(delay), key: queue };
    await publishConfirmed(channel, target.exchange, target.key, delivery.content, {
      headers,
      messageId,
      type,
      contentType,
      timestamp,
      persistent: true,
    });
    if (isUnreadable) onUnreadable?.(queue);
  }
}

function publishConfirmed(
  channel: ConfirmChannel,
  exchange: string,
  key: string,
  content: Buffer,
  options: Options.Publish,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Without this, a channel that closes would leave the promise pending.
    const onClose = () => reject(new Error('the channel closed'));
    channel.once('close', onClose);
    channel.publish(exchange, key, content, options, (error) => {
      channel.removeListener('close', onClose);
      if (error) reject(error);
      else resolve();
    });
  });
}
