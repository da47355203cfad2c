// How many pages of large tables are read at once: fewer than the pool has connections, so that
// slow pages leave connections to short requests.
import { ServiceError } from '@almanac/service-kit/errors';

export class PageLimiter {
  private free: number;
  private readonly maxWaitMs: number;
  private readonly waiting = new Set<() => void>();

  /**
   * `connections`: of the pool that pages are read from; two in five stay free for other requests.
   */
  constructor(connections: number, maxWaitMs = 10_000) {
    this.free = Math.max(1, Math.floor(connections * 0.6));
    this.maxWaitMs = maxWaitMs;
  }

  /**
   * Takes a place for a page, first come, first served; 503 when none becomes free in time. The
   * caller frees the place with the function that is returned, once.
   */
  async enter(): Promise<() => void> {
    if (this.free > 0) this.free -= 1;
    else await this.wait();
    return () => {
      const [next] = this.waiting;
      if (next) next();
      else this.free += 1;
    };
  }

  // The next in the queue takes over the place of the page that ends.
  private wait(): Promise<void> {
    return new Promise((begin, fail) => {
      const next = () => {
        clearTimeout(timer);
        this.waiting.delete(next);
        begin();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(next);
        fail(new ServiceError('unavailable', 'Too many pages of large tables are requested at once; try again.'));
      }, this.maxWaitMs);
      this.waiting.add(next);
    });
  }
}
