// What exists in RabbitMQ: the exchange `almanac`; for each consumer a queue and its `.dead` queue; and, shared by all, one
// waiting room per retry pause, from which a message returns to the queue it came from. All of it survives the broker.
import type { Channel, Options } from 'amqplib';
import { retryDelaysSeconds } from '../bus/message.ts';

export const exchange = 'almanac';

// RabbitMQ refuses to declare a queue with other arguments than it has: changing one of these needs a new name.
const durable = { durable: true, arguments: { 'x-queue-type': 'quorum' } } satisfies Options.AssertQueue;

export const deadQueueOptions: Options.AssertQueue = durable;

/** The waiting room for a pause; messages keep the routing key they are published with, the name of their queue. */
export function retryExchange(seconds: number): string {
  return `${exchange}.retry.${seconds}`;
}

/** Declares what all consumers and publishers share. Declaring again changes nothing. */
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
        // Without it the broker may lose a message on its way from one queue to the other.
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
      },
    });
    await channel.bindQueue(name, name, '');
  }
}

/** Declares a consumer's queue, its dead letters, and the types it takes. */
export async function declareQueue(channel: Channel, queue: string, types: string[]): Promise<void> {
  await channel.assertQueue(`${queue}.dead`, deadQueueOptions);
  await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      // A message that takes its consumer down each time; failures that are caught are counted by the consumer.
      'x-delivery-limit': 20,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': `${queue}.dead`,
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    },
  });
  for (const type of types) await channel.bindQueue(queue, exchange, type);
}
