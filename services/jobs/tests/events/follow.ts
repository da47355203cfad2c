// A reader of a stream of server-sent events.
import { request } from 'node:http';
import { callHeaders } from '@almanac/testkit/calls/call';
import { eventually } from '@almanac/testkit/eventually';
import type { AccountEvent } from '../../src/events/account-event.ts';
import type { Jobs } from '../given.ts';

export type Reader = {
  status: number;
  headers: Record<string, unknown>;
  /** All text so far. */
  text(): string;
  events(): AccountEvent[];
  /** The id that a browser would resume from. */
  lastId(): number;
  /** Waits until so many events have arrived. */
  until(count: number): Promise<AccountEvent[]>;
  /** Resolves when the answer has ended; true: as it should. */
  ended: Promise<boolean>;
  close(): void;
  pause(): void;
};

type Options = { url?: string; path?: string; lastEventId?: number; claims?: Parameters<typeof callHeaders>[1] };

/** Opens a stream; resolves with its head. */
export async function follow(jobs: Jobs, options: Options = {}): Promise<Reader> {
  const { url = jobs.url, path = '', lastEventId, claims = {} } = options;
  const headers: Record<string, string> = await callHeaders(jobs.keys, claims);
  if (lastEventId !== undefined) headers['Last-Event-ID'] = String(lastEventId);
  return new Promise((resolve, reject) => {
    const sent = request(new URL(`/api/v1/events/stream${path}`, url), { headers, agent: false });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      const chunks: string[] = [];
      answer.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
      const ended = new Promise<boolean>((end) => {
        answer.on('error', () => end(false));
        answer.on('end', () => end(answer.complete));
      });
      const blocks = () => chunks.join('').split('\n\n').slice(0, -1);
      const valuesOf = (name: string) =>
        blocks().flatMap((block) =>
          block.split('\n').flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : [])),
        );
      const events = () => valuesOf('data').map((text) => JSON.parse(text) as AccountEvent);
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        text: () => chunks.join(''),
        events,
        lastId: () => Number(valuesOf('id').at(-1)),
        until: (count) =>
          eventually(() => {
            const found = events();
            if (found.length < count) throw new Error(`${found.length} of ${count} events have arrived.`);
            return found;
          }),
        ended,
        close: () => void answer.destroy(),
        pause: () => void answer.pause(),
      });
    });
    sent.end();
  });
}
