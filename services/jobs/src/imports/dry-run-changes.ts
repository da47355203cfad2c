// What the dry run of an import table would have changed: data keeps it for a day.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { JobsContext } from '../context.ts';
import { finishedTableStates } from '../states/import-states.ts';
import { getImport, requireImportRight } from './imports.ts';

export const changeKinds = ['created', 'updated', 'deleted'] as const;

/** `kind`: all by default. */
export type ChangesWindow = { kind?: string | undefined; startRow?: number | undefined; endRow?: number | undefined };

/**
 * A window of the changes, as the body of the answer. 404 when they are no longer kept, 422 unless
 * the table is a dry run that has ended.
 */
export async function readDryRunChanges(
  ctx: JobsContext,
  call: CallContext,
  { importId, tableId }: { importId: number; tableId: number },
  { kind = '', startRow = 0, endRow = startRow + limits.perPageDefault }: ChangesWindow,
): Promise<Buffer> {
  const found = await getImport(ctx, call, importId);
  await requireImportRight(ctx, call, found, 'view');
  const table = found.import_tables.find(({ id }) => id === tableId);
  if (!table) throw notFound('Import table');
  if (endRow <= startRow || endRow - startRow > limits.gridRows)
    throw new ServiceError('bad_request', {
      code: 'out_of_range',
      message: `endRow must be greater than startRow, by at most ${limits.gridRows}.`,
      field: 'endRow',
      params: { maximum: startRow + limits.gridRows },
    });
  const refuse = (message: string) => new ServiceError('wrong_state', { code: 'wrong_state', message });
  if (!table.dry_run) throw refuse('The import table is no dry run; its changes are in the history of its rows.');
  if (!(finishedTableStates as string[]).includes(table.status)) throw refuse('The dry run has not ended yet.');
  return readWindow(ctx, call, { load_id: table.load_id, kind, start_row: startRow, end_row: endRow });
}

type Window = { load_id: string; kind: string; start_row: number; end_row: number };

async function readWindow(ctx: Pick<JobsContext, 'data'>, call: CallContext, window: Window): Promise<Buffer> {
  const parts: Buffer[] = [];
  try {
    for await (const { chunk } of ctx.data.ReadLoadChanges(call, window)) parts.push(chunk as Buffer);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'not_found') throw error;
    throw notFound('Change of the dry run');
  }
  return Buffer.concat(parts);
}
