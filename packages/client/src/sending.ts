// Sends requests and repeats those that may be: a call that is done at most once whatever happens, or one that was not served.
import { readRetryAfter } from './errors.ts';
import { pause } from './patience.ts';

export type SendOptions = {
  /** What fetches; the platform's own unless told. */
  fetch: typeof globalThis.fetch;
  /** How often a call is repeated at most. */
  retries: number;
  /** A call whose answer says to come back later than this fails at once, in seconds. */
  longestRetryAfter: number;
  /** How long one attempt may take, in milliseconds. */
  timeoutMs: number;
};

/** Sends a request; `repeatable` says that doing it twice is doing it once. */
export type Send = (request: Request, repeatable: boolean) => Promise<Response>;

const firstPauseMs = 200;
const longestPauseMs = 10_000;
const passing = new Set([502, 503, 504]);

export function createSend({ fetch, retries, longestRetryAfter, timeoutMs }: SendOptions): Send {
  const attempt = (request: Request) =>
    fetch(request.clone(), { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]) });

  return async (request, repeatable) => {
    for (let attempts = 1; ; attempts += 1) {
      const isLast = attempts > retries;
      let wait = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);
      try {
        const response = await attempt(request);
        // What an attempt without an answer had already deleted is deleted.
        if (attempts > 1 && request.method === 'DELETE' && response.status === 404) return done(response);
        if (isLast || !(response.status === 429 || (repeatable && passing.has(response.status)))) return response;
        const asked = readRetryAfter(response);
        if (asked !== undefined && asked > longestRetryAfter) return response;
        wait = Math.max(wait, (asked ?? 0) * 1000);
        await response.body?.cancel();
      } catch (error) {
        if (request.signal.aborted) throw request.signal.reason;
        if (isLast || !repeatable) throw error;
      }
      await pause(wait, request.signal);
    }
  };
}

async function done(response: Response): Promise<Response> {
  await response.body?.cancel();
  return new Response(null, { status: 204, headers: { 'X-Request-Id': response.headers.get('x-request-id') ?? '' } });
}
