// The exchanges under way. Not a Set: one that is filled and emptied all the time is moved to a new table every few dozen entries, and in V8
// each old table refers to the next. The first of them that grows old keeps all that come after it, with whatever was under way when they
// were left: thousands of dead requests, copied again and again, until the whole heap is searched.
import type { Exchange } from './exchange.ts';

export class OpenExchanges {
  private readonly all: Exchange[] = [];

  get size(): number {
    return this.all.length;
  }

  add(exchange: Exchange): void {
    exchange.place = this.all.length;
    this.all.push(exchange);
  }

  /** Takes out one that was added. */
  remove(exchange: Exchange): void {
    const last = this.all.pop();
    if (!last || last === exchange) return;
    this.all[exchange.place] = last;
    last.place = exchange.place;
  }

  /** All at this moment: whoever goes through them may end some. */
  list(): Exchange[] {
    return [...this.all];
  }
}
