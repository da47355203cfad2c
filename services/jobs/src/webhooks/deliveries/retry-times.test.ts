import { pauseAfter, triedForDays } from './retry-times.ts';

const pauses = Array.from({ length: 40 }, (_, index) => pauseAfter(index + 1, 1_000, 0, 0));

describe('the pauses between attempts', () => {
  it('double from five seconds up to four hours', () => {
    expect(pauses.slice(0, 5)).toEqual([5_000, 10_000, 20_000, 40_000, 80_000]);
    expect(pauses.at(-1)).toBe(4 * 3_600_000);
    expect(pauseAfter(5_000, 1_000, 0, 0)).toBe(4 * 3_600_000);
  });

  it('leave room for some thirty attempts in three days', () => {
    let [attempts, ms] = [0, 0];
    for (const pause of pauses) {
      ms += pause;
      if (ms <= triedForDays * 86_400_000) attempts += 1;
    }
    expect(attempts).toBeGreaterThan(25);
    expect(attempts).toBeLessThan(35);
  });

  it('are as long as the receiver asks, up to four hours, and no shorter for it', () => {
    expect(pauseAfter(1, 1_000, 60_000, 0)).toBe(60_000);
    expect(pauseAfter(5, 1_000, 60_000, 0)).toBe(80_000);
    expect(pauseAfter(1, 1_000, 9e9, 0)).toBe(4 * 3_600_000);
  });

  it('differ by up to a tenth', () => {
    expect(pauseAfter(1, 1_000, 0, 1)).toBe(5_500);
  });
});
