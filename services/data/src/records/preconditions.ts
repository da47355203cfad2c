// What must be true of a table and its rows for a write: checked before, or when a statement found
// nothing to do, to say why.
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { JsonText } from '@almanac/service-kit/http/json-text';
import type { Place, Problem } from '@almanac/service-kit/problems';
import type { Pools } from '../postgres/pools.ts';
import { type Column, type DeployedTable, keyColumns } from '../tables/table.ts';
import { readRow } from './single-rows.ts';

/** 422 for a write by hand where rows come from imports: the next file would undo it. */
export function requireManual({ load_type }: DeployedTable): void {
  if (load_type === 'source')
    throw validationFailed({
      code: 'read_only',
      message: 'Rows of this table come from imports (load type source); they are not written by hand.',
    });
}

/** The columns of the primary key; 400 for a table that has none. */
export function requireKey({ structure }: Pick<DeployedTable, 'structure'>): Column[] {
  const key = keyColumns(structure);
  if (key.length > 0) return key;
  throw new ServiceError('bad_request', {
    code: 'incompatible',
    message: 'This table has no primary key; its records are named by their id.',
  });
}

type Wanted = { id: string; versions: number[] | undefined };

/** 404 unless the row is there and live, 412 unless it has one of the versions. */
export async function requireLive(pools: Pools, table: DeployedTable, wanted: Wanted): Promise<void> {
  if ((await requireRow(pools, table, wanted)).svc_is_deleted) throw notFound('Record');
}

/** The same for a row that may be deleted. */
export async function requireRow(
  pools: Pools,
  table: DeployedTable,
  { id, versions }: Wanted,
): Promise<{ svc_is_deleted: boolean }> {
  const row = await readRow(pools, table, id);
  if (!row) throw notFound('Record');
  if (versions !== undefined && !versions.includes(row.svc_version))
    throw new ServiceError('precondition_failed', {
      code: 'version_conflict',
      message: 'The record has been changed since it was read (If-Match).',
      ...rowOf(id),
      params: { version: row.svc_version },
      current: new JsonText(row.record),
    });
  return row;
}

/** The place of a problem with this record; no record has an id that a JSON number can't hold. */
export const rowOf = (id: string | number): Place => (Number.isSafeInteger(Number(id)) ? { row: Number(id) } : {});

/** 404 that names each of these, if any. */
export function refuseUnknown(ids: string[]): void {
  if (ids.length > 0)
    throw new ServiceError(
      'not_found',
      ids.map((id): Problem => ({ code: 'not_found', message: `Record ${id} not found`, ...rowOf(id) })),
    );
}
