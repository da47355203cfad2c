// Parameters of the routes that answer rows: their window, flags, and how numbers are shown.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';

/** The number of a row, counted from 0. */
export const rowText = z
  .string()
  .regex(/^\d{1,15}$/, 'must be an integer from 0')
  .transform((text) => Math.min(Number(text), limits.int4))
  .meta({ type: 'integer', minimum: 0 });

/** True or false in a query. */
export const flagText = z.enum(['true', 'false']).transform((text) => text === 'true');

const exactNumbersText =
  'With `true` decimals and bigints of records are JSON strings, so that no JSON parser rounds them. ' +
  'By default they are JSON numbers with all their digits, which JSON.parse and most parsers read into doubles: ' +
  '9007199254740993 becomes 9007199254740992. Records are written with either.';

/** The query parameter of every route that answers records. */
export const exactNumbersQuery = {
  exact_numbers: flagText
    .optional()
    .meta({ description: `${exactNumbersText} The header Exact-Numbers says the same; either is enough.` }),
};

/** The header of the same routes, as the document shows it. */
export const exactNumbersHeader = { 'Exact-Numbers': '`true` or `false`: the same as `exact_numbers`.' };

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

/** The window of a request. 400 unless it has 0 to `limits.gridRows` rows. */
export function readRowWindow({ startRow = 0, endRow = startRow + limits.perPageDefault }: RowWindow): {
  startRow: number;
  endRow: number;
} {
  if (endRow < startRow || endRow - startRow > limits.gridRows)
    throw new ServiceError('bad_request', {
      code: 'out_of_range',
      message: `endRow must be at least startRow, and at most ${limits.gridRows} more.`,
      field: 'endRow',
      params: { minimum: startRow, maximum: startRow + limits.gridRows },
    });
  return { startRow, endRow };
}

type RowWindow = { startRow?: number | undefined; endRow?: number | undefined };
