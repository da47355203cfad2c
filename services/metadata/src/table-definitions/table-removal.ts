// Removing tables: the draft alone (DELETE), or the draft and the deployed table (remove). The
// latter needs data, so it is stored before data is called, and the reconciler finishes it after a
// crash.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { deletedAct } from '@almanac/service-kit/messaging/audit';
import { requireRight } from '@almanac/service-kit/rights/rights';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { inOrder } from '../columns/column-fields.ts';
import type { MetadataContext } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { releaseKey, transactOnce } from '../requests/idempotency.ts';
import { callerFor, requesterOf } from '../requests/requester.ts';
import { placeOf } from '../rights/place.ts';
import { guardTable } from '../rights/protected-branches.ts';
import { recordAct, type Transaction, transact } from '../transaction.ts';
import { announceDefinition, type TableDefinition } from './table-definitions.ts';
import { readTableHandle } from './table-handle.ts';
import {
  isBeingRemoved,
  listDeployedReferences,
  listDraftReferences,
  lockForRemoval,
  refuseReferences,
} from './table-references.ts';

/** Deletes a draft with its columns for good. The table deployed from it stays in service. */
export async function deleteTableDefinition(
  ctx: MetadataContext,
  call: CallContext,
  definition: TableDefinition,
): Promise<void> {
  await requireRight(ctx.rights, call, 'develop', placeOf(definition), { fresh: true });
  const guard = await guardTable(ctx, call, definition, 'delete the definition of a deployed table');
  await guard(ctx.prisma);
  await transact(ctx, async (tx) => {
    await lockForRemoval(tx, call, definition);
    await guard(tx);
    if (await isBeingRemoved(tx, call, definition.id))
      throw new ServiceError('wrong_state', { code: 'wrong_state', message: 'Table definition is being removed.' });
    refuseReferences(await listDraftReferences(tx, call, definition.id));
    await deleteDefinition(tx, call, definition.id);
  });
}

/** Deletes a draft that nothing refers to, and announces that. */
export async function deleteDefinition(tx: Transaction, caller: RpcCaller, id: number): Promise<void> {
  const definition = await tx.table_definition.findFirst({
    where: { id, account_id: caller.accountId },
    include: { columns: { orderBy: inOrder } },
  });
  if (!definition) throw notFound('Table definition');
  await deleteDrafts(tx, caller, [id]);
  // The views of a table in service go on with it.
  if ((await tx.deployed_table_definition.count({ where: { id, account_id: caller.accountId } })) === 0)
    await tx.saved_view.deleteMany({ where: { table_definition_id: id, account_id: caller.accountId } });
  await announceDefinition(tx, caller, 'deleted', definition);
  await recordAct(tx, caller, deletedAct('table_definition', auditFacts(definition)));
}

// `deleted_table_definition` keeps what a promotion of the deletion needs. Columns are deleted
// first: the tables may refer to each other.
async function deleteDrafts(tx: Transaction, caller: RpcCaller, ids: number[]): Promise<void> {
  await tx.$executeRaw`
    insert into deleted_table_definition (id, account_id, branch_id, domain_id, lineage_id, key, name)
    select id, account_id, branch_id, domain_id, lineage_id, key, name from table_definition
    where id = any(${ids}) and account_id = ${caller.accountId}`;
  const mine = { account_id: caller.accountId };
  await tx.column_definition.deleteMany({ where: { ...mine, table_definition_id: { in: ids } } });
  await tx.table_definition.deleteMany({ where: { ...mine, id: { in: ids } } });
}

type Audited = { id: number; key: string; name: string; domain_id: number; branch_id: number; version: number };

/** The facts of a removed or restored table in the audit log. */
export function auditFacts({ id, key, name, domain_id, branch_id, version, columns }: Audited & { columns: unknown }) {
  const column_names = (columns as { name: string }[]).map((column) => column.name);
  return { id, key, name, domain_id, branch_id, version, column_names };
}

type Removable = { id: number; branch_id: number; domain_id: number };

/** The draft that a handle names, or the deployed table of a draft that was deleted; else 404. */
export async function requireRemovable(
  ctx: MetadataContext,
  call: CallContext,
  handle: string,
  branchId?: number,
): Promise<Removable> {
  const where = { ...readTableHandle(handle, branchId), account_id: call.accountId };
  const select = { id: true, branch_id: true, domain_id: true };
  const found =
    (await ctx.prisma.table_definition.findFirst({ where, select })) ??
    (await ctx.prisma.deployed_table_definition.findFirst({ where, select }));
  if (!found) throw notFound('Table definition');
  return found;
}

