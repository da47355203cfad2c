// What the dry run of an import table would have changed: data keeps it for a day.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { JobsContext } from '../context.ts';
import { finishedTableStates } from '../states/import-states.ts';
import { openImportTable, wrongState } from './imports.ts';
import { type RowWindow, readKept, readRowWindow } from './row-window.ts';

export const changeKinds = ['created', 'updated', 'deleted'] as const;

/** `kind`: all by default. */
type ChangesWindow = RowWindow & { kind?: string | undefined };

/**
 * A window of the changes, as the body of the answer. 404 when they are no longer kept, 422 unless
 * the table is a dry run that has ended.
 */
export async function readDryRunChanges(
  ctx: JobsContext,
  call: CallContext,
  ids: { importId: number; tableId: number },
  { kind = '', ...given }: ChangesWindow,
): Promise<Buffer> {
  const { table } = await openImportTable(ctx, call, ids, 'view');
  const window = readRowWindow(given);
  if (!table.dry_run) throw wrongState('The import table is no dry run; its changes are in the history of its rows.');
  if (!(finishedTableStates as string[]).includes(table.status)) throw wrongState('The dry run has not ended yet.');
  const changes = ctx.data.ReadLoadChanges(call, { load_id: table.load_id, kind, ...window });
  return readKept(changes, 'Change of the dry run');
}
