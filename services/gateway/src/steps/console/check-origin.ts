// Calls of the console carry a cookie, which browsers add to requests of other sites, too. So each
// call, reads included, has to show that a page of the console made it. No answer allows another
// origin anything.
import { ServiceError } from '@almanac/service-kit/errors';
import type { Request, RequestHandler } from 'express';
import type { GatewayContext } from '../../context.ts';

/** Without a preflight no page of another site can send it, and no preflight is answered. */
export const consoleHeader = 'x-almanac-console';

/** Refuses requests that no page of the console made (403). */
export const checkOrigin = ({ publicUrl }: Pick<GatewayContext, 'publicUrl'>): RequestHandler => {
  const isOwn = ({ headers }: Request) => {
    const site = headers['sec-fetch-site'];
    return site === undefined ? headers.origin === publicUrl.origin : site === 'same-origin';
  };
  return (req, _res, next) => {
    if (req.headers[consoleHeader] === '1' && isOwn(req)) next();
    else
      throw new ServiceError('forbidden', {
        code: 'cross_site',
        message: 'Only pages of the console may call this address.',
      });
  };
};
