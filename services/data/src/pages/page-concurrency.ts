// How many pages of large tables are read at once: fewer than there are connections, so that dear ones never keep out everything else.
import { ServiceError } from '@almanac/service-kit/errors';

export class PageSlots {
  private free: number;
  private readonly waitMs: number;
  private readonly waiting = new Set<() => void>();

  /** `connections`: of the pool that pages are read from; two in five stay free for others. */
  constructor(connections: number, waitMs = 10_000) {
    this.free = Math.max(1, Math.floor(connections * 0.6));
    this.waitMs = waitMs;
  }

  /** Runs `work` when there is room, first come, first served; 503 when there is none for too long. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await this.turn();
    try {
      return await work();
    } finally {
      const [next] = this.waiting;
      if (next) next();
      else this.free += 1;
    }
  }

  // Whoever's turn it is takes over the place of the one before.
  private turn(): Promise<void> {
    return new Promise((begin, fail) => {
      const next = () => {
        clearTimeout(timer);
        this.waiting.delete(next);
        begin();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(next);
        fail(new ServiceError('unavailable', 'Too many pages of large tables are asked for at once; try again.'));
      }, this.waitMs);
      this.waiting.add(next);
    });
  }
}
