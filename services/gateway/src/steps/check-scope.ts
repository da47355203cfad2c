// What the token allows.
import { requireScope } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { RequestHandler } from 'express';
import { callOf } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import type { ApiRoute } from '../routes.ts';
import type { Token } from '../tokens/token.ts';

/** Refuses a call that the token's scopes do not hold (403), and notes it for the audit log. */
export const checkScope =
  ({ noteRefusal }: GatewayContext): RequestHandler =>
  (_req, res, next) => {
    const call = callOf(res);
    try {
      requireScope(call.token as Token, (call.route as ApiRoute).scope);
    } catch (error) {
      if (error instanceof ServiceError) noteRefusal(call, error);
      throw error;
    }
    next();
  };
