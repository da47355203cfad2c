import { AccountLimiter } from './account-limiter.ts';

const never = new AbortController().signal;

/** Work that a test ends; `begun`: the accounts whose work has begun, in order. */
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
  it('leaves two in five connections free, and gives an account two in three of the others', async () => {
    const { start, begun, settle } = givenWork(10);
    for (const account of [1, 1, 1, 1, 1, 1, 2, 2, 2]) void start(account);
    await settle();
    expect(begun).toEqual([1, 1, 1, 1, 2, 2]);
  });

  it('begins next the work of the account with the least running work, then the one that waited longest', async () => {
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

  it('drops work that is aborted while it waits, and frees the place of work that fails', async () => {
    const { start, begun, ends, settle } = givenWork(2);
    void start(1);
    const leaving = new AbortController();
    const left = start(2, leaving.signal);
    leaving.abort(new Error('aborted'));
    await expect(left).rejects.toThrow('aborted');
    await expect(start(2, leaving.signal)).rejects.toThrow('aborted');
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
