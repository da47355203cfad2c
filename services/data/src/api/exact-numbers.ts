// How a request for rows asks for exact numbers: a query parameter or a header of the same meaning.
import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';
import { z } from 'zod';

const values = ['true', 'false'] as const;
const about =
  'With `true` decimals and bigints of records are JSON strings, so that no JSON parser rounds them. ' +
  'By default they are JSON numbers with all their digits, which JSON.parse and most parsers read into doubles: ' +
  '9007199254740993 becomes 9007199254740992. Records are written with either.';

/** The query parameter of every route that answers records. */
export const exactNumbersQuery = {
  exact_numbers: z
    .enum(values)
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: `${about} The header Exact-Numbers says the same; either is enough.` }),
};

/** The header of the same routes, for the document. */
export const exactNumbersHeader = { 'Exact-Numbers': '`true` or `false`: the same as `exact_numbers`.' };

/** Whether records are to show decimals and bigints as strings: either the parameter or the header is enough. */
export function readExactNumbers(query: { exact_numbers?: boolean }, headers: IncomingHttpHeaders): boolean {
  const header = headers['exact-numbers'];
  if (header !== undefined && !values.some((value) => value === header))
    throw new ServiceError('bad_request', 'Exact-Numbers must be true or false.');
  return header === 'true' || query.exact_numbers === true;
}
