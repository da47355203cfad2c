// The requests under way. Not a Set: one that is filled and emptied all the time is moved to a new table every few dozen
// entries, and in V8 each old table refers to the next. The first that grows old keeps all that come after it, with the
// requests that were under way when they were left: thousands of dead ones, until the whole heap is searched.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Reply } from '../call.ts';

export type OpenRequest = {
  readonly req: IncomingMessage;
  readonly res: ServerResponse & Reply;
  /** The counters of its socket, and when they last moved enough (performance.now). */
  progress: { read: number; written: number; at: number };
  /** Where it stands among the open ones. */
  place: number;
};

export class OpenRequests {
  private readonly all: OpenRequest[] = [];

  get size(): number {
    return this.all.length;
  }

  add(request: Omit<OpenRequest, 'place'>): OpenRequest {
    const added = { ...request, place: this.all.length };
    this.all.push(added);
    return added;
  }

  /** Takes out one that was added. */
  remove(request: OpenRequest): void {
    const last = this.all.pop();
    if (!last || last === request) return;
    this.all[request.place] = last;
    last.place = request.place;
  }

  /** All at this moment: some may end while a caller goes through them. */
  list(): OpenRequest[] {
    return [...this.all];
  }
}
