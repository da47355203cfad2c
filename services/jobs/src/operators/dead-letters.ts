// Messages to jobs that nobody could handle: operators see how many there are, and have them tried again.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';

/** What operators call them all. */
export const deadLetters = 'dead-letters';

/** How many there are, by queue. */
export async function countDeadLetters(bus: Bus): Promise<{ queue: string; messages: number }[]> {
  const counts = await Promise.all(
    bus.queues().map(async (queue) => ({ queue, messages: await bus.deadLetters(queue) })),
  );
  return counts.filter(({ messages }) => messages > 0);
}

/** Has all of them tried again; answers in words how many. */
export async function redeliver(bus: Bus): Promise<string> {
  const counts = await Promise.all(bus.queues().map((queue) => bus.redeliver(queue)));
  return `${counts.reduce((sum, count) => sum + count, 0)} messages`;
}
