// Proposing deployments.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import { requireRight } from '@almanac/service-kit/rights/rights';
import { requireBranch } from '../../branches/branches.ts';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { transactOnce } from '../../requests/idempotency.ts';
import { requesterOf } from '../../requests/requester.ts';
import { placeOf } from '../../rights/place.ts';
import type { Transaction } from '../../transaction.ts';
import { announceChange } from '../change-events.ts';
import { type DeploymentPlan, findDefinitions, planDefinitions, versionsOf } from './deployment-plan.ts';
import type { Deployment } from './deployment-schema.ts';
import { deploymentMachine } from './deployment-states.ts';
import { getDeployment } from './deployments.ts';
import { elsewhereProblem, findRemovals, removalIds, requireRemovals } from './table-removals.ts';

/**
 * Proposes definitions of one branch for deployment, and tables for removal; answers it with diffs.
 */
export async function createDeployment(
  ctx: MetadataContext,
  call: CallContext,
  branchId: number,
  tableIds: number[],
  removedIds: number[],
): Promise<Deployment> {
  await requireBranch(ctx, call, branchId);
  const ids = [...new Set(tableIds)];
  const definitions = await findDefinitions(ctx, call, ids);
  if (definitions.length < ids.length) throw notFound('Table definition');
  for (const definition of definitions) await requireRight(ctx.rights, call, 'develop', placeOf(definition));
  const elsewhere = definitions.filter((definition) => definition.branch_id !== branchId);
  if (elsewhere.length > 0)
    throw validationFailed(elsewhere.map(({ id }) => elsewhereProblem('table_definition_ids', id)));
  const removed = [...new Set(removedIds)];
  await requireRemovals(ctx, call, branchId, removed, new Set(ids));
  const removals = await findRemovals(ctx.prisma, call, branchId, removed);
  const plan = await planDefinitions(ctx, call, branchId, definitions, removals);
  const removedTables = removals.map(({ table: { table_definition_id: id, ...table } }) => ({ id, ...table }));
  const insert = (tx: Transaction) => insertDeployment(tx, call, branchId, definitions, plan, removedTables);
  const id = await transactOnce(ctx, call, insert, (made) => made);
  return getDeployment(ctx, call, id, plan);
}

/** Stores a new deployment and answers its id. Without a `plan` it is of the locked versions. */
export async function insertDeployment(
  tx: Transaction,
  call: CallContext,
  branchId: number,
  tables: { id: number; key: string; name: string }[],
  plan?: DeploymentPlan,
  removed: { id: number; domain_id: number; key: string; name: string }[] = [],
): Promise<number> {
  const tableIds = [...tables, ...removed].map((table) => table.id);
  const locked = await lockTables(tx, call, tableIds);
  const kept = tables.map(({ id, key, name }) => ({
    table_definition_id: id,
    domain_id: locked.get(id)?.domain_id,
    key,
    name,
  }));
  const removals = removed.map(({ id, domain_id, key, name }) => ({
    table_definition_id: id,
    domain_id: locked.get(id)?.domain_id ?? domain_id,
    key,
    name,
    is_removal: true,
  }));
  const { id } = await tx.deployment.create({
    data: {
      account_id: call.accountId,
      branch_id: branchId,
      created_by: call.userId ?? null,
      diffs: (plan?.diffs ?? []) as Prisma.InputJsonValue,
      proposed: plan?.versions ?? versionsOf([...locked.values()]),
      tables: { createMany: { data: [...kept, ...removals] } },
      actions: { create: { action: 'create', ...requesterOf(call) } },
    },
    select: { id: true },
  });
  const facts = {
    table_definition_ids: tables.map((table) => table.id),
    ...removalIds(removed.map((table) => table.id)),
  };
  const event = { machine: deploymentMachine, branchIds: () => ({ branch_id: branchId }) };
  await announceChange(tx, call, event, { id }, 'create', facts);
  return id;
}

type Locked = { table_definition_id: number; domain_id: number; version: number };

// The domain of a table decides who sees the deployment, so the shared locks keep it from changing.
async function lockTables(tx: Transaction, call: CallContext, ids: number[]): Promise<Map<number, Locked>> {
  const rows = await tx.$queryRaw<Locked[]>`
    select id as table_definition_id, domain_id, version from table_definition
    where account_id = ${call.accountId} and id = any(${ids}) order by id for share`;
  return new Map(rows.map((row) => [row.table_definition_id, row]));
}
