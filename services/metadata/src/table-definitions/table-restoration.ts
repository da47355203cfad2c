// Restoring a removed table within some days (design 3.4): its definition, its columns and its
// deployed definition, all under the ids they had. The request is stored before data is called, so
// that the reconciler finishes it after a crash.

import { normalizeName } from '@almanac/service-kit/api/names';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { requireRight } from '@almanac/service-kit/rights/rights';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import {
  effectiveRowPolicy,
  type OwnRowPolicy,
  rowPolicyFields,
  rowPolicyRevisions,
} from '../branches/row-policies.ts';
import type { MetadataContext } from '../context.ts';
import type { column_definition, deployed_table_definition, table_definition } from '../generated/prisma/client.ts';
import { releaseKey, transactOnce } from '../requests/idempotency.ts';
import { callerFor, noRequester, type Requester, requesterOf } from '../requests/requester.ts';
import { placeOf } from '../rights/place.ts';
import { guardBranch } from '../rights/protected-branches.ts';
import { lockRow, mapUniqueViolation, recordAct, type Transaction, transact } from '../transaction.ts';
import {
  announceDefinition,
  requireRoom,
  requireTableDefinition,
  requireVisibleDefinition,
  type TableDefinition,
} from './table-definitions.ts';
import { isBeingRemoved } from './table-references.ts';
import { auditFacts, isRefusal } from './table-removal.ts';

/** How long a removed table can be restored. */
export const restorableDays = 7;

// Times are texts in JSON; the database converts them back.
type Draft = Omit<table_definition, 'lookup_display_column_id'> & { lookup_display_column_id: number | null };
type Removed = {
  definition: (Draft & { columns: column_definition[] }) | null;
  deployed: deployed_table_definition | null;
};
type Table = { id: number; branch_id: number };

/**
 * Restores a removed table. 404 when it was not removed, or too long ago; 422 when its key or name
 * is taken, or when its domain or a table that it refers to was deleted.
 */
export async function restoreTable(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readBody: () => void,
): Promise<TableDefinition> {
  const since = new Date(Date.now() - restorableDays * 86_400_000);
  const where = { table_definition_id: id, account_id: call.accountId, removed_at: { gte: since } };
  const removal = await ctx.prisma.table_removal.findFirst({ where });
  const draft = removal && draftOf(removal as unknown as Removed);
  if (!draft) throw notFound('Table definition');
  await requireRight(ctx.rights, call, 'develop', placeOf(draft), { fresh: true });
  const wasDeployed = removal.deployed !== null;
  const guard = wasDeployed ? await guardBranch(ctx, call, draft.branch_id, 'bring a deployed table back') : undefined;
  await guard?.(ctx.prisma);
  readBody();
  const store = async (tx: Transaction) => {
    if (!(await lockRow(tx, 'branch', call.accountId, draft.branch_id))) throw notFound('Table definition');
    await guard?.(tx);
    await requireRoom(tx, call);
    await requireRestorable(tx, call, draft);
    const data = { restore_requested_at: new Date(), ...restorationRequester(requesterOf(call)) };
    if ((await tx.table_removal.updateMany({ where, data })).count === 0) throw notFound('Table definition');
  };
  await transactOnce(ctx, call, store, () => id);
  await finishRestoration(ctx, call, draft);
  return requireTableDefinition(ctx, call, String(id));
}

const restorationRequester = ({ user_id, application_id, request_id }: Requester) => ({
  restore_requested_by: user_id,
  restore_application_id: application_id,
  restore_request_id: request_id,
});

/** Answers a repeated request: finishes the restoration that the first one began. */
export async function answerRestored(ctx: MetadataContext, call: CallContext, id: number): Promise<TableDefinition> {
  const where = { table_definition_id: id, account_id: call.accountId };
  const removal = await ctx.prisma.table_removal.findFirst({ where });
  if (removal?.restore_requested_at) {
    const requester = callerFor(call.accountId, {
      user_id: removal.restore_requested_by,
      application_id: removal.restore_application_id,
      request_id: removal.restore_request_id,
    });
    await finishRestoration(ctx, { ...call, ...requester }, { id, branch_id: removal.branch_id });
  }
  return requireVisibleDefinition(ctx, call, id);
}

// If the draft was deleted before the table was removed, the deployed definition becomes the draft.
function draftOf({ definition, deployed }: Removed): Removed['definition'] {
  if (definition || !deployed) return definition;
  const { columns, deployment_id: _d, deployed_by: _b, deployed_at: _a, ...kept } = deployed;
  const own = { account_id: deployed.account_id, table_definition_id: deployed.id };
  const draft = {
    ...kept,
    name_key: normalizeName(kept.name),
    deployed_version: kept.version,
    needs_deployment: false,
  };
  const drafted = (columns as unknown as column_definition[]).map((column) => ({
    ...column,
    ...own,
    name_key: column.name.toLowerCase(),
  }));
  return { ...draft, columns: drafted } as Removed['definition'];
}

