// Finishes work that a crash interrupted: deployments, promotions and change requests, removals
// and restorations of tables, the tables of deleted branches, and policies that data has not
// confirmed. Every instance runs one; leases and idempotent steps let several run at once.
import { sweepAnswers } from '@almanac/service-kit/caller/idempotency';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { periodic } from '@almanac/service-kit/process/periodic';
import { dropBranch } from '../branches/branch-deletion.ts';
import { listUnconfirmedPolicies, sendRowPolicies } from '../branches/row-policies.ts';
import { listExpiredAttempts } from '../changes/attempt-lease.ts';
import { resumeChangeRequest } from '../changes/change-requests/change-request-apply.ts';
import { listPendingPhases, reconcilePhase } from '../changes/change-requests/change-request-operations.ts';
import { changeRequestMachine } from '../changes/change-requests/change-request-states.ts';
import { resumeDeployment } from '../changes/deployments/deployment-apply.ts';
import { deploymentMachine } from '../changes/deployments/deployment-states.ts';
import { resumePromotion } from '../changes/promotions/promote-with-rows.ts';
import { promotionMachine } from '../changes/promotions/promotion-states.ts';
import type { MetadataContext } from '../context.ts';
import { resendBranchTypes } from '../groups/resource-groups.ts';
import { callerFor, type Requester } from '../requests/requester.ts';
import { finishRemoval } from '../table-definitions/table-removal.ts';
import { finishRestoration, restorableDays } from '../table-definitions/table-restoration.ts';

const batchSize = 50;
// A round that takes longer is interrupted, and another process resumes its work.
const stopWithinMs = 10_000;

/** Reconciles as long as the service runs. */
export const createReconciler = (ctx: MetadataContext) =>
  periodic({ name: 'reconciler', everyMs: ctx.timing.reconcileEveryMs, logger: ctx.logger, stopWithinMs }, () =>
    reconcile(ctx),
  );

/** One round. Work that can't be finished now is tried again in the next round. */
export async function reconcile(ctx: MetadataContext): Promise<void> {
  for (const id of await listExpiredAttempts(ctx, deploymentMachine, batchSize))
    await attempt(ctx, { deployment_id: id }, () => resumeDeployment(ctx, id));
  for (const id of await listExpiredAttempts(ctx, promotionMachine, batchSize))
    await attempt(ctx, { promotion_id: id }, () => resumePromotion(ctx, id));
  for (const id of await listExpiredAttempts(ctx, changeRequestMachine, batchSize))
    await attempt(ctx, { change_request_id: id }, () => resumeChangeRequest(ctx, id));
  for (const id of await listPendingPhases(ctx, batchSize))
    await attempt(ctx, { change_request_id: id }, () => reconcilePhase(ctx, id));
  await finishRemovals(ctx);
  await finishRestorations(ctx);
  await dropBranches(ctx);
  await resendBranchTypes(ctx, batchSize);
  for (const { id, account_id: accountId } of await listUnconfirmedPolicies(ctx, batchSize))
    await attempt(ctx, { branch_id: id }, () => sendRowPolicies(ctx, { accountId }, id));
  // Saved views wait for a restoration, like the table itself.
  await ctx.prisma.$executeRaw`
    with purged as (
      delete from table_removal where removed_at < now() - make_interval(days => ${restorableDays}::int)
        and restore_requested_at is null
      returning table_definition_id as id
    )
    delete from saved_view v using purged where v.table_definition_id = purged.id
      and not exists (select from table_definition t where t.id = purged.id)
      and not exists (select from deployed_table_definition d where d.id = purged.id)`;
  await sweepAnswers(prismaSql(ctx.prisma));
}

type Unfinished = Requester & { id: number; account_id: number; branch_id: number };

// Work younger than a lease may still be in progress in the request that stored it.
async function finishRemovals(ctx: MetadataContext): Promise<void> {
  const tables = await ctx.prisma.$queryRaw<Unfinished[]>`
    select table_definition_id as id, account_id, branch_id, requested_by as user_id, application_id, request_id from table_removal
    where removed_at is null and requested_at < now() - make_interval(secs => ${ctx.timing.leaseMs / 1000}::float8)
    order by requested_at limit ${batchSize}::int`;
  for (const table of tables)
    await attempt(ctx, { table_definition_id: table.id }, () => finishRemoval(ctx, callerOf(table), table));
}

async function finishRestorations(ctx: MetadataContext): Promise<void> {
  const tables = await ctx.prisma.$queryRaw<Unfinished[]>`
    select table_definition_id as id, account_id, branch_id, restore_requested_by as user_id,
      restore_application_id as application_id, restore_request_id as request_id from table_removal
    where restore_requested_at < now() - make_interval(secs => ${ctx.timing.leaseMs / 1000}::float8)
    order by restore_requested_at limit ${batchSize}::int`;
  for (const table of tables)
    await attempt(ctx, { table_definition_id: table.id }, () => finishRestoration(ctx, callerOf(table), table));
}

async function dropBranches(ctx: MetadataContext): Promise<void> {
  const branches = await ctx.prisma.$queryRaw<Unfinished[]>`
    select branch_id as id, account_id, branch_id, requested_by as user_id, application_id, request_id
    from branch_removal
    where requested_at < now() - make_interval(secs => ${ctx.timing.leaseMs / 1000}::float8)
    order by requested_at limit ${batchSize}::int`;
  for (const branch of branches)
    await attempt(ctx, { branch_id: branch.id }, () => dropBranch(ctx, callerOf(branch), branch.id));
}

const callerOf = (work: Unfinished) => callerFor(work.account_id, work);

async function attempt(
  ctx: MetadataContext,
  what: Record<string, number>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    ctx.logger.warn({ err: error, ...what }, 'interrupted work could not be finished yet');
  }
}
