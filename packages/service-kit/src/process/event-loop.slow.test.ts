import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@almanac/testkit/eventually';
import { watchEventLoop } from './event-loop.ts';

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('the event loop', () => {
  const limitMs = 200;

  it('is late while it comes round late again and again, and no longer than that', async () => {
    const loop = watchEventLoop(limitMs);
    try {
      expect(loop.isLate()).toBe(false);
      for (let round = 0; round < 100 && !loop.isLate(); round += 1) {
        block(2 * limitMs);
        await sleep(1);
      }
      expect(loop.isLate()).toBe(true);
      await eventually(() => expect(loop.isLate()).toBe(false));
    } finally {
      loop.stop();
    }
  });

  it('is not late for one long piece of work', async () => {
    const loop = watchEventLoop(1_000);
    try {
      block(2_000);
      for (let round = 0; round < 20; round += 1) {
        await sleep(50);
        expect(loop.isLate()).toBe(false);
      }
    } finally {
      loop.stop();
    }
  });
});
