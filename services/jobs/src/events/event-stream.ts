// One open stream of server-sent events. It reads pages until it has caught up, then the hub gives
// it what is new. A stream whose client doesn't read falls back to pages, which wait for the
// client; so it holds one page at most, and after two heartbeats without progress it is closed.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { type AccountEvent, matchesTypes, type TypeFilter } from './account-event.ts';
import type { Audience } from './audience.ts';
import type { EventHub, Follower } from './event-hub.ts';
import type { EventPage } from './read-events.ts';

const reconnectAfterMs = 2_000;

type Options = {
  accountId: number;
  types: TypeFilter;
  /** The last event that the client has. */
  after: number;
  response: ServerResponse;
  hub: EventHub;
  logger: Logger;
  /** The next page of what the caller may read. */
  readPage(after: number): Promise<EventPage>;
  readAudience(): Promise<Audience>;
};

export class EventStream implements Follower {
  readonly accountId: number;
  private readonly options: Options;
  /** The last event that was read for this stream. */
  private cursor: number;
  /** The id that the client would resume from. */
  private sentId: number;
  private isBusy = false;
  private isBehind = false;
  private isStalled = false;
  private isEnded = false;

  constructor(options: Options) {
    this.options = options;
    this.accountId = options.accountId;
    this.cursor = options.after;
    this.sentId = options.after;
  }

  /** Answers with the head, and begins to read. */
  start(): void {
    const { response } = this.options;
    response.once('close', () => this.leave());
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
    response.write(`retry: ${reconnectAfterMs}\nid: ${this.cursor}\n\n`);
    this.run(() => this.catchUp());
  }

  /** Ends the answer and its connection, which would delay a drain; the client reconnects. */
  end(): void {
    const { response } = this.options;
    const { socket } = response;
    this.leave();
    response.end(() => socket?.destroySoon());
  }

  /**
   * Keeps the connection from idling. The id moves too when events went by that the stream doesn't
   * show, so that the client needn't read past them again.
   */
  beat(): void {
    const { response } = this.options;
    if (response.writableNeedDrain && this.isStalled) {
      response.destroy();
      return;
    }
    this.isStalled = response.writableNeedDrain;
    if (this.isStalled) return;
    response.write(this.cursor === this.sentId || this.isBusy ? ': \n\n' : `id: ${this.cursor}\n\n`);
    if (!this.isBusy) this.sentId = this.cursor;
  }

  offer(events: AccountEvent[], cursor: number): void {
    if (this.isBusy || this.options.response.writableNeedDrain) this.fallBehind();
    else this.run(() => this.deliver(events, cursor));
  }

  private fallBehind(): void {
    this.options.hub.leave(this);
    this.isBehind = true;
    if (!this.isBusy) this.run(() => this.catchUp());
  }

  // One task at a time; a stream that can't be served is closed, and its client reconnects.
  private run(task: () => Promise<void>): void {
    this.isBusy = true;
    task()
      .catch((error: unknown) => {
        this.options.logger.warn({ err: error, account_id: this.accountId }, 'a stream of events was closed');
        this.options.response.destroy();
      })
      .finally(() => {
        this.isBusy = false;
        if (this.isBehind && !this.isEnded) this.run(() => this.catchUp());
      });
  }

  private async deliver(events: AccountEvent[], cursor: number): Promise<void> {
    const { types, readAudience } = this.options;
    const audience = await readAudience();
    const isWanted = (event: AccountEvent) =>
      event.id > this.cursor && matchesTypes(types, event.type) && audience.mayRead(event);
    this.write(events.filter(isWanted), cursor);
  }

  private async catchUp(): Promise<void> {
    const { hub, response, readPage } = this.options;
    this.isBehind = false;
    while (!this.isEnded) {
      if (response.writableNeedDrain) await drained(response);
      const page = await readPage(this.cursor);
      this.write(page.events, page.cursor);
      if (!page.hasMore && !this.isEnded && hub.join(this, this.cursor)) return;
    }
  }

  private write(events: AccountEvent[], cursor: number): void {
    if (this.isEnded) return;
    if (events.length > 0) {
      this.options.response.write(Buffer.concat(events.map(bytesOf)));
      this.sentId = events.at(-1)?.id ?? this.sentId;
    }
    this.cursor = Math.max(this.cursor, cursor);
  }

  private leave(): void {
    this.isEnded = true;
    this.options.hub.leave(this);
  }
}

const bytes = new WeakMap<AccountEvent, Buffer>();

/** An event as streams send it, made once for all the streams that the hub gives it to. */
function bytesOf(event: AccountEvent): Buffer {
  const made = bytes.get(event) ?? Buffer.from(`id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`);
  bytes.set(event, made);
  return made;
}

// A response that is closed drains no more.
async function drained(response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  const onClose = () => closed.abort();
  response.once('close', onClose);
  try {
    await once(response, 'drain', { signal: closed.signal });
  } catch (error) {
    if (!closed.signal.aborted) throw error;
  } finally {
    response.off('close', onClose);
  }
}
