// What of a client's headers goes inside: nothing by which it could pass for another caller or for the gateway.
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { contextHeader, requestIdHeader } from '@almanac/service-kit/caller/call-context';
import { answerWithinHeader } from '@almanac/service-kit/caller/deadline';

const dropped = new Set([
  // hop by hop
  'host',
  'transfer-encoding',
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

type Facts = {
  requestId: string;
  clientAddress: string;
  publicUrl: URL;
  /** The signed call context; none for what is not an API call. */
  context: string | undefined;
  /** How long we wait for the answer; left out when that begins later, as with an upload. */
  answerWithinMs: number | undefined;
  /** The bearer token never goes inside; the Basic credentials and cookies of the OAuth pages do. */
  keepCredentials: boolean;
};

/** The headers to send to a service; all but the host, which is the service's own. */
export function forwardedHeaders(headers: IncomingHttpHeaders, facts: Facts): OutgoingHttpHeaders {
  const named = headers.connection?.toLowerCase();
  const { requestId, clientAddress, publicUrl, context, keepCredentials, answerWithinMs } = facts;
  const sent: OutgoingHttpHeaders = {
    [requestIdHeader]: requestId,
    'x-forwarded-for': clientAddress,
    'x-forwarded-proto': publicUrl.protocol.slice(0, -1),
    'x-forwarded-host': publicUrl.host,
  };
  if (context !== undefined) sent[contextHeader] = context;
  if (answerWithinMs !== undefined) sent[answerWithinHeader] = String(answerWithinMs);
  // Chunks stay chunks (check-framing.ts knows no other coding): Node would send a GET's body without any framing.
  if (headers['transfer-encoding'] !== undefined) sent['transfer-encoding'] = 'chunked';
  for (const name in headers) {
    if (dropped.has(name) || droppedPrefixes.test(name)) continue;
    if (!keepCredentials && (name === 'authorization' || name === 'cookie')) continue;
    if (named !== undefined && isConnectionToken(named, name)) continue;
    sent[name] = headers[name];
  }
  return sent;
}

// `Connection: x-foo` makes x-foo hop by hop; what says how the body is to be read can't be taken away that way.
function isConnectionToken(named: string, name: string): boolean {
  if (name === 'content-length' || name === 'content-type') return false;
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
