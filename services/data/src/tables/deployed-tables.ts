// Answers what is deployed: one table for other services, and how many rows tables have.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { DataContext } from '../context.ts';
import { run } from '../postgres/pools.ts';
import { tableName } from '../sql/identifiers.ts';
import { notDeployed, type TableReference } from './catalogue.ts';

type Named = { table_definition_id?: number; table_definition_key?: string; branch_id?: number };

/** By id, or by key and branch; read afresh, so that what was just deployed is there. */
export async function getDeployedTable(ctx: DataContext, call: CallContext, named: Named) {
  const table = await ctx.catalogue.read(call.accountId, referenceOf(named));
  if (!table) throw notDeployed();
  const { table_definition_id, key, name, branch_id, domain_id, version, load_type, structure, history_since } = table;
  const [clock] = await run<{ now: Date }>(ctx.pools.rows, { text: 'select clock_timestamp() as now', values: [] });
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
  throw new ServiceError('bad_request', 'Name a table by id, or by key and branch.');
}

/** Live rows per table; what isn't deployed in the account is left out. */
export async function countRows(
  ctx: DataContext,
  call: CallContext,
  ids: number[],
): Promise<{ table_definition_id: number; rows: number }[]> {
  const counts = [];
  for (const id of new Set(ids)) {
    const table = await ctx.catalogue.read(call.accountId, { id });
    if (!table) continue;
    const text = `select count(*) as rows from ${tableName(table)} where not svc_is_deleted`;
    const [row] = await run<{ rows: number }>(ctx.pools.rows, { text, values: [] });
    counts.push({ table_definition_id: id, rows: row?.rows ?? 0 });
  }
  return counts;
}
