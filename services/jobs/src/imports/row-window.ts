// A window of rows that data keeps of a load for a day.
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { rowText } from '@almanac/service-kit/http/row-input';
import { limits } from '@almanac/service-kit/limits';
import { gatherChunks } from '@almanac/service-kit/rpc/chunks';

/** `startRow`: 0 by default; `endRow`: the row after the last one. */
export type RowWindow = { startRow?: number | undefined; endRow?: number | undefined };

export const rowWindowParameters = {
  startRow: rowText.optional().meta({ default: 0, description: 'The first row, counted from 0.' }),
  endRow: rowText.optional().meta({
    description: `The row after the last one; at most ${limits.gridRows} after startRow, ${limits.perPageDefault} by default.`,
  }),
};

/** The window as data takes it; 400 when it is none, or too large. */
export function readRowWindow({ startRow = 0, endRow = startRow + limits.perPageDefault }: RowWindow) {
  if (endRow > startRow && endRow - startRow <= limits.gridRows) return { start_row: startRow, end_row: endRow };
  throw new ServiceError('bad_request', {
    code: 'out_of_range',
    message: `endRow must be greater than startRow, by at most ${limits.gridRows}.`,
    field: 'endRow',
    params: { maximum: startRow + limits.gridRows },
  });
}

/** The bytes that data answers; 404 with `what` when it does not keep them any more. */
export async function readKept(chunks: AsyncIterable<{ chunk: Uint8Array | string }>, what: string): Promise<Buffer> {
  try {
    return await gatherChunks(chunks);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'not_found') throw error;
    throw notFound(what);
  }
}
