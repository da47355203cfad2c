// Limits one caller so that others are served: the rate of an account's calls, and the number of
// its requests in flight; outside the API, the number of a network's. The requests that are refused
// don't count against the allowance. Each gateway has its own limits, so two gateways allow twice
// as much.

import { ServiceError } from '@almanac/service-kit/errors';
import { networkOf } from '@almanac/service-kit/http/client-address';
import type { RequestHandler, Response } from 'express';
import { BurstyRateLimiter, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Token } from '../authentication/token.ts';
import { callOf, onClose } from '../call.ts';
import type { GatewayLimits } from '../config.ts';

const burstSeconds = 10;
const personBurstSeconds = 5;
const personSteady = 2; // calls a second

/** Limits the rate and the concurrency of an account's calls; 429 beyond the limits. */
export function limitAccount({ callerRequests, accountBurst }: GatewayLimits): RequestHandler {
  const rate = rateOf(accountBurst, burstSeconds);
  const refusal = `This account has made ${accountBurst} calls in less than ${burstSeconds} seconds.`;
  const enter = limitInFlight(callerRequests, 'account');
  return async (_req, res, next) => {
    const { accountId } = callOf(res).token as Token;
    enter(accountId, res);
    await consume(rate, accountId, refusal);
    next();
  };
}

/**
 * Limits the rate of a person's calls of the console, in all their sessions; 429 beyond it. Those
 * who have used up a minute's calls go on at a lower rate, and don't wait for the next minute.
 */
export function limitPerson({ personBurst, personMinute }: GatewayLimits): RequestHandler {
  const burst = rateOf(personBurst, personBurstSeconds);
  const minute = new BurstyRateLimiter(rateOf(personSteady, 1), rateOf(personMinute, 60));
  const rates = [
    [burst, `You have made ${personBurst} calls in less than ${personBurstSeconds} seconds.`],
    [minute, `You have made ${personMinute} calls in less than a minute; ${personSteady} a second are answered now.`],
  ] as const;
  return async (_req, res, next) => {
    const { accountId, userId } = callOf(res).token as Token;
    for (const [rate, refusal] of rates) await consume(rate, `${accountId}:${userId}`, refusal);
    next();
  };
}

const rateOf = (points: number, duration: number) => new RateLimiterMemory({ points, duration, keyPrefix: '' });

type Rate = Pick<RateLimiterMemory, 'consume'>;

async function consume(rate: Rate, caller: number | string, refusal: string): Promise<void> {
  try {
    await rate.consume(caller);
  } catch (error) {
    const { msBeforeNext } = error as RateLimiterRes;
    throw tooMany(refusal, Math.max(1, Math.ceil(msBeforeNext / 1000)));
  }
}

/** Limits the concurrency of requests without a token, by network; 429 beyond the limit. */
export function limitNetwork({ callerRequests }: GatewayLimits): RequestHandler {
  const enter = limitInFlight(callerRequests, 'network');
  return (_req, res, next) => {
    enter(networkOf(callOf(res).clientAddress), res);
    next();
  };
}

// A caller's entry is deleted with its last request, so that the map stays small.
function limitInFlight(max: number, callerKind: string): (caller: number | string, res: Response) => void {
  const inFlight = new Map<number | string, number>();
  const leave = (caller: number | string) => {
    const open = inFlight.get(caller) ?? 0;
    if (open > 1) inFlight.set(caller, open - 1);
    else inFlight.delete(caller);
  };
  return (caller, res) => {
    const open = inFlight.get(caller) ?? 0;
    if (open >= max) throw tooMany(`This ${callerKind} has ${max} requests in progress; wait for one to end.`, 1);
    if (res.destroyed) return; // the client has disconnected
    inFlight.set(caller, open + 1);
    onClose(res, () => leave(caller));
  };
}

const tooMany = (message: string, seconds: number) =>
  new ServiceError(
    'too_many_requests',
    { code: 'too_many_requests', message, params: { retry_after: seconds } },
    { headers: { 'Retry-After': String(seconds) } },
  );
