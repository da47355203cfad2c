// The end of a branch: its definitions at once, its deployed tables right afterwards.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { deletedAct } from '@almanac/service-kit/messaging/audit';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../context.ts';
import { requesterOf } from '../requests/requester.ts';
import { guardBranch } from '../rights/protected-branches.ts';
import { visibleBranches } from '../rights/visibility.ts';
import { lockRow, recordAct, type Transaction, transact } from '../transaction.ts';
import { announceBranch, branchFields, requireBranch, requireOwnerOr, type StoredBranch } from './branches.ts';

/**
 * Deletes a branch with its definitions, deployments and deployed tables. Data drops the tables
 * right afterwards; the reconciler repeats that if it fails.
 */
export async function deleteBranch(ctx: MetadataContext, call: CallContext, id: number): Promise<void> {
  const branch = await requireBranch(ctx, call, id);
  await requireOwnerOr(ctx, call, branch, 'admin');
  const guard = await guardBranch(ctx, call, id, 'delete what is deployed');
  await guard(ctx.prisma);
  const visible = await visibleBranches(ctx, call);
  await transact(ctx, async (tx) => {
    if (!(await lockRow(tx, 'branch', call.accountId, id, 'remove'))) throw notFound('Branch');
    await guard(tx);
    await refuseNeededBranch(tx, branch, visible);
    const mine = { account_id: call.accountId, branch_id: id };
    const definitions = await tx.table_definition.findMany({ where: mine, select: { id: true } });
    await tx.column_definition.deleteMany({ where: { table_definition: mine } });
    await tx.table_definition.deleteMany({ where: mine });
    await tx.deployed_table_definition.deleteMany({ where: mine });
    await deleteOrphanedBases(
      tx,
      call,
      definitions.map((definition) => definition.id),
    );
    await announceBranch(tx, call, 'deleted', branch);
    const deleted = await tx.branch.delete({ where: { id }, select: branchFields });
    const { user_id: requested_by, ...request } = requesterOf(call);
    await tx.branch_removal.create({ data: { branch_id: id, account_id: call.accountId, requested_by, ...request } });
    await recordAct(tx, call, deletedAct('branch', deleted));
  });
  await dropBranch(ctx, call, id).catch((error) =>
    ctx.logger.warn({ err: error, branch_id: id }, 'the tables of a deleted branch are dropped later'),
  );
}

// The base that a deleted definition shares with an existing one stays: it may link that one with
// others.
async function deleteOrphanedBases(tx: Transaction, caller: RpcCaller, ids: number[]): Promise<void> {
  await tx.$executeRaw`
    delete from clone_base b where account_id = ${caller.accountId} and (table_definition_id = any(${ids}) or source_id = any(${ids}))
      and not exists (select from table_definition t where t.id in (b.table_definition_id, b.source_id))`;
}

async function refuseNeededBranch(tx: Transaction, branch: StoredBranch, visible: object): Promise<void> {
  if (branch.is_default)
    throw validationFailed({ code: 'not_allowed', message: `The branch ${branch.name} can't be deleted` });
  const where = { parent_branch_id: branch.id };
  const children = await tx.branch.findMany({ where: { ...where, ...visible }, select: { name: true } });
  const names = children.map(({ name }) => name);
  if ((await tx.branch.count({ where })) > names.length) names.push('private ones');
  if (names.length > 0)
    throw validationFailed({
      code: 'still_referenced',
      message: `Branch still has child branches: ${names.join(', ')}`,
      params: { branches: names },
    });
  const running = await tx.deployment.findFirst({ where: { deploying_branch_id: branch.id }, select: { id: true } });
  if (running)
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: `Deployment ${running.id} is being applied on this branch; wait for its end.`,
      params: { deployment_id: running.id },
    });
}

/** Has data drop the tables of a deleted branch; idempotent. */
export async function dropBranch(ctx: MetadataContext, caller: RpcCaller, id: number): Promise<void> {
  await ctx.data.DropBranch(caller, { branch_id: id }, { deadlineMs: 60_000 });
  await ctx.prisma.branch_removal.deleteMany({ where: { branch_id: id, account_id: caller.accountId } });
}