async function requireRestorable(
  tx: Transaction,
  caller: RpcCaller,
  draft: NonNullable<Removed['definition']>,
): Promise<void> {
  const mine = { account_id: caller.accountId, branch_id: draft.branch_id };
  const { id, key, name_key, lineage_id } = draft;
  const problems: Problem[] = [];
  if ((await tx.table_definition.count({ where: { ...mine, OR: [{ key }, { name_key }, { lineage_id }] } })) > 0)
    problems.push(taken);
  if (!(await lockRow(tx, 'domain', caller.accountId, draft.domain_id, 'read')))
    problems.push({ code: 'invalid_reference', message: 'The domain of the table has been deleted' });
  for (const { name, foreign_key_table_id: target } of draft.columns) {
    if (target === null || target === id) continue;
    const isThere = await lockRow(tx, 'table_definition', caller.accountId, target, 'read');
    if (!isThere || (await isBeingRemoved(tx, caller, target)))
      problems.push({
        code: 'invalid_reference',
        message: `Column ${name} refers to a table that does not exist any more`,
        column: name,
      });
  }
  if (problems.length > 0) throw validationFailed(problems);
}

const taken: Problem = {
  code: 'taken',
  message: 'A table with this key or name, or a copy of the same one, is on the branch by now',
};

/**
 * Has data restore its table, then restores the definition. A refusal by either undoes the request.
 */
export async function finishRestoration(ctx: MetadataContext, caller: RpcCaller, table: Table): Promise<void> {
  const where = { table_definition_id: table.id, account_id: caller.accountId };
  const removal = await ctx.prisma.table_removal.findFirst({
    where: { ...where, restore_requested_at: { not: null } },
  });
  if (!removal) return; // another process has finished it
  const { definition, deployed } = removal as unknown as Removed;
  const cleared = { restore_requested_at: null, ...restorationRequester(noRequester) };
  const clearRequest = async () => {
    await ctx.prisma.table_removal.updateMany({ where, data: cleared });
    await releaseKey(ctx, caller);
  };
  if (deployed) await undoOnRefusal(clearRequest, () => restoreInData(ctx, caller, table, definition ?? {}));
  await undoOnRefusal(
    async () => {
      if (deployed) await ctx.data.DropTable(caller, { table_definition_id: table.id }, { deadlineMs: 60_000 });
      await clearRequest();
    },
    () => mapUniqueViolation(taken, () => transact(ctx, (tx) => restoreDefinition(tx, caller, table))),
  );
}

// After any other error the outcome is unknown, and the reconciler tries again.
async function undoOnRefusal(undo: () => Promise<unknown>, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isRefusal(error)) await undo();
    throw error;
  }
}

// A change of the policies since then is not in force before the restoration has ended.
async function restoreInData(
  ctx: MetadataContext,
  caller: RpcCaller,
  { id, branch_id }: Table,
  own: Partial<OwnRowPolicy>,
): Promise<void> {
  const where = { id: branch_id, account_id: caller.accountId };
  const branch = await ctx.prisma.branch.findFirst({ where, select: { ...rowPolicyFields, ...rowPolicyRevisions } });
  if (!branch) throw notFound('Table definition');
  const { row_changes, machine_imports } = effectiveRowPolicy(own, branch);
  const policy = { table_definition_id: id, row_changes, machine_imports, revision: branch.row_policy_revision };
  const request = { table_definition_id: id, policy };
  const { restored } = await ctx.data.RestoreTable(caller, request, { deadlineMs: 60_000 });
  if (!restored) throw validationFailed({ code: 'wrong_state', message: 'The rows of the table are no longer kept' });
}

async function restoreDefinition(tx: Transaction, caller: RpcCaller, table: Table): Promise<void> {
  if (!(await lockRow(tx, 'branch', caller.accountId, table.branch_id))) throw notFound('Table definition');
  const where = { table_definition_id: table.id, account_id: caller.accountId };
  const removal = await tx.table_removal.findFirst({ where });
  const draft = removal && draftOf(removal as unknown as Removed);
  if (!draft) return; // another process has restored it
  await requireRestorable(tx, caller, draft);
  const { columns, lookup_display_column_id, ...definition } = draft;
  const { clone_base: _older, ...data } = definition as typeof definition & { clone_base?: unknown };
  await tx.table_definition.create({ data });
  await tx.column_definition.createMany({ data: columns });
  await tx.table_definition.update({
    where: { id: table.id },
    data: { lookup_display_column_id, updated_at: data.updated_at },
  });
  const { deployed } = removal as unknown as Removed;
  if (deployed) await tx.deployed_table_definition.create({ data: deployed as never });
  await tx.deleted_table_definition.deleteMany({ where: { id: table.id, account_id: caller.accountId } });
  await tx.table_removal.deleteMany({ where });
  await announceDefinition(tx, caller, 'restored', table);
  await recordAct(tx, caller, {
    action: 'table_definition.restored',
    resource_type: 'table_definition',
    resource_id: table.id,
    after: auditFacts(draft),
  });
}
