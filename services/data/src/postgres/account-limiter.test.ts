import { AccountLimiter } from './account-limiter.ts';

const never = new AbortController().signal;

/** Work that ends when it is told to; what has begun, in order. */
function givenWork(connections: number) {
  const limiter = new AccountLimiter(connections);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const start = (accountId: number, signal = never) =>
    limiter.run(accountId, signal, () => {
      begun.push(accountId);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { start, begun, ends, settle };
}

describe('the work of accounts', () => {
  it('leaves two in five connections alone, and an account has two in three of the others', async () => {
    const { start, begun, settle } = givenWork(10);
    for (const account of [1, 1, 1, 1, 1, 1, 2, 2, 2]) void start(account);
    await settle();
    expect(begun).toEqual([1, 1, 1, 1, 2, 2]);
  });

  it('begins next for whoever has the least running, then who came first', async () => {
    const { start, begun, ends, settle } = givenWork(5);
    for (const account of [1, 1, 2, 1, 2, 3]) void start(account);
    await settle();
    expect(begun).toEqual([1, 1, 2]);
    ends[0]?.();
    await settle();
    expect(begun).toEqual([1, 1, 2, 3]);
    ends[2]?.();
    await settle();
    expect(begun).toEqual([1, 1, 2, 3, 2]);
  });

  it('does one piece at a time where there are two connections', async () => {
    const { start, begun, ends, settle } = givenWork(2);
    for (const account of [1, 2]) void start(account);
    await settle();
    expect(begun).toEqual([1]);
    ends[0]?.();
    await settle();
    expect(begun).toEqual([1, 2]);
  });

  it('forgets whoever goes away while waiting, and frees the place of what fails', async () => {
    const { start, begun, ends, settle } = givenWork(2);
    void start(1);
    const leaving = new AbortController();
    const left = start(2, leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await expect(start(2, leaving.signal)).rejects.toThrow('gone');
    ends[0]?.();
    await settle();
    await expect(
      new AccountLimiter(2).run(1, never, async () => {
        throw new Error('failed');
      }),
    ).rejects.toThrow('failed');
    void start(3);
    await settle();
    expect(begun).toEqual([1, 3]);
  });
});
