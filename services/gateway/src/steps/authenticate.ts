// The caller: the bearer token, verified, and the meter of its account.
import type { Request, RequestHandler } from 'express';
import { readBearer, type Token } from '../authentication/token.ts';
import { updateCall } from '../call.ts';
import type { GatewayContext } from '../context.ts';

/** Verifies the token; 401 when it is not valid, 503 when it can't be verified. */
export function authenticate({ tokens, meters }: GatewayContext): RequestHandler {
  const verify = async (req: Request): Promise<Token> => {
    const bearer = readBearer(req);
    return tokens.findVerified(bearer) ?? (await tokens.verify(bearer));
  };
  return async (req, res, next) => {
    const token = await verify(req);
    updateCall(res, { token, meter: meters.of(token.accountId) });
    next();
  };
}
