// Load shedding: reject early so that admitted requests finish.
import { ServiceError } from '@almanac/service-kit/errors';
import type { RequestHandler } from 'express';
import { callOf } from '../call.ts';
import { healthPaths } from './start-call.ts';

/** Refuses requests with 503 while `isOverloaded`. Health checks are always answered. */
export const shedLoad =
  (isOverloaded: () => boolean): RequestHandler =>
  (_req, res, next) => {
    if (isOverloaded() && !healthPaths.has(callOf(res).path))
      throw new ServiceError('unavailable', 'The gateway is overloaded; retry later.');
    next();
  };
