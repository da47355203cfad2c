// What is deployed, for other services: one table, and how many rows tables have.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { TableReference } from '@almanac/service-kit/rights/table-reference';
import { type Pools, run } from '../postgres/pools.ts';
import { tableName } from '../sql/identifiers.ts';
import { type Catalogue, notDeployed } from './catalogue.ts';
import { requireLoadable } from './row-policy.ts';

type Access = { catalogue: Catalogue; pools: Pools };

type Named = { table_definition_id?: number; table_definition_key?: string; branch_id?: number; to_load?: boolean };

/**
 * The table of an id, or of a key and a branch; read from the database, so that the latest
 * deployment shows. `to_load`: 422 when its policy refuses a load by the caller.
 */
export async function getDeployedTable({ catalogue, pools }: Access, call: CallContext, named: Named) {
  const table = await catalogue.read(call.accountId, referenceOf(named));
  if (!table) throw notDeployed();
  if (named.to_load) requireLoadable(table, call);
  const { table_definition_id, key, name, branch_id, domain_id, version, load_type, structure, history_since } = table;
  const [clock] = await run<{ now: Date }>(pools.rows, { text: 'select clock_timestamp() as now', values: [] });
  const now = clock?.now as Date;
  return {
    ...{ table_definition_id, key, name, branch_id, domain_id, version, load_type },
    columns: structure.columns.map((column) => ({
      ...column,
      length: column.length ?? undefined,
      scale: column.scale ?? undefined,
      foreign_key_table_id: column.foreign_key_table_id ?? undefined,
    })),
    as_of_from: new Date(history_since).toISOString(),
    as_of_until: now.toISOString(),
  };
}

function referenceOf({
  table_definition_id: id,
  table_definition_key: key,
  branch_id: branchId,
}: Named): TableReference {
  if (id) return { id };
  if (key && branchId) return { key, branchId };
  throw new ServiceError('bad_request', { code: 'blank', message: 'Name a table by id, or by key and branch.' });
}

/** Live rows of each table; tables that the account has not deployed are left out. */
export async function countRows(
  { catalogue, pools }: Access,
  call: CallContext,
  ids: number[],
): Promise<{ table_definition_id: number; rows: number }[]> {
  const counts = [];
  for (const id of new Set(ids)) {
    const table = await catalogue.read(call.accountId, { id });
    if (!table) continue;
    const text = `select count(*) as rows from ${tableName(table)} where not svc_is_deleted`;
    const [row] = await run<{ rows: number }>(pools.rows, { text, values: [] });
    counts.push({ table_definition_id: id, rows: row?.rows ?? 0 });
  }
  return counts;
}
