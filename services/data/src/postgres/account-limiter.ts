// How much long work runs at once on a pool: never so much that short work finds no connection, and never one account's alone.

type Waiting = { accountId: number; begin: () => void };

/** Long work that has to wait holds no connection. Who has the least of it running is next, then who came first. */
export class AccountLimiter {
  private readonly most: number;
  private readonly mostPerAccount: number;
  private readonly running = new Map<number, number>();
  private readonly waiting = new Set<Waiting>();

  /** `connections`: of the pool; two in five are never taken by long work, and of the others an account takes two in three. */
  constructor(connections: number) {
    this.most = Math.max(1, Math.floor(connections * 0.6));
    this.mostPerAccount = Math.max(1, Math.floor((this.most * 2) / 3));
  }

  /** Runs `work` when it is the account's turn; throws the reason of `signal` when that comes first. */
  async run<T>(accountId: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(accountId, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** As `run`; who has entered calls what is answered, once, when the work is over. */
  async enter(accountId: number, signal: AbortSignal): Promise<() => void> {
    await this.turn(accountId, signal);
    return () => {
      const left = this.runningOf(accountId) - 1;
      if (left > 0) this.running.set(accountId, left);
      else this.running.delete(accountId);
      this.beginNext();
    };
  }

  private runningOf = (accountId: number) => this.running.get(accountId) ?? 0;

  private async turn(accountId: number, signal: AbortSignal): Promise<void> {
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
    if (total >= this.most) return;
    let next: Waiting | undefined;
    for (const each of this.waiting) {
      const own = this.runningOf(each.accountId);
      if (own < this.mostPerAccount && (!next || own < this.runningOf(next.accountId))) next = each;
    }
    if (!next) return;
    this.waiting.delete(next);
    this.running.set(next.accountId, this.runningOf(next.accountId) + 1);
    next.begin();
  }
}
