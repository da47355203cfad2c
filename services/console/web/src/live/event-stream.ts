// The stream of the account's events, by `fetch`: the browser's EventSource sends no headers, and
// the gateway wants the one that shows that a page of the console asks.
import { createParser } from 'eventsource-parser';
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
    try {
      const headers = { 'X-Almanac-Console': '1', ...(last === undefined ? {} : { 'Last-Event-ID': String(last) }) };
      const response = await fetch(address, { headers });
      if (isRefused(response.status)) return;
      if (response.status === tooOld) last = undefined;
      if (!response.ok || !response.body) throw new Error(`The stream of events answered ${response.status}.`);
      waitMs = firstWaitMs;
      if (last === undefined) onGap();
      await readEvents(response.body, (event) => {
        last = event.id;
        onEvent(event);
      });
    } catch {
      // The server or the network is away.
    }
    await new Promise((done) => setTimeout(done, waitMs * (0.5 + Math.random() / 2)));
  }
}

/** Reads until the stream ends, or is silent for too long. */
async function readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onEvent: (event: LiveEvent) => void,
): Promise<void> {
  const parser = createParser({ onEvent: ({ data }) => onEvent(JSON.parse(data)) });
  const texts = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const silent = setTimeout(() => void texts.cancel(), silentForMs);
    const { done, value } = await texts.read().finally(() => clearTimeout(silent));
    if (done) return;
    parser.feed(value);
  }
}
