// Limits the long work that runs at once on a pool, so that short work finds a connection and no
// account takes all of it.

type Waiting = { accountId: number; begin: () => void };

/**
 * Waiting work holds no connection. The account with the least running work is next, then the order
 * of arrival.
 */
export class AccountLimiter {
  private readonly max: number;
  private readonly maxPerAccount: number;
  private readonly running = new Map<number, number>();
  private readonly waiting = new Set<Waiting>();

  /**
   * `connections`: of the pool. Long work takes at most three in five of them, and an account two
   * in three of these.
   */
  constructor(connections: number) {
    this.max = Math.max(1, Math.floor(connections * 0.6));
    this.maxPerAccount = Math.max(1, Math.floor((this.max * 2) / 3));
  }

  /**
   * Runs `work` when it is the account's turn; throws the reason of `signal` when it is aborted
   * before.
   */
  async run<T>(accountId: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(accountId, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Waits for the account's turn; the caller ends it with the function that is returned, once. */
  async enter(accountId: number, signal: AbortSignal): Promise<() => void> {
    await this.wait(accountId, signal);
    return () => {
      const left = this.runningOf(accountId) - 1;
      if (left > 0) this.running.set(accountId, left);
      else this.running.delete(accountId);
      this.beginNext();
    };
  }

  private runningOf = (accountId: number) => this.running.get(accountId) ?? 0;

  private async wait(accountId: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((begin, fail) => {
      const next: Waiting = {
        accountId,
        begin: () => {
          signal.removeEventListener('abort', leave);
          begin();
        },
      };
      const leave = () => {
        this.waiting.delete(next);
        fail(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.add(next);
      this.beginNext();
    });
  }

  private beginNext(): void {
    const total = [...this.running.values()].reduce((sum, count) => sum + count, 0);
    if (total >= this.max) return;
    let next: Waiting | undefined;
    for (const each of this.waiting) {
      const own = this.runningOf(each.accountId);
      if (own < this.maxPerAccount && (!next || own < this.runningOf(next.accountId))) next = each;
    }
    if (!next) return;
    this.waiting.delete(next);
    this.running.set(next.accountId, this.runningOf(next.accountId) + 1);
    next.begin();
  }
}
