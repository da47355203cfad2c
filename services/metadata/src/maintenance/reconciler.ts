// Finishes what a crash left behind: deployments and promotions nobody works on, removals and restorations half done, tables of deleted branches.
// Every instance runs one; leases and idempotent steps keep them from doing harm to each other.
import { setTimeout as sleep } from 'node:timers/promises';
import { sweepAnswers } from '@almanac/service-kit/caller/idempotency';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { dropBranch } from '../branches/branches.ts';
import { resumeDeployment } from '../changes/deployments/deployment-apply.ts';
import { listLeftPromotions, resumePromotion } from '../changes/promotions/promote-with-rows.ts';
import type { MetadataContext } from '../context.ts';
import { resendBranchTypes } from '../groups/resource-groups.ts';
import { callerFor, type Requester } from '../requests/requester.ts';
import { finishRemoval } from '../table-definitions/table-removal.ts';
import { finishRestoration, restorableDays } from '../table-definitions/table-restoration.ts';

const batchSize = 50;
// What runs longer is left behind as by a crash, and taken up by whoever comes next.
const stopWithinMs = 10_000;

export type Reconciler = { start(): void; stop(): Promise<void> };

export function createReconciler(ctx: MetadataContext): Reconciler {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  const run = async () => {
    while (!stopping.signal.aborted) {
      await reconcile(ctx).catch((error) => ctx.logger.warn({ err: error }, 'lost work could not be looked for'));
      await sleep(ctx.timing.reconcileEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  return {
    start: () => {
      running ??= run();
    },
    stop: async () => {
      stopping.abort();
      await Promise.race([running, sleep(stopWithinMs, undefined, { ref: false })]);
    },
  };
}

/** One look for lost work. What can't be finished now is tried again at the next look. */
export async function reconcile(ctx: MetadataContext): Promise<void> {
  await resumeDeployments(ctx);
  for (const id of await listLeftPromotions(ctx, batchSize))
    await attempt(ctx, { promotion_id: id }, () => resumePromotion(ctx, id));
  await finishRemovals(ctx);
  await finishRestorations(ctx);
  await dropBranches(ctx);
  await resendBranchTypes(ctx, batchSize);
  await ctx.prisma.$executeRaw`
    delete from table_removal where removed_at < now() - make_interval(days => ${restorableDays}::int)
      and restore_requested_at is null`;
  await sweepAnswers(prismaSql(ctx.prisma));
}

async function resumeDeployments(ctx: MetadataContext): Promise<void> {
  const left = await ctx.prisma.$queryRaw<{ id: number }[]>`
    select id from deployment where status = 'deploying' and lease_until <= now() order by lease_until limit ${batchSize}::int`;
  for (const { id } of left) await attempt(ctx, { deployment_id: id }, () => resumeDeployment(ctx, id));
}

type Left = Requester & { id: number; account_id: number; branch_id: number };

// Those noted a moment ago are still in the hands of the request that noted them.
async function finishRemovals(ctx: MetadataContext): Promise<void> {
  const left = await ctx.prisma.$queryRaw<Left[]>`
    select table_definition_id as id, account_id, branch_id, requested_by as user_id, application_id, request_id from table_removal
    where removed_at is null and requested_at < now() - make_interval(secs => ${ctx.timing.leaseMs / 1000}::float8)
    order by requested_at limit ${batchSize}::int`;
  for (const table of left)
    await attempt(ctx, { table_definition_id: table.id }, () => finishRemoval(ctx, callerOf(table), table));
}

async function finishRestorations(ctx: MetadataContext): Promise<void> {
  const left = await ctx.prisma.$queryRaw<Left[]>`
    select table_definition_id as id, account_id, branch_id, restore_requested_by as user_id,
      restore_application_id as application_id, restore_request_id as request_id from table_removal
    where restore_requested_at < now() - make_interval(secs => ${ctx.timing.leaseMs / 1000}::float8)
    order by restore_requested_at limit ${batchSize}::int`;
  for (const table of left)
    await attempt(ctx, { table_definition_id: table.id }, () => finishRestoration(ctx, callerOf(table), table));
}

async function dropBranches(ctx: MetadataContext): Promise<void> {
  const left = await ctx.prisma.$queryRaw<Left[]>`
    select branch_id as id, account_id, branch_id, requested_by as user_id, application_id, request_id
    from branch_removal
    where requested_at < now() - make_interval(secs => ${ctx.timing.leaseMs / 1000}::float8)
    order by requested_at limit ${batchSize}::int`;
  for (const branch of left)
    await attempt(ctx, { branch_id: branch.id }, () => dropBranch(ctx, callerOf(branch), branch.id));
}

const callerOf = (left: Left) => callerFor(left.account_id, left);

async function attempt(
  ctx: MetadataContext,
  what: Record<string, number>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    ctx.logger.warn({ err: error, ...what }, 'lost work could not be finished yet');
  }
}
