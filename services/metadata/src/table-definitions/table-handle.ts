// The three handles of a table definition: its id, its uuid, or its key together with a branch
// (contract, Table definitions).

import { idTextSchema } from '@almanac/service-kit/api/input';
import { ServiceError } from '@almanac/service-kit/errors';

export type TableHandle = { id: number } | { uuid: string } | { key: string };

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Reads a handle; with `branchId` the definition must be on that branch. A key without one is 400.
 */
export function readTableHandle(text: string, branchId: number | undefined): TableHandle & { branch_id?: number } {
  const branch = branchId === undefined ? {} : { branch_id: branchId };
  const id = idTextSchema.safeParse(text);
  if (id.success) return { id: id.data, ...branch };
  if (uuidPattern.test(text)) return { uuid: text.toLowerCase(), ...branch };
  if (!/^[\p{L}_]/u.test(text) || text.includes('\u0000') || [...text].length > 600)
    throw new ServiceError('bad_request', {
      code: 'wrong_format',
      message: 'id must be a numeric id, a UUID or a key.',
      field: 'id',
    });
  if (branchId === undefined)
    throw new ServiceError('bad_request', {
      code: 'blank',
      message: 'branch_id is required with a key.',
      field: 'branch_id',
    });
  return { key: text.normalize('NFKC'), ...branch };
}
