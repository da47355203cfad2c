// Addresses outside the API that a service answers by itself: the OAuth endpoints and pages of identity, and pre-signed
// files of jobs. No token is asked for and nothing is counted.
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { UpstreamName } from '../config.ts';
import type { GatewayContext } from '../context.ts';
import { readPath } from '../route-matcher.ts';
import { type Exchange, expectAnswer } from './exchange.ts';
import { clientAddress, forwardedHeaders } from './forwarded-headers.ts';
import { sizeProblem } from './framing.ts';

type PassThrough = {
  prefix: string;
  service: UpstreamName;
  methods: string[];
  keepCredentials: boolean;
  limit: number;
};

const passThroughs: PassThrough[] = [
  { prefix: '/oauth/', service: 'identity', methods: ['GET', 'HEAD', 'POST'], keepCredentials: true, limit: 65_536 },
  { prefix: '/.well-known/', service: 'identity', methods: ['GET', 'HEAD'], keepCredentials: false, limit: 0 },
  {
    prefix: '/files/',
    service: 'jobs',
    methods: ['GET', 'HEAD', 'PUT'],
    keepCredentials: false,
    limit: limits.uploadBytes,
  },
];

/** The service that answers a path outside the API, if one does. */
export function findPassThrough(path: string): PassThrough | undefined {
  return passThroughs.find(({ prefix }) => path.startsWith(prefix));
}

/** Forwards such a request; throws what is wrong with it. */
export function passThrough(ctx: GatewayContext, exchange: Exchange, found: PassThrough): void {
  const { req, requestId } = exchange;
  if (!readPath(exchange.path)) throw new ServiceError('not_found', 'There is nothing at this address.');
  exchange.isOAuth = found.prefix === '/oauth/';
  const allow = found.methods.join(', ');
  if (!found.methods.includes(req.method ?? ''))
    throw new ServiceError('method_not_allowed', `Use ${allow}.`, { headers: { Allow: allow } });
  const problem = sizeProblem(req, found.limit);
  if (problem) throw problem;
  const { timeouts } = ctx.config;
  exchange.isUpload = req.method === 'PUT';
  expectAnswer(exchange, timeouts.readMs);
  req.headers = forwardedHeaders(req.headers, {
    requestId,
    clientAddress: clientAddress(req, ctx.config.trustedHops),
    publicUrl: ctx.publicUrl,
    keepCredentials: found.keepCredentials,
  });
  ctx.upstreams.forward(found.service, exchange);
}
