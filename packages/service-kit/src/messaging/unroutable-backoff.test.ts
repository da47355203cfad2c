import { UnroutableBackoff } from './unroutable-backoff.ts';

describe('unroutable work', () => {
  it('rests longer each time, up to a bound, and is new once', () => {
    let now = 1_000;
    const work = new UnroutableBackoff(300, () => now);
    expect(work.deferredIds).toEqual([]);
    expect(work.nextWithin(5_000)).toBe(5_000);
    expect(work.record([], ['a', 'b'], true)).toBe(true);
    expect(work.nextWithin(5_000)).toBe(200);
    expect(work.record([], ['a'], false)).toBe(false);
    expect(work.record(['b'], ['a'], false)).toBe(false);
    expect(work.deferredIds).toEqual(['a']);
    expect(work.nextWithin(5_000)).toBe(300);
    expect(work.nextWithin(10)).toBe(10);
    now += 300;
    expect(work.deferredIds).toEqual([]);
    expect(work.nextWithin(5_000)).toBe(0);
  });

  it('is dropped when another instance has published it', () => {
    let now = 1_000;
    const work = new UnroutableBackoff(0, () => now);
    work.record([], ['a'], true);
    expect(work.record([], ['a'], true)).toBe(false); // no pause at all from now on
    now += 1;
    expect(work.deferredIds).toEqual([]);
    expect(work.record([], [], false)).toBe(false);
    expect(work.record([], ['a'], true)).toBe(false);
    now += 1;
    expect(work.deferredIds).toEqual([]);
    work.record([], [], true);
    expect(work.record([], ['a'], true)).toBe(true);
  });
});
