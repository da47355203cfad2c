import type { ServerResponse } from 'node:http';

/** Aborted when the connection of a request ends before its answer was sent. */
export function callerLeft(response: ServerResponse): AbortSignal {
  const leaving = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) leaving.abort();
  });
  return leaving.signal;
}
