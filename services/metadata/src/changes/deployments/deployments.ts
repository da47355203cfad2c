// Deployments: which definitions go into service in one transaction, who proposed and who approved
// that, and how it ended (design 3.5). deployment-proposal.ts makes them, deployment-apply.ts
// applies them, deployment-states.ts says which step may follow which.

import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import { type CallContext, requireUser } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { allows, type HeldRights, isKnown } from '@almanac/service-kit/rights/rights';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { branchReferenceFields } from '../../branches/branches.ts';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Allowed } from '../../rights/allowed-actions.ts';
import { placeOf } from '../../rights/place.ts';
import { readVisibleReach } from '../../rights/visibility.ts';
import { lockRow, type Transaction } from '../../transaction.ts';
import { definitionMails, diffContents, type MailContents } from '../approval-mails.ts';
import { type Actor, isOpen } from '../approval-states.ts';
import { judgeSteps } from '../change-actions.ts';
import { listHistory } from '../change-history.ts';
import { actorWith, type ChangeKind, type StoredStep } from '../change-kind.ts';
import { requireVisibleChange, visibleDeployments } from '../change-visibility.ts';
import { recordReviewed } from '../reviewed-revisions.ts';
import { type TableDiff, type Violation, violationsOf } from '../table-diff.ts';
import { type DeploymentPlan, idsOf, planDeployment } from './deployment-plan.ts';
import type { Deployment, DeploymentSummary } from './deployment-schema.ts';
import { type DeploymentState, deploymentMachine } from './deployment-states.ts';
import { findPlaces, removalIds } from './table-removals.ts';

const summaryFields = {
  id: true,
  branch_id: true,
  status: true,
  created_by: true,
  approved_by: true,
  deployed_by: true,
  comment: true,
  error: true,
  created_at: true,
  updated_at: true,
  deployed_at: true,
  branch: { select: branchReferenceFields },
  tables: {
    select: { table_definition_id: true, domain_id: true, key: true, name: true, is_removal: true },
    orderBy: { table_definition_id: 'asc' },
  },
} as const satisfies Prisma.deploymentSelect;
type StoredSummary = Prisma.deploymentGetPayload<{ select: typeof summaryFields }>;

// `diffs` and `proposed` may be megabytes, so lists do not read them.
const storedFields = {
  ...summaryFields,
  account_id: true,
  attempt: true,
  diffs: true,
  proposed: true,
  was_resumed: true,
} as const satisfies Prisma.deploymentSelect;
export type StoredDeployment = Prisma.deploymentGetPayload<{ select: typeof storedFields }>;

export const deploymentFilters = {
  id: 'integer',
  branch_id: 'integer',
  status: 'text',
  created_by: 'integer?',
  approved_by: 'integer?',
  deployed_by: 'integer?',
  comment: 'text?',
  error: 'text?',
  created_at: 'time',
  updated_at: 'time',
  deployed_at: 'time?',
} as const;

