// A sleep that other code can interrupt, even before it begins.

/** The sleeps of one loop: `end` interrupts the current sleep, or else the next one. */
export class InterruptibleSleep {
  private ended = false;
  private finish: (() => void) | undefined;

  /** Resolves after the time, or when `end` is called. */
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
