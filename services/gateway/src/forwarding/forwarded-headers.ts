// The headers that a service receives. Headers that could impersonate another caller or the gateway
// are removed.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { contextHeader, requestIdHeader } from '@almanac/service-kit/caller/call-context';
import { answerWithinHeader } from '@almanac/service-kit/caller/deadline';

const removed = new Set([
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
  // identity and addresses, which only the gateway may set
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
const removedPrefixes = /^(?:x-almanac-|x-forwarded-|x-envoy-|grpc-|:|__proto__$)/;

type Facts = {
  requestId: string;
  clientAddress: string;
  publicUrl: URL;
  /** The signed call context; undefined outside the API. */
  context: string | undefined;
  /** The time limit for the answer; undefined for an upload, whose limit starts later. */
  answerWithinMs: number | undefined;
  /** Keep Basic credentials and cookies, for the OAuth pages. A bearer token is never forwarded. */
  keepCredentials: boolean;
};

/** The headers to send to a service, except Host, which the proxy sets. */
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
  // Chunked stays chunked (check-framing.ts accepts no other coding): without this header Node
  // would send a GET's body without any framing.
  if (headers['transfer-encoding'] !== undefined) sent['transfer-encoding'] = 'chunked';
  for (const name in headers) {
    if (removed.has(name) || removedPrefixes.test(name)) continue;
    if (!keepCredentials && (name === 'authorization' || name === 'cookie')) continue;
    if (named !== undefined && isConnectionToken(named, name)) continue;
    sent[name] = headers[name];
  }
  return sent;
}

// `Connection: x-foo` makes x-foo hop by hop. Headers that say how to read the body can't be
// removed that way.
function isConnectionToken(named: string, name: string): boolean {
  if (name === 'content-length' || name === 'content-type') return false;
  return named.includes(name) && named.split(',').some((token) => token.trim() === name);
}