/** Lists the deployments that the caller sees, each with its branch and tables. */
export async function listDeployments(
  ctx: MetadataContext,
  call: CallContext,
  list: ListQuery,
  filter: { branch_id?: number },
): Promise<Page<DeploymentSummary>> {
  const visible = visibleDeployments(await readVisibleReach(ctx, call));
  const where = { account_id: call.accountId, ...filter, ...prismaWhere(list.conditions), ...visible };
  const [stored, total] = await Promise.all([
    ctx.prisma.deployment.findMany({ where, select: summaryFields, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.deployment.count({ where }),
  ]);
  return page(await summarize(ctx, call, stored), list, total);
}

/** A deployment of the account, or 404. */
export async function requireDeployment(
  ctx: MetadataContext,
  call: { accountId: number },
  id: number,
): Promise<StoredDeployment> {
  const where = { id, account_id: call.accountId };
  const deployment = await ctx.prisma.deployment.findFirst({ where, select: storedFields });
  if (!deployment) throw notFound('Deployment');
  return deployment;
}

/** A deployment of the account, locked until the transaction ends, or 404. */
export async function lockDeployment(tx: Transaction, call: RpcCaller, id: number): Promise<StoredDeployment> {
  if (!(await lockRow(tx, 'deployment', call.accountId, id))) throw notFound('Deployment');
  return tx.deployment.findUniqueOrThrow({ where: { id }, select: storedFields });
}

/** A deployment that the caller sees. */
export async function showDeployment(ctx: MetadataContext, call: CallContext, id: number): Promise<Deployment> {
  const { branch_id, tables } = await requireDeployment(ctx, call, id);
  const places = tables.map(({ table_definition_id, domain_id }) => ({ id: table_definition_id, domain_id }));
  await requireVisibleChange(ctx, call, 'deployment', { branchId: branch_id, tables: places });
  return getDeployment(ctx, call, id);
}

/**
 * One deployment with its history and diffs. While it can still be deployed, the diffs are those of
 * the drafts as they are now, and recorded as shown to the caller; afterwards, those that were
 * applied. `plan`: made a moment ago.
 */
export async function getDeployment(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  plan?: DeploymentPlan,
): Promise<Deployment> {
  const stored = await requireDeployment(ctx, call, id);
  const actions = await listHistory(ctx.prisma, 'deployment', id);
  const { account_id: _a, attempt: _b, diffs: applied, proposed: _c, was_resumed: _d, ...summarized } = stored;
  const [summary] = await summarize(ctx, call, [summarized]);
  const shown = { ...(summary as DeploymentSummary), actions };
  if (!isOpen(deploymentMachine, stored.status))
    return { ...shown, diffs: (applied ?? []) as TableDiff[], revision: null };
  const { diffs, versions, revision } = plan ?? (await planDeployment(ctx, call, stored));
  await recordReviewed(ctx, call, deploymentMachine, stored, versions);
  return { ...shown, diffs, revision };
}

/** What deploying would do now, and everything that blocks it. Nothing is changed. */
export async function rehearseDeployment(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
): Promise<{ diffs: TableDiff[]; violations: Violation[] }> {
  const { status, diffs, table_definitions, remove_table_definition_ids } = await showDeployment(ctx, call, id);
  if (!isOpen(deploymentMachine, status))
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: `Deployment is ${status}; there is nothing to rehearse.`,
      params: { state: status },
    });
  const removed = new Set(remove_table_definition_ids);
  const planned = new Set(diffs.map(({ table_definition_id }) => table_definition_id));
  const missing = table_definitions.flatMap(({ id: tableId, name, version }): Violation[] => {
    if (removed.has(tableId))
      return planned.has(tableId) ? [] : [{ table: name, message: 'The table is not in service any more', rows: 0 }];
    return version === null ? [{ table: name, message: 'The definition has been deleted', rows: 0 }] : [];
  });
  return { diffs, violations: [...missing, ...violationsOf(diffs)] };
}

async function summarize(
  ctx: MetadataContext,
  call: CallContext,
  stored: StoredSummary[],
): Promise<DeploymentSummary[]> {
  const ids = stored.flatMap(({ tables }) => tables.map((table) => table.table_definition_id));
  const definitions = await ctx.prisma.table_definition.findMany({
    where: { id: { in: [...new Set(ids)] }, account_id: call.accountId },
    select: { id: true, key: true, name: true, version: true, deployed_version: true, needs_deployment: true },
  });
  const now = new Map(definitions.map((definition) => [definition.id, definition]));
  return stored.map(
    ({ tables, status, ...deployment }): DeploymentSummary => ({
      ...deployment,
      status: status as DeploymentState,
      branch: deployment.branch as DeploymentSummary['branch'],
      table_definitions: tables.map(
        ({ table_definition_id: id, key, name }) =>
          now.get(id) ?? { id, key, name, version: null, deployed_version: null, needs_deployment: null },
      ),
      ...removalIds(idsOf(tables).removed),
    }),
  );
}

/**
 * The roles of the caller by rights that identity answers now: approval never rests on cached ones.
 */
