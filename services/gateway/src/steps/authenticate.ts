// Who calls: the bearer token, verified, and the meter of its account.
import type { Request, RequestHandler } from 'express';
import { learn } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import { readBearer, type Token } from '../tokens/token.ts';

/** Verifies the token; 401 when it does not hold, 503 when that can't be found out. */
export function authenticate({ tokens, meter }: GatewayContext): RequestHandler {
  const verify = async (req: Request): Promise<Token> => {
    const bearer = readBearer(req);
    return tokens.recall(bearer) ?? (await tokens.verify(bearer));
  };
  return async (req, res, next) => {
    const token = await verify(req);
    learn(res, { token, meter: meter.of(token.accountId) });
    next();
  };
}
