// The stream of the account's events, by `fetch`: the browser's EventSource sends no headers, and
// the gateway wants the one that shows that a page of the console asks.
import { createParser } from 'eventsource-parser';
import type { Schemas } from '../api/client.ts';

/** `isPast`: it had happened before the page was opened, so the rows of the page have it. */
export type LiveEvent = Schemas['Event'] & { isPast: boolean };

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
/** The API's longest. */
const longestReplaySeconds = 600;
/** A request may be under way for so long, while its seconds count. */
const latencySeconds = 10;

/** The log no longer has the events after the last one known. */
const tooOld = 410;
/** No session, no right or no plan for events: another try gets the same answer. */
const isRefused = (status: number) => status >= 400 && status < 500 && status !== tooOld && status !== 429;

/**
 * Gives events as they happen, over any interruption; first those since the page was opened, whose
 * answers may be older. It ends when the server refuses them.
 */
export async function followEvents({ after, onEvent, onGap }: Following): Promise<void> {
  let last = after;
  // Without a last event: all that had happened by then is known.
  let knownTo = performance.timeOrigin;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    try {
      const seconds = Math.ceil((Date.now() - knownTo) / 1_000) + latencySeconds;
      const isGap = last === undefined && seconds > longestReplaySeconds;
      const replay = last === undefined && !isGap ? `?replay_seconds=${seconds}` : '';
      const headers = { 'X-Almanac-Console': '1', ...(last === undefined ? {} : { 'Last-Event-ID': String(last) }) };
      const response = await fetch(`${address}${replay}`, { headers });
      if (isRefused(response.status)) return;
      if (response.status === tooOld) [last, knownTo] = [undefined, 0];
      if (!response.ok || !response.body) throw new Error(`The stream of events answered ${response.status}.`);
      waitMs = firstWaitMs;
      if (isGap) onGap();
      const pageOpened = openedByClockOf(response);
      await readEvents(response.body, {
        onEvent: (event) => {
          last = event.id;
          onEvent({ ...event, isPast: Date.parse(event.time) < pageOpened });
        },
        onText: () => {
          knownTo = Date.now();
        },
      });
    } catch {
      // The server or the network is away.
    }
    await new Promise((done) => setTimeout(done, waitMs * (0.5 + Math.random() / 2)));
  }
}

// When the page was opened, by the server's clock. That is given in whole seconds, and changes of
// rows are announced up to a second later.
function openedByClockOf({ headers }: Response): number {
  const now = Date.parse(headers.get('Date') ?? '') + 2_000;
  return now - (Date.now() - performance.timeOrigin);
}

type Reading = { onEvent: (event: Schemas['Event']) => void; onText: () => void };

/** Reads until the stream ends, or is silent for too long. */
async function readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>, { onEvent, onText }: Reading): Promise<void> {
  const parser = createParser({ onEvent: ({ data }) => onEvent(JSON.parse(data)) });
  const texts = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const silent = setTimeout(() => void texts.cancel(), silentForMs);
    const { done, value } = await texts.read().finally(() => clearTimeout(silent));
    if (done) return;
    parser.feed(value);
    onText();
  }
}