async function actorOf(ctx: MetadataContext, call: CallContext, deployment: StoredDeployment): Promise<Actor> {
  if (call.userId === undefined)
    return { system: false, creator: false, developer: true, approver: false, administrator: false };
  const held = await ctx.rights.get(call, { fresh: true });
  const { branch_id: branchId, created_by } = deployment;
  const { kept, removed } = idsOf(deployment.tables);
  const drafts = await ctx.prisma.table_definition.findMany({
    where: { id: { in: kept }, account_id: call.accountId },
    select: { id: true, domain_id: true, branch_id: true },
  });
  const definitions = [...drafts, ...(await findPlaces(ctx, call, removed)).values()];
  if (!isKnown(held, { branchId }) && !definitions.some((definition) => isKnown(held, placeOf(definition))))
    throw notFound('Deployment');
  // When all of its definitions were deleted, a deployment still belongs to its branch.
  const developer =
    definitions.length > 0
      ? definitions.every((definition) => allows(held, 'develop', placeOf(definition)))
      : allows(held, 'develop', { branchId });
  return actorWith(held, call, { created_by, branchId }, developer);
}

/** Judges the steps of deployments that the caller sees, with one query for all. */
export async function judgeDeployments(
  ctx: MetadataContext,
  call: CallContext,
  deployments: DeploymentSummary[],
): Promise<Allowed[]> {
  requireUser(call);
  const [held, tables] = await Promise.all([
    ctx.rights.get(call),
    ctx.prisma.deployment_table.findMany({
      where: {
        deployment_id: { in: deployments.map(({ id }) => id) },
        deployment: { account_id: call.accountId },
      },
      select: { deployment_id: true, table_definition_id: true, domain_id: true, is_removal: true },
    }),
  ]);
  const domains = new Map(tables.map((table) => [`${table.deployment_id}/${table.table_definition_id}`, table]));
  return deployments.map((deployment) => {
    const { branch_id: branchId, created_by, status, branch } = deployment;
    // As in the kind's own actor: deleted definitions don't count, unless all are.
    const places = deployment.table_definitions.flatMap(({ id, version }) => {
      const table = domains.get(`${deployment.id}/${id}`);
      return table && (version !== null || table.is_removal)
        ? [{ branchId, domainId: table.domain_id, tableDefinitionId: id }]
        : [];
    });
    const actor = actorWith(held, call, { created_by, branchId }, developsAll(held, places, branchId));
    return judgeSteps(deploymentMachine, call, { status, isProtected: branch.is_protected }, actor);
  });
}

type Place = { branchId: number; domainId: number; tableDefinitionId: number };

const developsAll = (held: HeldRights, places: Place[], branchId: number) =>
  places.length > 0 ? places.every((place) => allows(held, 'develop', place)) : allows(held, 'develop', { branchId });

async function storeStep(
  tx: Transaction,
  _call: CallContext,
  { id, diffs }: StoredDeployment,
  { status, comment }: StoredStep,
  plan?: DeploymentPlan,
): Promise<MailContents> {
  // Approval is requested for the plan made now, not for the proposal.
  const requested = plan && { diffs: plan.diffs as Prisma.InputJsonValue, proposed: plan.versions };
  await tx.deployment.update({ where: { id }, data: { status, comment: comment ?? undefined, ...requested } });
  return diffContents(plan?.diffs ?? ((diffs ?? []) as TableDiff[]));
}

/** Deployments as a kind of change. */
export const deployments: ChangeKind<StoredDeployment, DeploymentPlan, Deployment> = {
  machine: deploymentMachine,
  mails: definitionMails,
  branchOf: ({ branch }) => branch,
  isGuarded: ({ branch }) => branch.is_protected,
  branchIds: ({ branch_id }) => ({ branch_id }),
  branchNames: async (_tx, _call, { branch }) => ({ branch: branch.name }),
  require: requireDeployment,
  lock: lockDeployment,
  actorOf,
  prepareStep: async (ctx, call, deployment, { action }) =>
    action === 'send_request' ? planDeployment(ctx, call, deployment) : undefined,
  storeStep,
  get: getDeployment,
  show: showDeployment,
};
