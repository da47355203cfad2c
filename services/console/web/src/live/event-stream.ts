// The stream of the account's events, by `fetch`: the browser's EventSource sends no headers, and
// the gateway wants the one that shows that a page of the console asks.
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Schemas } from '../api/client.ts';

export type LiveEvent = Schemas['Event'];

type Following = {
  /** The last event that is known; events after it come first. */
  after: number | undefined;
  onEvent: (event: LiveEvent) => void;
  /** Events may have been missed. */
  onGap: () => void;
};

const address = '/console/api/v1/events/stream';
const firstWaitMs = 2_000;
const longestWaitMs = 60_000;
/** More than two heartbeats: the connection is broken, and no one has said so. */
const silentForMs = 65_000;

/** The log no longer has the events after the last one known. */
const tooOld = 410;
/** No session, no right or no plan for events: another try gets the same answer. */
const isRefused = (status: number) => status >= 400 && status < 500 && status !== tooOld && status !== 429;

/** Gives events as they happen, over any interruption. It ends when the server refuses them. */
export async function followEvents({ after, onEvent, onGap }: Following): Promise<void> {
  let last = after;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    const silence = new Silence();
    try {
      const headers = { 'X-Almanac-Console': '1', ...(last === undefined ? {} : { 'Last-Event-ID': String(last) }) };
      const response = await fetch(address, { headers, signal: silence.signal });
      if (isRefused(response.status)) return;
      if (response.status === tooOld) last = undefined;
      if (!response.ok || !response.body) throw new Error(`The stream of events answered ${response.status}.`);
      if (last === undefined) onGap();
      for await (const event of eventsOf(response.body, silence)) {
        last = event.id;
        waitMs = firstWaitMs;
        onEvent(event);
      }
    } catch {
      // The server or the network is away.
    }
    silence.end();
    await new Promise((done) => setTimeout(done, waitMs * (0.5 + Math.random() / 2)));
  }
}

/** Aborts what is silent for too long. */
class Silence {
  private readonly aborted = new AbortController();
  private timer = this.begin();

  get signal(): AbortSignal {
    return this.aborted.signal;
  }

  private begin() {
    return setTimeout(() => this.aborted.abort(), silentForMs);
  }

  broken(): void {
    this.end();
    this.timer = this.begin();
  }

  end(): void {
    clearTimeout(this.timer);
  }
}

// Safari has no iteration of streams.
async function* eventsOf(body: ReadableStream<Uint8Array<ArrayBuffer>>, silence: Silence): AsyncGenerator<LiveEvent> {
  const heard = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (bytes, next) => {
      silence.broken();
      next.enqueue(bytes);
    },
  });
  const texts = body.pipeThrough(heard).pipeThrough(new TextDecoderStream());
  const messages = texts.pipeThrough(new EventSourceParserStream()).getReader();
  for (;;) {
    const { done, value } = await messages.read();
    if (done) return;
    yield JSON.parse(value.data) as LiveEvent;
  }
}
