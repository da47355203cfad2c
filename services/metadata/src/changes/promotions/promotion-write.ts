// Writes the outcome of a merge to the target branch: drafts, which then need a deployment. All of
// it runs in the caller's transaction, with the branch and the definitions locked, and in set-based
// statements, however many tables there are.

import { normalizeName } from '@almanac/service-kit/api/names';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { moveChangesToDomain, nextDefinitionIds, requireRoom } from '../../table-definitions/table-definitions.ts';
import { lockForRemoval } from '../../table-definitions/table-references.ts';
import { deleteDefinition } from '../../table-definitions/table-removal.ts';
import type { TableStructure } from '../../table-definitions/table-structure.ts';
import { announceAll, byCaller, type Transaction } from '../../transaction.ts';
import { type Branches, moveBases } from './comparison/branch-sides.ts';
import type { PlannedTable } from './comparison/promotion-plan.ts';

type Written = PlannedTable & { merged: TableStructure; id: number; version: number };

/** Makes the target branch what the plan says; answers the ids of the resulting definitions. */
export async function writePlan(
  tx: Transaction,
  call: RpcCaller,
  branches: Branches,
  tables: PlannedTable[],
): Promise<number[]> {
  const changed = tables.filter(({ diff }) => diff.change !== 'unchanged');
  await freeNames(tx, changed);
  for (const { targetId, merged } of changed)
    if (targetId !== null && !merged) await deleteTarget(tx, call, { id: targetId, branch_id: branches.to_branch_id });
  const written = await assignIds(tx, call, changed);
  await insertDefinitions(tx, call, branches, written);
  await writeColumns(tx, call, branches, written);
  await writeAttributes(tx, call, written);
  for (const { id, target, merged } of written)
    if (target && target.domain_id !== merged.domain_id) await moveChangesToDomain(tx, id, merged.domain_id);
  await announceWritten(tx, call, branches, written);
  const ids = new Map(written.map(({ sourceId, id }) => [sourceId, id]));
  await moveBases(
    tx,
    call,
    tables.flatMap(({ sourceId, sourceVersion, source, targetId }) => {
      const target = ids.get(sourceId) ?? targetId;
      return source && target !== null
        ? [{ sourceId, targetId: target, version: sourceVersion ?? 0, structure: source }]
        : [];
    }),
  );
  return tables.flatMap(({ sourceId, targetId, merged }) =>
    merged ? [ids.get(sourceId) ?? (targetId as number)] : [],
  );
}

async function announceWritten(
  tx: Transaction,
  call: RpcCaller,
  { to_branch_id: branch_id }: Branches,
  written: Written[],
): Promise<void> {
  const [made, changed] = [[] as Written[], [] as Written[]];
  for (const table of written) (table.targetId === null ? made : changed).push(table);
  const payloadOf = ({ id }: Written) => ({ table_definition_id: id, branch_id, ...byCaller(call) });
  const cloned = made.map((table) => ({ ...payloadOf(table), source_id: table.sourceId }));
  await announceAll(tx, call, 'table_definition.cloned', cloned);
  await announceAll(tx, call, 'table_definition.updated', changed.map(payloadOf));
}

// Two tables or columns may exchange names, and a table may be deleted that another one stops
// referring to. Until all is written, changed ones have names that no user can give (a normalised
// name begins with no blank) and refer to nothing.
async function freeNames(tx: Transaction, changed: PlannedTable[]): Promise<void> {
  const ids = changed.flatMap(({ targetId }) => (targetId === null ? [] : [targetId]));
  await tx.$executeRaw`update table_definition set name_key = ' ' || id where id = any(${ids})`;
  await tx.$executeRaw`
    update column_definition set name_key = ' ' || id, foreign_key_table_id = null where table_definition_id = any(${ids})`;
}

// As DELETE does it: the deployed table stays in service until it is removed.
async function deleteTarget(
  tx: Transaction,
  call: RpcCaller,
  target: { id: number; branch_id: number },
): Promise<void> {
  await lockForRemoval(tx, call, target);
  await deleteDefinition(tx, call, target.id);
}