/** Removes a table from service with its draft. It can be restored for some days. */
export async function removeTable(ctx: MetadataContext, call: CallContext, table: Removable): Promise<void> {
  await requireRight(ctx.rights, call, 'develop', placeOf(table), { fresh: true });
  const guard = await guardTable(ctx, call, table, 'remove a deployed table');
  await guard(ctx.prisma);
  const requester = requesterOf(call);
  const store = async (tx: Transaction) => {
    await lockForRemoval(tx, call, table);
    await guard(tx);
    refuseReferences([
      ...(await listDraftReferences(tx, call, table.id)),
      ...(await listDeployedReferences(tx, call, table)),
    ]);
    await tx.table_removal.createMany({
      data: {
        table_definition_id: table.id,
        account_id: call.accountId,
        branch_id: table.branch_id,
        requested_by: requester.user_id,
        application_id: requester.application_id,
        request_id: requester.request_id,
      },
      skipDuplicates: true,
    });
    const where = { id: table.id, account_id: call.accountId };
    if ((await tx.deployed_table_definition.count({ where })) > 0) return true;
    if (!(await finish(tx, call, table))) throw notFound('Table definition');
    return false;
  };
  const isDeployed = await transactOnce(ctx, call, store, () => table.id);
  if (isDeployed && !(await finishRemoval(ctx, call, table))) throw notFound('Table definition');
}

/**
 * Answers a repeated request: finishes the removal that the first one began, if it is unfinished.
 */
export async function answerRemoved(ctx: MetadataContext, call: CallContext, id: number): Promise<void> {
  const open = { table_definition_id: id, account_id: call.accountId, removed_at: null };
  const removal = await ctx.prisma.table_removal.findFirst({ where: open });
  if (!removal) return;
  const requester = callerFor(call.accountId, { ...removal, user_id: removal.requested_by });
  await finishRemoval(ctx, { ...call, ...requester }, { id, branch_id: removal.branch_id });
}

/** Has data drop the table, then deletes its definitions; false: another process has done that. */
export async function finishRemoval(
  ctx: MetadataContext,
  caller: RpcCaller,
  table: { id: number; branch_id: number },
): Promise<boolean> {
  try {
    await ctx.data.DropTable(caller, { table_definition_id: table.id }, { deadlineMs: 60_000 });
  } catch (error) {
    if (isRefusal(error)) {
      await deleteRemoval(ctx, caller, table.id);
      await releaseKey(ctx, caller);
    }
    throw error;
  }
  return transact(ctx, (tx) => finish(tx, caller, table));
}

/**
 * True for a refusal by data. After any other error it is unknown whether data has done its part.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.status < 500;
}

async function deleteRemoval(ctx: MetadataContext, caller: RpcCaller, id: number): Promise<void> {
  const where = { table_definition_id: id, account_id: caller.accountId, removed_at: null };
  await ctx.prisma.table_removal.deleteMany({ where });
}

async function finish(tx: Transaction, caller: RpcCaller, table: Table): Promise<boolean> {
  const open = { table_definition_id: table.id, account_id: caller.accountId, removed_at: null };
  // A concurrent update of the row waits here, and then finds the removal closed.
  const { count } = await tx.table_removal.updateMany({ where: open, data: { removed_at: new Date() } });
  if (count === 0) return false;
  await deleteRemoved(tx, caller, [table]);
  return true;
}

type Table = { id: number; branch_id: number };

/** Records removals by a deployment that data has applied. The tables can be restored. */
export async function recordRemovals(tx: Transaction, caller: RpcCaller, tables: Table[]): Promise<void> {
  if (tables.length === 0) return;
  const { user_id, application_id, request_id } = requesterOf(caller);
  await tx.table_removal.createMany({
    data: tables.map(({ id, branch_id }) => ({
      table_definition_id: id,
      account_id: caller.accountId,
      branch_id,
      requested_by: user_id,
      application_id,
      request_id,
      removed_at: new Date(),
    })),
  });
  await deleteRemoved(tx, caller, tables);
}

// Deletes drafts and deployed definitions, after storing both for a restoration.
async function deleteRemoved(tx: Transaction, caller: RpcCaller, tables: Table[]): Promise<void> {
  const ids = tables.map(({ id }) => id);
  const mine = { id: { in: ids }, account_id: caller.accountId };
  const definitions = await tx.table_definition.findMany({
    where: mine,
    include: { columns: { orderBy: inOrder } },
  });
  const deployed = await tx.deployed_table_definition.findMany({ where: mine });
  const definitionOf = (id: number) => definitions.find((each) => each.id === id) ?? null;
  const deployedOf = (id: number) => deployed.find((each) => each.id === id) ?? null;
  for (const { id } of tables)
    await tx.table_removal.updateMany({
      where: { table_definition_id: id, account_id: caller.accountId },
      data: { definition: asJson(definitionOf(id)), deployed: asJson(deployedOf(id)) },
    });
  await deleteDrafts(tx, caller, ids);
  await tx.deployed_table_definition.deleteMany({ where: mine });
  for (const table of tables) {
    await announceDefinition(tx, caller, 'removed', table);
    const last = definitionOf(table.id) ?? deployedOf(table.id);
    if (last)
      await recordAct(tx, caller, {
        ...deletedAct('table_definition', auditFacts(last)),
        action: 'table_definition.removed',
      });
  }
}

function asJson(value: object | null): Prisma.InputJsonValue | undefined {
  return value === null ? undefined : (JSON.parse(JSON.stringify(value)) as Prisma.InputJsonValue);
}
