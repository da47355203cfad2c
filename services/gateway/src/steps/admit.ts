// Payment and allowance: admits a call before it is forwarded.
import type { RequestHandler } from 'express';
import type { AccountMeter } from '../admission/account-meter.ts';
import { countUnanswered } from '../admission/count-call.ts';
import type { Token } from '../authentication/token.ts';
import { callOf, onClose, updateCall } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import type { ApiRoute } from '../routes.ts';

/**
 * Admits a call; 402 when writes are blocked, 429 when no allowance is left, 503 when billing can't
 * say.
 */
export function admit({ meters }: GatewayContext): RequestHandler {
  return async (req, res, next) => {
    const { route, meter, token } = callOf(res) as { route: ApiRoute; meter: AccountMeter; token: Token };
    const isWrite = route.method !== 'GET';
    const ticket = meter.tryAdmit(isWrite) ?? (await meter.admit(isWrite));
    updateCall(res, { ticket });
    if (res.destroyed) meter.putBack(ticket);
    else onClose(res, () => countUnanswered(req, res));
    if (route.settle) await meters.settle(token.accountId);
    next();
  };
}

/**
 * Admits a call of the console, which doesn't count against the allowance: 402 when writes are
 * blocked, except for those with which an account gets out of that.
 */
export function admitUncounted({ consoleUsage }: GatewayContext): RequestHandler {
  return async (req, res, next) => {
    const { route, meter, token } = callOf(res) as { route: ApiRoute; meter: AccountMeter; token: Token };
    await meter.admitUncounted(route.method !== 'GET' && !route.unpaid);
    onClose(res, () =>
      consoleUsage.count(token, { method: req.method, resource: route.resource, status: res.statusCode }),
    );
    next();
  };
}
