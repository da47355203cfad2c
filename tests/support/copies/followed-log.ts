// The log of events of an account as its followers get it: live from the stream, which is opened
// again after each end, and by webhook.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Event } from '@almanac/client';

const reconnectAfterMs = 200;

/** The whole log after an event. */
export async function readLog(client: Client, after: number): Promise<Event[]> {
  const events: Event[] = [];
  for (let cursor = after; ; ) {
    const {
      data,
      cursor: next,
      has_more,
    } = await client.get('/events', {
      params: { query: { after: cursor, limit: 1_000 } },
    });
    events.push(...data);
    if (!has_more) return events;
    cursor = next;
  }
}

/** Adds what the stream sends to `received`, until `signal`; it goes on after the last event. */
export async function followStream(
  { baseUrl, token }: { baseUrl: string; token: string },
  after: number,
  received: Event[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const last = String(received.at(-1)?.id ?? after);
    try {
      const answer = await fetch(`${baseUrl}/api/v1/events/stream`, {
        headers: { Authorization: `Bearer ${token}`, 'Last-Event-ID': last },
        signal,
      });
      if (!answer.ok) throw new Error(`The stream was answered ${answer.status}: ${await answer.text()}`);
      for await (const event of eventsOf(answer)) received.push(event);
    } catch (error) {
      // A killed process has cut the connection.
      if (!signal.aborted && !(error instanceof TypeError)) throw error;
    }
    await sleep(reconnectAfterMs);
  }
}

async function* eventsOf(answer: Response): AsyncGenerator<Event> {
  let rest = '';
  for await (const chunk of (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    const messages = (rest + chunk).split('\n\n');
    rest = messages.pop() ?? '';
    for (const message of messages) {
      const [, data] = /^data: (.*)$/m.exec(message) ?? [];
      if (data !== undefined) yield JSON.parse(data) as Event;
    }
  }
}
