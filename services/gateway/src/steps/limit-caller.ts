// Keeps one caller from taking what all of them share: how fast an account calls, and how many requests of an account, or
// outside the API of a network, are under way at once. None of it is counted against the allowance. The limits are those of
// one gateway; a second one lets a caller do as much again.

import { ServiceError } from '@almanac/service-kit/errors';
import { networkOf } from '@almanac/service-kit/http/client-address';
import type { RequestHandler, Response } from 'express';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { callOf, whenOver } from '../call.ts';
import type { GatewayLimits } from '../config.ts';
import type { Token } from '../tokens/token.ts';

const burstSeconds = 10;

/** Lets a call of an account in until its answer is over; 429 when it is one too many, or one too soon. */
export function limitAccount({ callerRequests, accountBurst }: GatewayLimits): RequestHandler {
  const burst = new RateLimiterMemory({ points: accountBurst, duration: burstSeconds, keyPrefix: '' });
  const enter = limitUnderWay(callerRequests, 'account');
  return async (_req, res, next) => {
    const { accountId } = callOf(res).token as Token;
    enter(accountId, res);
    try {
      await burst.consume(accountId);
    } catch (refusal) {
      const { msBeforeNext } = refusal as RateLimiterRes;
      throw tooMany(
        `This account has made ${accountBurst} calls in less than ${burstSeconds} seconds.`,
        Math.max(1, Math.ceil(msBeforeNext / 1000)),
      );
    }
    next();
  };
}

/** Lets a request without a token in until its answer is over; 429 when there are too many from around its address. */
export function limitNetwork({ callerRequests }: GatewayLimits): RequestHandler {
  const enter = limitUnderWay(callerRequests, 'network');
  return (_req, res, next) => {
    enter(networkOf(callOf(res).clientAddress), res);
    next();
  };
}

// An entry goes with the last request of its caller.
function limitUnderWay(most: number, who: string): (caller: number | string, res: Response) => void {
  const underWay = new Map<number | string, number>();
  const leave = (caller: number | string) => {
    const open = underWay.get(caller) ?? 0;
    if (open > 1) underWay.set(caller, open - 1);
    else underWay.delete(caller);
  };
  return (caller, res) => {
    const open = underWay.get(caller) ?? 0;
    if (open >= most) throw tooMany(`This ${who} has ${most} requests under way; wait for one to end.`, 1);
    if (res.destroyed) return; // its client has gone
    underWay.set(caller, open + 1);
    whenOver(res, () => leave(caller));
  };
}

const tooMany = (sentence: string, seconds: number) =>
  new ServiceError('too_many_requests', sentence, { headers: { 'Retry-After': String(seconds) } });
