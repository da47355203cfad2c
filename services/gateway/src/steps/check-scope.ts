// The scope that a route requires.
import { requireScope } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { RequestHandler } from 'express';
import type { Token } from '../authentication/token.ts';
import { callOf } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import type { ApiRoute } from '../routes.ts';

/** Refuses a call without the required scope (403), and reports it to the audit log. */
export const checkScope =
  ({ auditRefusal }: GatewayContext): RequestHandler =>
  (_req, res, next) => {
    const call = callOf(res);
    try {
      requireScope(call.token as Token, (call.route as ApiRoute).scope);
    } catch (error) {
      if (error instanceof ServiceError) auditRefusal(call, error);
      throw error;
    }
    next();
  };
