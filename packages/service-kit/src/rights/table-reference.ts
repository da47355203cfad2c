// How a request names a table: by `table_definition_id`, or by `table_definition_key` with
// `branch_id`. Both are fine as long as they name the same table.
import { z } from 'zod';
import { idSchema, idTextSchema } from '../api/input.ts';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ProblemCode } from '../problems.ts';

const keySchema = z
  .string()
  .min(1)
  .max(limits.nameCodePoints)
  .meta({ description: 'Instead of `table_definition_id`, with `branch_id`.' });

const idText = { description: 'The table, unless `table_definition_key` names it.' };

/** The parameters in a body. */
export const tableInBody = {
  table_definition_id: idSchema.optional().meta(idText),
  table_definition_key: keySchema.optional(),
  branch_id: idSchema.optional().meta({ description: 'Required with `table_definition_key`.' }),
};

/** The same in a query. */
export const tableInQuery = {
  table_definition_id: idTextSchema.optional().meta(idText),
  table_definition_key: keySchema.optional(),
  branch_id: idTextSchema.optional().meta({ description: 'Required with `table_definition_key`.' }),
};

/** The parameters as a request gives them. */
export type NamedTable = {
  table_definition_id?: number | undefined;
  table_definition_key?: string | undefined;
  branch_id?: number | undefined;
};

/**
 * A table by its id, with the key and branch that were given besides; or by its key on a branch.
 */
export type TableReference =
  | { id: number; key?: string | undefined; branchId?: number | undefined }
  | { key: string; branchId: number };

const refused = (code: ProblemCode, field: string, message: string) =>
  new ServiceError('bad_request', { code, message, field });

/** The table that a request names; 400 when it names none. */
export function readTableReference(named: NamedTable): TableReference {
  const reference = findTableReference(named);
  if (reference) return reference;
  throw refused(
    'blank',
    'table_definition_id',
    'table_definition_id is required, or table_definition_key with branch_id.',
  );
}

/** The same where a table may be left out. 400 for half of a reference. */
export function findTableReference(named: NamedTable): TableReference | undefined {
  const { table_definition_id: id, table_definition_key: key, branch_id: branchId } = named;
  if (key !== undefined && branchId === undefined)
    throw refused('blank', 'branch_id', 'branch_id is required with table_definition_key.');
  // As metadata derives keys from names.
  const normal = key?.normalize('NFKC');
  if (id !== undefined) return { id, key: normal, branchId };
  if (normal !== undefined && branchId !== undefined) return { key: normal, branchId };
  if (branchId === undefined) return undefined;
  throw refused('incompatible', 'branch_id', 'branch_id is taken together with table_definition_key.');
}

/**
 * 400 when a reference by id has the key or branch of another table. Checked after the rights on
 * the table, because the answer tells its key.
 */
export function requireSameTable(reference: TableReference, table: { key: string; branch_id: number }): void {
  const { key = table.key, branchId = table.branch_id } = reference;
  if (key !== table.key || branchId !== table.branch_id)
    throw refused(
      'incompatible',
      'table_definition_id',
      'table_definition_id names another table than branch_id and table_definition_key.',
    );
}
