import { UntakenWork } from './untaken-work.ts';

describe('untaken work', () => {
  it('rests longer each time, up to a bound, and is new once', () => {
    const work = new UntakenWork(300);
    expect(work.resting).toEqual([]);
    expect(work.nextWithin(5_000)).toBe(5_000);
    expect(work.note([], ['a', 'b'], true)).toBe(true);
    expect(work.nextWithin(5_000)).toBeLessThanOrEqual(200);
    expect(work.note([], ['a'], false)).toBe(false);
    expect(work.note(['b'], ['a'], false)).toBe(false);
    expect(work.resting).toEqual(['a']);
    expect(work.nextWithin(5_000)).toBeLessThanOrEqual(300);
    expect(work.nextWithin(10)).toBe(10);
  });

  it('is forgotten when another instance has carried it', async () => {
    const work = new UntakenWork(0);
    work.note([], ['a'], true);
    expect(work.note([], ['a'], true)).toBe(false); // no pause at all from now on
    while (work.resting.length > 0) await new Promise(setImmediate);
    expect(work.note([], [], false)).toBe(false);
    expect(work.note([], ['a'], true)).toBe(false);
    while (work.resting.length > 0) await new Promise(setImmediate);
    work.note([], [], true);
    expect(work.note([], ['a'], true)).toBe(true);
  });
});
