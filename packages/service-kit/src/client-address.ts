// Where a request came from, as the gateway saw it.
import type { IncomingMessage } from 'node:http';

/**
 * The client's address. The gateway appends the one it saw to X-Forwarded-For; what stands before that is the client's own word.
 * At most 64 printable characters, whatever a proxy in front of us has written.
 */
export function readClientAddress(request: IncomingMessage): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim();
  if (forwarded && /^[\x21-\x7e]{1,64}$/.test(forwarded)) return forwarded;
  return request.socket.remoteAddress ?? 'unknown';
}

/** Whether a host's name or address can only mean this machine. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|\[?::1\]?|(?:::ffff:)?127(?:\.\d{1,3}){3})$/i.test(host);
}
