import { PageSlots } from './page-concurrency.ts';

const begun: number[] = [];
const ends: (() => void)[] = [];
const work = (i: number) => () =>
  new Promise<number>((done) => {
    begun.push(i);
    ends[i] = () => done(i);
  });

describe('slots of pages', () => {
  it('let in so many at once and the others in their order', async () => {
    const slots = new PageSlots(5);
    const all = [0, 1, 2, 3, 4].map((i) => slots.run(work(i)));
    await Promise.resolve();
    expect(begun).toEqual([0, 1, 2]);
    ends[1]?.();
    await all[1];
    expect(begun).toEqual([0, 1, 2, 3]);
    for (const i of [0, 2, 3]) ends[i]?.();
    await Promise.all(all.slice(0, 4));
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    ends[4]?.();
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
  });

  it('give the place of one that failed to the next', async () => {
    const slots = new PageSlots(1);
    const failed = slots.run(() => Promise.reject(new Error('no')));
    const next = slots.run(async () => 'yes');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('turn away who has waited too long, as unavailable', async () => {
    const slots = new PageSlots(1, 1);
    let end = () => {};
    const first = slots.run(() => new Promise<void>((done) => (end = done)));
    await expect(slots.run(async () => 1)).rejects.toMatchObject({ kind: 'unavailable' });
    end();
    await first;
    expect(await slots.run(async () => 2)).toBe(2);
  });
});
