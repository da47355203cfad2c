// The address that a request came from.
import type { IncomingMessage } from 'node:http';

/** The address of the socket or, behind trusted proxies, the one they wrote to X-Forwarded-For. */
export function clientAddress(req: IncomingMessage, trustedHops: number): string {
  const direct = req.socket.remoteAddress?.replace(/^::ffff:/, '') ?? 'unknown';
  if (trustedHops === 0) return direct;
  const forwarded = String(req.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  // Each proxy appends the address it saw: the rightmost entry comes from the proxy next to us, the
  // one before it from the proxy in front of that one.
  return forwarded.at(-trustedHops) ?? forwarded[0] ?? direct;
}
