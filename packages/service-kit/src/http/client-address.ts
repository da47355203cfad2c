// The client's address, as the gateway saw it.
import type { IncomingMessage } from 'node:http';

/**
 * The client's address. The gateway appends it to X-Forwarded-For; entries before the last are the
 * client's claims. At most 64 printable characters, in case a proxy writes more.
 */
export function readClientAddress(request: IncomingMessage): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim();
  if (forwarded && /^[\x21-\x7e]{1,64}$/.test(forwarded)) return forwarded;
  return request.socket.remoteAddress ?? 'unknown';
}

/** Whether a host's name or address is this machine. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|\[?::1\]?|(?:::ffff:)?127(?:\.\d{1,3}){3})$/i.test(host);
}

/** The network of an address (IPv4 /24, IPv6 /48): the addresses of one customer count as one. */
export function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (/^\d+\.\d+\.\d+\.\d+$/.test(mapped)) return mapped.split('.').slice(0, 3).join('.');
  return expandIpv6(mapped).slice(0, 3).join(':');
}

function expandIpv6(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().replace(/%.*$/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  if (tail === undefined) return left;
  const right = tail === '' ? [] : tail.split(':');
  return [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
}
