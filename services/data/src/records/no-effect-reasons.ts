// What is true of rows just now: asked when a statement found nothing to do, to say why.
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import type { DataContext } from '../context.ts';
import type { DeployedTable } from '../tables/table.ts';
import { readRow } from './read-row.ts';

type Wanted = { id: string; versions: number[] | undefined };

/** 404 unless the row is there and live, 412 unless it has one of the versions. */
export async function requireLive(ctx: DataContext, table: DeployedTable, wanted: Wanted): Promise<void> {
  if ((await requireRow(ctx, table, wanted)).svc_is_deleted) throw notFound('Record');
}

/** The same for a row that may be deleted. */
export async function requireRow(
  ctx: DataContext,
  table: DeployedTable,
  { id, versions }: Wanted,
): Promise<{ svc_is_deleted: boolean }> {
  const row = await readRow(ctx.pools, table, id);
  if (!row) throw notFound('Record');
  if (versions !== undefined && !versions.includes(row.svc_version))
    throw new ServiceError('precondition_failed', 'The record has been changed since it was read (If-Match).');
  return row;
}

/** 404 that names each of these, if any. */
export function refuseUnknown(ids: string[]): void {
  if (ids.length > 0)
    throw new ServiceError(
      'not_found',
      ids.map((id) => `Record ${id} not found`),
    );
}
