// Dead letters: messages that jobs failed to handle. Operators see how many there are and retry
// them.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';

/** The name by which operators retry all of them. */
export const deadLetters = 'dead-letters';

/** The number of dead letters of each queue that has some. */
export async function countDeadLetters(bus: Bus): Promise<{ queue: string; messages: number }[]> {
  const counts = await Promise.all(
    bus.queues().map(async (queue) => ({ queue, messages: await bus.deadLetters(queue) })),
  );
  return counts.filter(({ messages }) => messages > 0);
}

/** Puts all of them back into their queues; answers how many, as text. */
export async function redeliver(bus: Bus): Promise<string> {
  const counts = await Promise.all(bus.queues().map((queue) => bus.redeliver(queue)));
  return `${counts.reduce((sum, count) => sum + count, 0)} messages`;
}
