// Load shedding: reject early so that admitted requests finish.
import { ServiceError } from '@almanac/service-kit/errors';
import type { RequestHandler } from 'express';
import { callOf } from '../call.ts';
import { quietPaths } from './open-call.ts';

/** Refuses with 503 while `isOverloaded`; only the gateway's health is still answered. */
export const shedLoad =
  (isOverloaded: () => boolean): RequestHandler =>
  (_req, res, next) => {
    if (isOverloaded() && !quietPaths.has(callOf(res).path))
      throw new ServiceError('unavailable', 'There is too much to do just now; try again.');
    next();
  };
