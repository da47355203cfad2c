// Where a request of a browser or an OAuth client came from, for the audit log.
import { readClientAddress } from '@almanac/service-kit/http/client-address';
import type { Request } from 'express';

export type Origin = { requestId: string; address: string };

/** Reads the request's id and the client's address. */
export function readOrigin(req: Request): Origin {
  return { requestId: req.res?.locals.requestId, address: readClientAddress(req) };
}
