import { readRetryAfter } from './retry-after.ts';

const now = new Date('2026-11-27T06:00:00Z');

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    ['0', 0],
    ['Fri, 27 Nov 2026 06:01:30 GMT', 90_000],
    ['Fri, 27 Nov 2026 05:00:00 GMT', 0],
    [undefined, 0],
    ['', 0],
    ['soon', 0],
    ['-5', 0],
    ['1.5', 0],
    ['2026-11-27T06:01:30Z', 0],
    ['Fri, 99 Nov 2026', 0],
    ['9'.repeat(400), 0],
  ])('%s', (value, ms) => {
    expect(readRetryAfter(value, now)).toBe(ms);
  });
});
