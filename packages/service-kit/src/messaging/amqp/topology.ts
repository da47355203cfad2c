// The topology in RabbitMQ: the exchange `almanac`; for each consumer a queue and its `.dead`
// queue; and, shared by all, a delay queue for each retry delay, from which a message returns to
// its queue. All of it is durable.
import type { Channel, Options } from 'amqplib';
import { retryDelaysSeconds } from '../bus/message.ts';

export const exchange = 'almanac';

// RabbitMQ refuses to redeclare a queue with other arguments: a change needs a new name.
const durable = { durable: true, arguments: { 'x-queue-type': 'quorum' } } satisfies Options.AssertQueue;

export const deadQueueOptions: Options.AssertQueue = durable;

/** The exchange of a delay queue. A message's routing key is the name of its own queue. */
export function retryExchange(seconds: number): string {
  return `${exchange}.retry.${seconds}`;
}

/** Declares what all consumers and publishers share. Idempotent. */
export async function declareTopology(channel: Channel): Promise<void> {
  await channel.assertExchange(exchange, 'topic', { durable: true });
  for (const seconds of retryDelaysSeconds) {
    const name = retryExchange(seconds);
    await channel.assertExchange(name, 'fanout', { durable: true });
    await channel.assertQueue(name, {
      durable: true,
      arguments: {
        'x-queue-type': 'quorum',
        'x-message-ttl': seconds * 1000,
        'x-dead-letter-exchange': '',
        // Without it the broker may lose a message between two queues.
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
      },
    });
    await channel.bindQueue(name, name, '');
  }
}

/** Declares a consumer's queue and its `.dead` queue, and binds the message types. */
export async function declareQueue(channel: Channel, queue: string, types: string[]): Promise<void> {
  await channel.assertQueue(`${queue}.dead`, deadQueueOptions);
  await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      // For a message that crashes its consumer; the consumer itself counts caught failures.
      'x-delivery-limit': 20,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': `${queue}.dead`,
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    },
  });
  for (const type of types) await channel.bindQueue(queue, exchange, type);
}
