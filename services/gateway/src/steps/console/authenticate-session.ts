// The caller of a call of the console: the session of the browser, resolved to its user.
import { ServiceError } from '@almanac/service-kit/errors';
import type { RequestHandler } from 'express';
import type { Token } from '../../authentication/token.ts';
import { callOf, updateCall } from '../../call.ts';
import type { GatewayContext } from '../../context.ts';
import type { ApiRoute } from '../../routes.ts';

/** Resolves the session; 401 when there is none, 503 when it can't be resolved. */
export function authenticateSession({ sessions, meters }: GatewayContext): RequestHandler {
  return async (req, res, next) => {
    const token = await sessions.resolve(req.headers.cookie);
    updateCall(res, { token, meter: meters.of(token.accountId) });
    next();
  };
}

/**
 * Refuses an act of consequence when the password was given long ago (403): another person may sit
 * at the computer.
 */
export function checkConfirmed({ sessions }: GatewayContext): RequestHandler {
  const isConfirmed = ({ session }: Token) => session !== undefined && session.confirmedUntilMs > Date.now();
  return async (req, res, next) => {
    const { route, token } = callOf(res) as { route: ApiRoute; token: Token };
    // It may have been given since the session was cached.
    if (
      route.confirmed &&
      !isConfirmed(token) &&
      !isConfirmed(await sessions.resolve(req.headers.cookie, { isFresh: true }))
    )
      throw new ServiceError('forbidden', {
        code: 'password_required',
        message: 'Give your password again: POST /console/session/confirm.',
      });
    next();
  };
}
