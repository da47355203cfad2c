// The step before the gateway's own documents.
import type { RequestHandler } from 'express';
import { type DefaultHeader, setDefaultHeaders } from '../answers/default-headers.ts';

/** Sets the headers of every answer. */
export const addDefaultHeaders =
  (headers: readonly DefaultHeader[]): RequestHandler =>
  (_req, res, next) => {
    setDefaultHeaders(res, headers);
    next();
  };
