// Addresses outside the API that a service answers by itself: the OAuth endpoints and pages of identity, pre-signed files of
// jobs, signed messages of the payment provider to billing, and the mail folder of jobs for whoever tries Almanac on his own
// machine. No token is asked for and nothing is counted.
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '@almanac/service-kit/client-address';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { readPath } from '@almanac/service-kit/path';
import type { UpstreamName } from '../config.ts';
import type { GatewayContext } from '../context.ts';
import { answerOptions } from './cors.ts';
import { type Exchange, expectAnswer, oauthPrefix } from './exchange.ts';
import { clientAddress, forwardedHeaders } from './forwarded-headers.ts';
import { sizeProblem } from './framing.ts';

type PassThrough = {
  /** Of every address below it. */
  prefix: string;
  service: UpstreamName;
  /** Of all but those in `own`. */
  methods: string[];
  /** Addresses that take others. */
  own?: Record<string, string[]>;
  keepCredentials: boolean;
  limit: number;
  /** Only for who sits at this machine; for everybody else there is nothing there. */
  isLocal?: boolean;
};

const passThroughs: PassThrough[] = [
  {
    prefix: oauthPrefix,
    service: 'identity',
    methods: ['GET', 'HEAD', 'POST'],
    own: {
      '/oauth/token': ['POST'],
      '/oauth/revoke': ['POST'],
      '/oauth/introspect': ['POST'],
      '/oauth/style.css': ['GET', 'HEAD'],
    },
    keepCredentials: true,
    limit: 65_536,
  },
  { prefix: '/.well-known/', service: 'identity', methods: ['GET', 'HEAD'], keepCredentials: false, limit: 0 },
  {
    prefix: '/files/',
    service: 'jobs',
    methods: ['GET', 'HEAD', 'PUT'],
    keepCredentials: false,
    limit: limits.uploadBytes,
  },
  {
    prefix: '/webhooks/payments',
    service: 'billing',
    methods: ['POST'],
    keepCredentials: false,
    limit: limits.webhookBytes,
  },
  { prefix: '/dev/mail', service: 'jobs', methods: ['GET', 'HEAD'], keepCredentials: false, limit: 0, isLocal: true },
];

/** The service that answers a path outside the API, if one does. */
export function findPassThrough(path: string): PassThrough | undefined {
  return passThroughs.find(({ prefix }) => path.startsWith(prefix));
}

/** Forwards such a request; throws what is wrong with it. */
export function passThrough(ctx: GatewayContext, exchange: Exchange, found: PassThrough): void {
  const { req, requestId } = exchange;
  const address = clientAddress(req, ctx.config.trustedHops);
  if (!readPath(exchange.path) || (found.isLocal && !isFromHere(req, address)))
    throw new ServiceError('not_found', 'There is nothing at this address.');
  const methods = found.own?.[exchange.path] ?? found.methods;
  const allow = [...methods, 'OPTIONS'].join(', ');
  if (req.method === 'OPTIONS') {
    answerOptions(ctx, exchange, allow);
    return;
  }
  if (!methods.includes(req.method ?? ''))
    throw new ServiceError('method_not_allowed', `Use ${allow}.`, { headers: { Allow: allow } });
  const problem = sizeProblem(req, found.limit);
  if (problem) throw problem;
  ctx.callerLimits.enterAddress(exchange, address);
  const { timeouts } = ctx.config;
  exchange.isUpload = req.method === 'PUT';
  expectAnswer(exchange, timeouts.readMs);
  const headers = forwardedHeaders(req.headers, {
    requestId,
    clientAddress: address,
    publicUrl: ctx.publicUrl,
    keepCredentials: found.keepCredentials,
  });
  ctx.upstreams.forward(found.service, exchange, headers);
}

// A page of another site, or a proxy on this machine, comes from a local address too, but asks for another host.
function isFromHere(req: IncomingMessage, address: string): boolean {
  return isLoopback(address) && isLoopback(URL.parse(`http://${req.headers.host}`)?.hostname ?? '');
}
