// Where a request came from, as the gateway saw it.
import type { IncomingMessage } from 'node:http';

/**
 * The client's address. The gateway appends the one it saw to X-Forwarded-For; what stands before that is the client's own word.
 */
export function readClientAddress(request: IncomingMessage): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim();
  return (forwarded || (request.socket.remoteAddress ?? 'unknown')).slice(0, 64);
}
