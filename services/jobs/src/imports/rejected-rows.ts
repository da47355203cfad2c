// The rows of a file that a load has rejected, with all their cells: data keeps them for a day.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { z } from 'zod';
import type { JobsContext } from '../context.ts';
import type { FileFormat } from '../formats/table-file/file-format.ts';
import type { import_table } from '../generated/prisma/client.ts';
import { planColumns, positionOf } from '../import-mappings/column-plan.ts';
import { mappingOf, type PinnedMapping } from '../import-mappings/mapping.ts';
import type { rejectedRowsSchema } from './import-view.ts';
import { openImportTable } from './imports.ts';
import { type RowWindow, readKept, readRowWindow } from './row-window.ts';

export type RejectedRows = z.input<typeof rejectedRowsSchema>;

/** A window of the rejected rows. 404 when there are none, or they are no longer kept. */
export async function listRejectedRows(
  ctx: JobsContext,
  call: CallContext,
  ids: { importId: number; tableId: number },
  given: RowWindow,
): Promise<RejectedRows> {
  const { table } = await openImportTable(ctx, call, ids, 'view');
  return readRejectedRows(ctx, call, table, readRowWindow(given));
}

type Window = { start_row: number; end_row: number; rows?: number[] };

/** The same of a table that the caller may view; `rows`: only those with these numbers. */
export async function readRejectedRows(
  ctx: JobsContext,
  call: CallContext,
  table: import_table,
  window: Window,
): Promise<RejectedRows> {
  const chunks = ctx.data.ListRejectedRows(call, { load_id: table.load_id, ...window });
  const kept = JSON.parse((await readKept(chunks, 'Rejected row')).toString()) as Kept;
  const targets = await findTargets(ctx, call, table, kept.columns);
  return { ...kept, columns: kept.columns.map((name, position) => ({ name, target: targets.get(position) ?? null })) };
}

type Kept = Omit<RejectedRows, 'columns'> & { columns: string[] };

// None when the table no longer has a column that the file needs: its load says so.
async function findTargets(ctx: JobsContext, call: CallContext, table: import_table, header: string[]) {
  const mapping = table.mapping === null ? null : mappingOf(table.mapping as PinnedMapping);
  try {
    const deployed = await ctx.data.GetDeployedTable(call, { table_definition_id: table.table_definition_id });
    const how = { ...table, fileFormat: table.format as FileFormat };
    const { columns } = planColumns(header, deployed.columns, mapping, how);
    return new Map(columns.map((source) => [positionOf(source), source.target_column]));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return new Map<number, string>();
  }
}
