// A backoff for each message in the outbox that no queue takes yet (its consumer has never
// started). Unroutable work is retried now and then, and doesn't hold up other messages.

const firstDelayMs = 200;

export class UnroutableBackoff {
  private readonly maxDelayMs: number;
  private readonly now: () => number;
  private askedAt = 0;
  private readonly items = new Map<string, { delayMs: number; dueAt: number }>();

  constructor(maxDelayMs: number, now: () => number = () => performance.now()) {
    this.maxDelayMs = maxDelayMs;
    this.now = now;
  }

  /** The messages that are not due yet: the relay skips them. */
  get deferredIds(): string[] {
    this.askedAt = this.now();
    return [...this.items].filter(([, { dueAt }]) => dueAt > this.askedAt).map(([id]) => id);
  }

  /** The time until the first message is due; at most `ms`. */
  nextWithin(ms: number): number {
    const due = Math.min(...[...this.items.values()].map(({ dueAt }) => dueAt));
    return Math.max(0, Math.min(ms, due - this.now()));
  }

  /**
   * Records the outcome of the messages that were read after `deferredIds`. Returns true when one
   * is unroutable for the first time. `wasAll`: the outbox had no other messages, so another
   * instance has published those that were due and not read.
   */
  record(relayed: string[], unroutable: string[], wasAll: boolean): boolean {
    for (const id of relayed) this.items.delete(id);
    let isNew = false;
    for (const id of unroutable) {
      const before = this.items.get(id);
      isNew ||= before === undefined;
      const delayMs = before ? Math.min(before.delayMs * 2, this.maxDelayMs) : firstDelayMs;
      this.items.set(id, { delayMs, dueAt: this.now() + delayMs });
    }
    if (wasAll) for (const [id, { dueAt }] of this.items) if (dueAt <= this.askedAt) this.items.delete(id);
    return isNew;
  }
}
