// The requests in flight. An array, because a Set costs memory here: V8 moves a Set that is filled
// and emptied all the time to a new table every few dozen entries, and each old table refers to the
// next one. Once one table is in the old generation it keeps all later tables alive, and with them
// thousands of finished requests, until the next full garbage collection.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResponseWithCall } from '../call.ts';

export type OpenRequest = {
  readonly req: IncomingMessage;
  readonly res: ServerResponse & ResponseWithCall;
  /** The socket's byte counters when it last made progress, and when (performance.now). */
  progress: { read: number; written: number; at: number };
  /** Its index in the array. */
  index: number;
};

export class OpenRequests {
  private readonly all: OpenRequest[] = [];

  get size(): number {
    return this.all.length;
  }

  add(request: Omit<OpenRequest, 'index'>): OpenRequest {
    const added = { ...request, index: this.all.length };
    this.all.push(added);
    return added;
  }

  /** Removes a request that was added; the last one takes its index. */
  remove(request: OpenRequest): void {
    const last = this.all.pop();
    if (!last || last === request) return;
    this.all[request.index] = last;
    last.index = request.index;
  }

  /** A copy of the list: requests may end while the caller iterates. */
  list(): OpenRequest[] {
    return [...this.all];
  }
}
