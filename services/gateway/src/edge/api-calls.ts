// A call of the API, step by step: route, token, scope, limits of the account, payment, allowance, context, forward (design, rule 4).
import { requireScope } from '@almanac/service-kit/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { readPath } from '@almanac/service-kit/path';
import type { GatewayContext } from '../context.ts';
import type { AccountMeter } from '../metering/account-meter.ts';
import type { ApiRoute } from '../routes.ts';
import { contextFor, recallContext } from '../tokens/call-contexts.ts';
import { readBearer, type Token } from '../tokens/token.ts';
import { answerOptions } from './cors.ts';
import { type Exchange, expectAnswer, refuse } from './exchange.ts';
import { clientAddress, forwardedHeaders } from './forwarded-headers.ts';
import { hasBody, sizeProblem } from './framing.ts';

const prefix = '/api/v1/';

export const isApiPath = (path: string) => path.startsWith(prefix);

export const nothingHere = () => new ServiceError('not_found', 'There is nothing at this address.');

/** Takes a call from its route to the service that answers it; whatever is refused on the way is answered here. */
export async function callApi(ctx: GatewayContext, exchange: Exchange): Promise<void> {
  try {
    const route = findRoute(ctx, exchange);
    if (!route) return; // OPTIONS, answered
    exchange.route = route;
    requireSize(exchange, route);
    const token = await authenticate(ctx, exchange);
    const meter = ctx.meter.of(token.accountId);
    exchange.token = token;
    exchange.meter = meter;
    requireScope(token, route.scope);
    await ctx.callerLimits.enterAccount(exchange, token.accountId);
    await admit(exchange, route, meter);
    if (route.settle) await ctx.meter.settle(token.accountId);
    const { service } = route;
    const context = recallContext(token, meter, service) ?? (await contextFor(token, meter, service, ctx.signContext));
    if (exchange.res.destroyed) return; // the client has gone; `end` puts the call back
    forward(ctx, exchange, route, context);
  } catch (error) {
    const refusal = refuse(exchange, error);
    if (refusal.kind === 'forbidden') ctx.noteRefusal(exchange, refusal);
  }
}

function findRoute(ctx: GatewayContext, exchange: Exchange): ApiRoute | undefined {
  const { req, path } = exchange;
  const segments = readPath(path);
  const matched = segments && ctx.matchRoute(segments.slice(2));
  if (!matched) throw nothingHere();
  const route = matched.methods.get(req.method ?? '');
  if (route) return route;
  if (req.method !== 'OPTIONS')
    throw new ServiceError('method_not_allowed', `Use ${matched.allow}.`, { headers: { Allow: matched.allow } });
  answerOptions(ctx, exchange, matched.allow);
  return undefined;
}

function requireSize({ req }: Exchange, route: ApiRoute): void {
  const problem = sizeProblem(req, route.upload ? limits.uploadBytes : limits.jsonBodyBytes);
  if (problem) throw problem;
}

async function authenticate(ctx: GatewayContext, { req }: Exchange): Promise<Token> {
  const bearer = readBearer(req);
  return ctx.tokens.recall(bearer) ?? (await ctx.tokens.verify(bearer));
}

async function admit(exchange: Exchange, route: ApiRoute, meter: AccountMeter): Promise<void> {
  const isWrite = route.method !== 'GET';
  const ticket = meter.tryAdmit(isWrite) ?? (await meter.admit(isWrite));
  exchange.ticket = ticket;
  if (exchange.res.destroyed) meter.putBack(ticket);
}

function forward(ctx: GatewayContext, exchange: Exchange, route: ApiRoute, context: string): void {
  const { req, requestId } = exchange;
  const { timeouts } = ctx.config;
  exchange.isUpload = route.upload;
  const withinMs = route.method === 'GET' ? timeouts.readMs : timeouts.writeMs;
  expectAnswer(exchange, withinMs);
  const headers = forwardedHeaders(req.headers, {
    requestId,
    context,
    answerWithinMs: route.upload ? undefined : withinMs,
    clientAddress: clientAddress(req, ctx.config.trustedHops),
    publicUrl: ctx.publicUrl,
    keepCredentials: false,
  });
  ctx.upstreams.forward(route.service, exchange, headers);
}

/** A service's answer begins: the call counts now, before the client sees any of it. Answers what of the allowance the client is told, if anything. */
export function answerBegins(exchange: Exchange, status: number): Record<string, string> | undefined {
  const { ticket, token, route, req } = exchange;
  if (!ticket || !token || !route) return undefined;
  ticket.meter.answered(ticket, status, {
    method: req.method ?? route.method,
    resource: route.resource,
    applicationId: token.applicationId ?? 0,
  });
  return ticket.meter.headers();
}

/**
 * The exchange is over. A call whose answer never began is put back, unless the client hung up after the service had got
 * all of the request: then it was done, and hanging up early is no way to call for nothing.
 */
export function callEnds(ctx: GatewayContext, exchange: Exchange): void {
  const { ticket, req, res } = exchange;
  ctx.callerLimits.leave(exchange);
  if (!ticket || ticket.ended) return;
  const wasSent = exchange.forwarding?.wasSent && (req.complete || !hasBody(req));
  if (wasSent && !res.headersSent) answerBegins(exchange, 499);
  else ticket.meter.putBack(ticket);
}
