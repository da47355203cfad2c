// What of a client's headers goes inside: nothing by which it could pass for somebody else or for the gateway.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { contextHeader, requestIdHeader } from '@almanac/service-kit/call-context';
import { answerWithinHeader } from '@almanac/service-kit/deadline';

const dropped = new Set([
  // hop by hop
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
  'expect',
  // identity and addresses that only we may state
  'x-account-id',
  'x-user-id',
  'x-scopes',
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-original-url',
  'x-original-host',
  'x-rewrite-url',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  requestIdHeader,
]);
const droppedPrefixes = /^(?:x-almanac-|x-forwarded-|x-envoy-|grpc-|:|__proto__$)/;

export type Forwarding = {
  requestId: string;
  clientAddress: string;
  publicUrl: URL;
  /** The signed call context; none for what is not an API call. */
  context?: string;
  /** How long we wait for the answer; left out when that begins later, as with an upload. */
  answerWithinMs?: number;
  /** The bearer token never goes inside; the Basic credentials and cookies of the OAuth pages do. */
  keepCredentials: boolean;
};

/** The headers to send to a service. */
export function forwardedHeaders(headers: IncomingHttpHeaders, forwarding: Forwarding): IncomingHttpHeaders {
  const named = headers.connection?.toLowerCase();
  const clean: IncomingHttpHeaders = {};
  for (const name in headers) {
    if (dropped.has(name) || droppedPrefixes.test(name)) continue;
    if (!forwarding.keepCredentials && (name === 'authorization' || name === 'cookie')) continue;
    if (named !== undefined && isConnectionToken(named, name)) continue;
    clean[name] = headers[name];
  }
  clean[requestIdHeader] = forwarding.requestId;
  clean['x-forwarded-for'] = forwarding.clientAddress;
  clean['x-forwarded-proto'] = forwarding.publicUrl.protocol.slice(0, -1);
  clean['x-forwarded-host'] = forwarding.publicUrl.host;
  if (forwarding.context !== undefined) clean[contextHeader] = forwarding.context;
  if (forwarding.answerWithinMs !== undefined) clean[answerWithinHeader] = String(forwarding.answerWithinMs);
  return clean;
}

// `Connection: x-foo` makes x-foo hop by hop; framing headers can't be taken away that way.
function isConnectionToken(named: string, name: string): boolean {
  if (name === 'content-length' || name === 'transfer-encoding' || name === 'content-type' || name === 'host')
    return false;
  return named.includes(name) && named.split(',').some((token) => token.trim() === name);
}

/** The address the call came from: the socket's, or what the trusted proxies in front of us say it was. */
export function clientAddress(req: IncomingMessage, trustedHops: number): string {
  const direct = req.socket.remoteAddress?.replace(/^::ffff:/, '') ?? 'unknown';
  if (trustedHops === 0) return direct;
  const forwarded = String(req.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  // The rightmost entry was written by the proxy next to us, the one before by the proxy in front of that, and so on.
  return forwarded.at(-trustedHops) ?? forwarded[0] ?? direct;
}
