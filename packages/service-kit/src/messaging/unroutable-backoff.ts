// Work in the outbox that no queue takes yet (its consumer has never started): remembered with a pause of its own for each, so
// that it is tried again now and then and holds nothing else back.

const firstPauseMs = 200;

export class UnroutableBackoff {
  private readonly longestPauseMs: number;
  private readonly now: () => number;
  private askedAt = 0;
  private readonly items = new Map<string, { pauseMs: number; dueAt: number }>();

  constructor(longestPauseMs: number, now: () => number = () => performance.now()) {
    this.longestPauseMs = longestPauseMs;
    this.now = now;
  }

  /** Messages whose time has not come: not to be read now. */
  get deferredIds(): string[] {
    this.askedAt = this.now();
    return [...this.items].filter(([, { dueAt }]) => dueAt > this.askedAt).map(([id]) => id);
  }

  /** How long until the first of them is due; at most `ms`. */
  nextWithin(ms: number): number {
    const due = Math.min(...[...this.items.values()].map(({ dueAt }) => dueAt));
    return Math.max(0, Math.min(ms, due - this.now()));
  }

  /**
   * Notes what became of the messages that were read after `deferredIds`; true if one is here for the first time. `wasAll`: nothing
   * else was there, so what was due and not read has been carried by another instance.
   */
  note(carried: string[], untaken: string[], wasAll: boolean): boolean {
    for (const id of carried) this.items.delete(id);
    let isNew = false;
    for (const id of untaken) {
      const before = this.items.get(id);
      isNew ||= before === undefined;
      const pauseMs = before ? Math.min(before.pauseMs * 2, this.longestPauseMs) : firstPauseMs;
      this.items.set(id, { pauseMs, dueAt: this.now() + pauseMs });
    }
    if (wasAll) for (const [id, { dueAt }] of this.items) if (dueAt <= this.askedAt) this.items.delete(id);
    return isNew;
  }
}
