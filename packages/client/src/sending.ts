// Sends requests, and retries those that are idempotent or weren't served.
import { readRetryAfter } from './errors.ts';
import { pause } from './waiting.ts';

export type SendOptions = {
  /** The fetch to use. */
  fetch: typeof globalThis.fetch;
  /** The maximum of retries of a call. */
  retries: number;
  /** A call whose `Retry-After` is longer fails at once, in seconds. */
  longestRetryAfter: number;
  /** The time-out of one attempt, in milliseconds. */
  timeoutMs: number;
};

/** Sends a request; a `repeatable` one is idempotent. */
export type Send = (request: Request, repeatable: boolean) => Promise<Response>;

const firstDelayMs = 200;
const maxDelayMs = 10_000;
const retryableStatuses = new Set([502, 503, 504]);

export function createSend({ fetch, retries, longestRetryAfter, timeoutMs }: SendOptions): Send {
  const attempt = (request: Request) =>
    fetch(request.clone(), { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]) });

  return async (request, repeatable) => {
    for (let attempts = 1; ; attempts += 1) {
      const isLast = attempts > retries;
      let wait = Math.min(maxDelayMs, firstDelayMs * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);
      try {
        const response = await attempt(request);
        // An earlier attempt without an answer has deleted it.
        if (attempts > 1 && request.method === 'DELETE' && response.status === 404) return deleted(response);
        if (isLast || !(response.status === 429 || (repeatable && retryableStatuses.has(response.status))))
          return response;
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

async function deleted(response: Response): Promise<Response> {
  await response.body?.cancel();
  return new Response(null, { status: 204, headers: { 'X-Request-Id': response.headers.get('x-request-id') ?? '' } });
}
