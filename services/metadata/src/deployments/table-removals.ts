// The tables that a deployment takes out of service: what data is asked of them, and what stands in
// the way that data doesn't know, columns of other definitions that refer to them.
import type { Prisma } from '../generated/prisma/client.ts';
import type { TableDiff } from './deployment-diffs.ts';
import type { Wanted } from './wanted-tables.ts';

type Reader = Pick<Prisma.TransactionClient, 'deployed_table_definition' | 'column_definition'>;

/** A table to be removed. `references`: columns of definitions that stay, as `Table.column`. */
export type Removal = { table: Wanted; references: string[] };

/** Those of the tables that are in service on the branch; `version` is the one in service. */
export async function findRemovals(
  db: Reader,
  { accountId }: { accountId: number },
  branchId: number,
  ids: number[],
): Promise<Removal[]> {
  if (ids.length === 0) return [];
  const where = { id: { in: ids }, account_id: accountId, branch_id: branchId };
  const tables = await db.deployed_table_definition.findMany({ where, orderBy: { id: 'asc' } });
  const columns = await db.column_definition.findMany({
    where: { account_id: accountId, foreign_key_table_id: { in: ids }, table_definition_id: { notIn: ids } },
    select: { name: true, foreign_key_table_id: true, table_definition: { select: { name: true } } },
    orderBy: { id: 'asc' },
  });
  const referring = Map.groupBy(columns, (column) => column.foreign_key_table_id as number);
  return tables.map((table) => ({
    table: {
      table_definition_id: table.id,
      lineage_id: table.lineage_id,
      uuid: table.uuid,
      key: table.key,
      name: table.name,
      description: '',
      branch_id: table.branch_id,
      domain_id: table.domain_id,
      load_type: table.load_type,
      version: table.version,
      columns: [],
      is_removed: true,
    },
    references: (referring.get(table.id) ?? []).map((column) => `${column.table_definition.name}.${column.name}`),
  }));
}

const describeReferences = (references: string[]) =>
  `Columns of other definitions refer to this table: ${references.join(', ')}`;

/** What stands in the way of the removals by their definitions, a sentence each. */
export function listReferences(removals: Removal[]): string[] {
  return removals
    .filter(({ references }) => references.length > 0)
    .map(({ table, references }) => `${table.name}: ${describeReferences(references)}`);
}

/** The diffs with what stands in the way by the definitions. */
export function withReferences(diffs: TableDiff[], removals: Removal[]): TableDiff[] {
  const byId = new Map(removals.map(({ table, references }) => [table.table_definition_id, references]));
  return diffs.map((diff) => {
    const references = byId.get(diff.table_definition_id) ?? [];
    if (references.length === 0) return diff;
    return { ...diff, blockers: [...diff.blockers, { message: describeReferences(references), rows: 0 }] };
  });
}
