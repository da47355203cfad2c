// The references to a table, and what else blocks its removal.
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { lockRow, type Transaction } from '../transaction.ts';

type Caller = { accountId: number };
type Table = { id: number; branch_id: number };

/** True while a removal or deployment takes the table out of service. */
export async function isBeingRemoved(tx: Transaction, caller: Caller, id: number): Promise<boolean> {
  return (await findBeingRemoved(tx, caller, { table_definition_id: id })).size > 0;
}

type Which = { table_definition_id: number | { in: number[] } } | { branch_id: number };

/** The ids of those tables that a removal or deployment is taking out of service. */
export async function findBeingRemoved(tx: Transaction, { accountId }: Caller, which: Which): Promise<Set<number>> {
  const select = { table_definition_id: true } as const;
  const where = { ...which, account_id: accountId, removed_at: null };
  const removals = await tx.table_removal.findMany({ where, select });
  const running = { status: 'deploying', account_id: accountId };
  const named = await tx.deployment_table.findMany({
    where:
      'branch_id' in which
        ? { is_removal: true, deployment: { ...running, branch_id: which.branch_id } }
        : { ...which, is_removal: true, deployment: running },
    select,
  });
  return new Set([...removals, ...named].map(({ table_definition_id }) => table_definition_id));
}

/** Columns of other drafts that refer to the table, as `Table.column`. */
export async function listDraftReferences(tx: Transaction, caller: Caller, id: number): Promise<string[]> {
  const columns = await tx.column_definition.findMany({
    where: { account_id: caller.accountId, foreign_key_table_id: id, table_definition_id: { not: id } },
    select: { name: true, table_definition: { select: { name: true } } },
    orderBy: { id: 'asc' },
  });
  return columns.map((column) => `${column.table_definition.name}.${column.name}`);
}

/** Columns of other deployed tables that refer to the table, as `Table.column`. */
export async function listDeployedReferences(tx: Transaction, caller: Caller, table: Table): Promise<string[]> {
  const rows = await tx.$queryRaw<{ name: string }[]>`
    select deployed.name || '.' || (part.value ->> 'name') as name
    from deployed_table_definition deployed, jsonb_array_elements(deployed.columns) with ordinality part
    where deployed.account_id = ${caller.accountId} and deployed.branch_id = ${table.branch_id}
      and deployed.id <> ${table.id} and (part.value ->> 'foreign_key_table_id')::int = ${table.id}
    order by deployed.id, part.ordinality`;
  return rows.map(({ name }) => name);
}

/** Throws 422 naming the columns that refer to the table. */
export function refuseReferences(names: string[]): void {
  const distinct = [...new Set(names)];
  if (distinct.length > 0)
    throw validationFailed({
      code: 'still_referenced',
      message: `Table definition is referred to by columns of other tables: ${distinct.join(', ')}`,
      params: { table_definitions: distinct },
    });
}

/**
 * Locks a table and its branch for the removal of the table. Deployments begin under the same lock
 * on the branch; a running one that applies the table is 422.
 */
export async function lockForRemoval(tx: Transaction, caller: Caller, table: Table): Promise<void> {
  if (!(await lockRow(tx, 'branch', caller.accountId, table.branch_id))) throw notFound('Table definition');
  await lockRow(tx, 'table_definition', caller.accountId, table.id, 'remove');
  const running = await tx.deployment.findFirst({
    where: { deploying_branch_id: table.branch_id, tables: { some: { table_definition_id: table.id } } },
    select: { id: true },
  });
  if (running)
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: `Deployment ${running.id} is applying this table; wait for its end.`,
      params: { deployment_id: running.id },
    });
}