async function assignIds(tx: Transaction, call: RpcCaller, changed: PlannedTable[]): Promise<Written[]> {
  const newTables = changed.filter(({ targetId, merged }) => merged && targetId === null).length;
  await requireRoom(tx, call, newTables);
  const ids = (await nextDefinitionIds(tx, newTables)).values();
  return changed.flatMap((table) => {
    const { merged, targetId, targetVersion } = table;
    if (!merged) return [];
    return [{ ...table, merged, id: targetId ?? (ids.next().value as number), version: (targetVersion ?? 0) + 1 }];
  });
}

async function insertDefinitions(
  tx: Transaction,
  call: RpcCaller,
  { to_branch_id }: Branches,
  written: Written[],
): Promise<void> {
  await tx.table_definition.createMany({
    data: written
      .filter(({ targetId }) => targetId === null)
      .map(({ id, merged, lineageId, sourceId, sourceVersion }) => ({
        id,
        account_id: call.accountId,
        branch_id: to_branch_id,
        lineage_id: lineageId,
        key: merged.key,
        name: merged.name,
        name_key: ` ${id}`,
        domain_id: merged.domain_id,
        cloned_from_id: sourceId,
        cloned_from_version: sourceVersion,
        creator_id: call.userId ?? null,
      })),
  });
}

async function writeColumns(
  tx: Transaction,
  call: RpcCaller,
  { to_branch_id }: Branches,
  written: Written[],
): Promise<void> {
  const sql = prismaSql(tx);
  const kept = written.flatMap(({ id, merged }) =>
    merged.columns.map((column) => ({ ...column, table_definition_id: id, name_key: column.name.toLowerCase() })),
  );
  await sql(
    `delete from column_definition c where table_definition_id = any($1::int[])
       and not exists (select from jsonb_to_recordset($2::jsonb) as k (table_definition_id int, lineage_id int)
         where k.table_definition_id = c.table_definition_id and k.lineage_id = c.lineage_id)`,
    [written.map(({ id }) => id), JSON.stringify(kept)],
  );
  await sql(
    `insert into column_definition as c (account_id, table_definition_id, lineage_id, name, name_key, data_type, length, scale,
       is_primary_key, is_required, foreign_key_table_id, is_hierarchy, valid_values, description, position, updated_at)
     select $1::int, k.table_definition_id, k.lineage_id, k.name, k.name_key, k.data_type, k.length, k.scale,
       k.is_primary_key, k.is_required, t.id, k.is_hierarchy, k.valid_values, k.description, k.position, now()
     from jsonb_to_recordset($2::jsonb) as k (table_definition_id int, lineage_id int, name text, name_key text, data_type text,
       length int, scale int, is_primary_key boolean, is_required boolean, foreign_key_table_key text, is_hierarchy boolean, valid_values text,
       description text, position int)
     left join table_definition t on t.account_id = $1::int and t.branch_id = $3::int and t.key = k.foreign_key_table_key
     order by k.table_definition_id, k.position
     on conflict (table_definition_id, lineage_id) do update set
       (name, name_key, data_type, length, scale, is_primary_key, is_required, foreign_key_table_id, is_hierarchy, valid_values, description,
        position, updated_at) =
       (excluded.name, excluded.name_key, excluded.data_type, excluded.length, excluded.scale, excluded.is_primary_key,
        excluded.is_required, excluded.foreign_key_table_id, excluded.is_hierarchy, excluded.valid_values, excluded.description, excluded.position, now())`,
    [call.accountId, JSON.stringify(kept), to_branch_id],
  );
}

async function writeAttributes(tx: Transaction, call: RpcCaller, written: Written[]): Promise<void> {
  const rows = written.map(({ id, version, merged: { columns: _columns, ...attributes } }) => ({
    ...attributes,
    id,
    version,
    name_key: normalizeName(attributes.name),
  }));
  await prismaSql(tx)(
    `update table_definition t set name = m.name, name_key = m.name_key, description = m.description, domain_id = m.domain_id,
       load_type = m.load_type, version = m.version, needs_deployment = true, updated_at = now(),
       lookup_display_column_id = (select c.id from column_definition c
         where c.table_definition_id = t.id and c.lineage_id = m.lookup_display_lineage_id)
     from jsonb_to_recordset($2::jsonb) as m (id int, name text, name_key text, description text, domain_id int, load_type text,
       version int, lookup_display_lineage_id int)
     where t.id = m.id and t.account_id = $1::int`,
    [call.accountId, JSON.stringify(rows)],
  );
}
