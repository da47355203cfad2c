// What keeps one caller from taking what all of them share: how fast an account calls, and how many requests of an account, or outside the API of
// a network, are under way at once. None of it is counted against the allowance. All of it is this gateway's own; a second gateway
// lets a caller do as much again.
import { networkOf } from '@almanac/service-kit/client-address';
import { ServiceError } from '@almanac/service-kit/errors';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { GatewayLimits } from '../config.ts';
import type { Exchange } from './exchange.ts';

export type CallerLimits = {
  /** Lets a call of the account in, until `leave`; 429 when it is one too many. */
  enterAccount(exchange: Exchange, accountId: number): Promise<void>;
  /** Lets a request without a token in, until `leave`; 429 when there are too many from around its address. */
  enterAddress(exchange: Exchange, address: string): void;
  /** Its exchange is over. */
  leave(exchange: Exchange): void;
};

const burstSeconds = 10;

/** What is remembered goes with the last request of a caller, and ten seconds after the first call of a burst: only who calls just now has a place in memory. */
export function createCallerLimits({ callerRequests, accountBurst }: GatewayLimits): CallerLimits {
  const burst = new RateLimiterMemory({ points: accountBurst, duration: burstSeconds, keyPrefix: '' });
  const underWay = new Map<number | string, number>();

  const enter = (exchange: Exchange, caller: number | string, who: string) => {
    const open = underWay.get(caller) ?? 0;
    if (open >= callerRequests)
      throw tooMany(`This ${who} has ${callerRequests} requests under way; wait for one to end.`, 1);
    if (exchange.res.destroyed) return; // it has left already
    underWay.set(caller, open + 1);
    exchange.caller = caller;
  };

  return {
    async enterAccount(exchange, accountId) {
      enter(exchange, accountId, 'account');
      try {
        await burst.consume(accountId);
      } catch (refusal) {
        const { msBeforeNext } = refusal as RateLimiterRes;
        throw tooMany(
          `This account has made ${accountBurst} calls in less than ${burstSeconds} seconds.`,
          Math.max(1, Math.ceil(msBeforeNext / 1000)),
        );
      }
    },
    enterAddress: (exchange, address) => enter(exchange, networkOf(address), 'network'),
    leave(exchange) {
      const { caller } = exchange;
      if (caller === undefined) return;
      exchange.caller = undefined;
      const open = underWay.get(caller) ?? 0;
      if (open > 1) underWay.set(caller, open - 1);
      else underWay.delete(caller);
    },
  };
}

const tooMany = (sentence: string, seconds: number) =>
  new ServiceError('too_many_requests', sentence, { headers: { 'Retry-After': String(seconds) } });
