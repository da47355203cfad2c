// A sleep that somebody else can end, also before it has begun.

/** Waits of one loop: `end` ends the present wait, or the next one when none is going on. */
export class InterruptibleSleep {
  private ended = false;
  private finish: (() => void) | undefined;

  /** Resolves when the time is over or `end` is called. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.finish = undefined;
        this.ended = false;
        resolve();
      };
      const timer = setTimeout(finish, ms);
      this.finish = finish;
      if (this.ended) finish();
    });
  }

  end(): void {
    this.ended = true;
    this.finish?.();
  }
}
