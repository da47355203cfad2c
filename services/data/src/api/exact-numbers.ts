// How a request wants decimals and bigints shown.
import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';

/** Whether decimals and bigints are shown as strings: the parameter or the header is enough. */
export function readExactNumbers(query: { exact_numbers?: boolean }, headers: IncomingHttpHeaders): boolean {
  const header = headers['exact-numbers'];
  if (header !== undefined && header !== 'true' && header !== 'false')
    throw new ServiceError('bad_request', {
      code: 'not_in_list',
      message: 'Exact-Numbers must be true or false.',
      field: 'Exact-Numbers',
      params: { allowed: ['true', 'false'] },
    });
  return header === 'true' || query.exact_numbers === true;
}
