import { PageLimiter } from './page-limiter.ts';

async function within<T>(limiter: PageLimiter, read: () => Promise<T>): Promise<T> {
  const leave = await limiter.enter();
  try {
    return await read();
  } finally {
    leave();
  }
}

/** Until the promises that can go on have done so. */
const settle = () => new Promise(setImmediate);

const begun: number[] = [];
const ends: (() => void)[] = [];
const work = (i: number) => () =>
  new Promise<number>((done) => {
    begun.push(i);
    ends[i] = () => done(i);
  });

describe('the limiter of pages', () => {
  it('lets in so many at once, and the others in their order', async () => {
    const limiter = new PageLimiter(5);
    const all = [0, 1, 2, 3, 4].map((i) => within(limiter, work(i)));
    await settle();
    expect(begun).toEqual([0, 1, 2]);
    ends[1]?.();
    await all[1];
    await settle();
    expect(begun).toEqual([0, 1, 2, 3]);
    for (const i of [0, 2, 3]) ends[i]?.();
    await Promise.all(all.slice(0, 4));
    await settle();
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    ends[4]?.();
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
  });

  it('gives the place of a page that failed to the next', async () => {
    const limiter = new PageLimiter(1);
    const failed = within(limiter, () => Promise.reject(new Error('no')));
    const next = within(limiter, async () => 'yes');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('refuses a page that has waited too long, as unavailable', async () => {
    const limiter = new PageLimiter(1, 1);
    let end = () => {};
    const first = within(limiter, () => new Promise<void>((done) => (end = done)));
    await expect(within(limiter, async () => 1)).rejects.toMatchObject({ kind: 'unavailable' });
    end();
    await first;
    expect(await within(limiter, async () => 2)).toBe(2);
  });
});
