// Deployments: which definitions go into service together, who asked, who agreed, and what became of it (design 3.5).
// How one is applied is deployment-apply.ts; which step may follow which is deployment-states.ts.

import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { AuditAct } from '@almanac/service-kit/messaging/audit';
import { allows, isKnown, requireRight } from '@almanac/service-kit/rights/rights';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { branchReferenceFields, requireBranch } from '../../branches/branches.ts';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { transactOnce } from '../../requests/idempotency.ts';
import { requesterOf } from '../../requests/requester.ts';
import { placeOf } from '../../rights/place.ts';
import { readVisibleReach } from '../../rights/visibility.ts';
import { announce, lockRow, recordAct, type Transaction } from '../../transaction.ts';
import { findRecipients, mailOccasions, requestMails } from '../approval-mails.ts';
import { type Actor, decide, requireTransition } from '../approval-states.ts';
import { requireVisibleChange, visibleDeployments } from '../change-visibility.ts';
import { recordReviewed } from '../reviewed-revisions.ts';
import { type TableDiff, type Violation, violationsOf } from '../table-diff.ts';
import {
  findDefinitions,
  idsOf,
  type PlannedDeployment,
  planDefinitions,
  planDrafts,
  versionsOf,
} from './deployment-plan.ts';
import type { Deployment, DeploymentSummary } from './deployment-schema.ts';
import {
  type DeploymentAction,
  type DeploymentState,
  deploymentMachine,
  deploymentTransitions,
} from './deployment-states.ts';
import { findPlaces, findRemovals, removing, requireRemovals } from './table-removals.ts';

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

// `diffs` and `proposed` may be megabytes: no list reads them.
export const storedFields = {
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
  const seen = visibleDeployments(await readVisibleReach(ctx, call));
  const where = { account_id: call.accountId, ...filter, ...prismaWhere(list.conditions), ...seen };
  const [stored, total] = await Promise.all([
    ctx.prisma.deployment.findMany({ where, select: summaryFields, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.deployment.count({ where }),
  ]);
  return page(await summaries(ctx, call, stored), list, total);
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

/** A deployment that the caller sees. */
export async function showDeployment(ctx: MetadataContext, call: CallContext, id: number): Promise<Deployment> {
  const { branch_id, tables } = await requireDeployment(ctx, call, id);
  const seen = tables.map(({ table_definition_id, domain_id }) => ({ id: table_definition_id, domain_id }));
  await requireVisibleChange(ctx, call, 'deployment', { branchId: branch_id, tables: seen });
  return getDeployment(ctx, call, id);
}

/**
 * One deployment with its history and diffs: as of now while it can still be deployed, which is noted as shown to the caller; as
 * applied afterwards. `planned`: what it would do was asked a moment ago.
 */
export async function getDeployment(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  planned?: PlannedDeployment,
): Promise<Deployment> {
  const stored = await requireDeployment(ctx, call, id);
  const actions = await ctx.prisma.deployment_action.findMany({
    where: { deployment_id: id },
    orderBy: { id: 'asc' },
  });
  const { account_id: _a, attempt: _b, diffs: kept, proposed: _c, was_resumed: _d, ...summarized } = stored;
  const [summary] = await summaries(ctx, call, [summarized]);
  const isOpen = (deploymentTransitions.deploy.from as readonly string[]).includes(stored.status);
  const shown = {
    ...(summary as DeploymentSummary),
    actions: actions.map(({ action, user_id: user, comment, at, request_id }) => ({
      action,
      user,
      comment,
      at,
      request_id,
    })),
  };
  if (!isOpen) return { ...shown, diffs: (kept ?? []) as TableDiff[], revision: null };
  const { diffs, versions, revision } = planned ?? (await planDrafts(ctx, call, stored));
  await recordReviewed(ctx, call, { noun: 'deployment', ...stored }, versions);
  return { ...shown, diffs, revision };
}

/** What deploying would do as of now, and everything that stands in its way. Nothing is changed. */
export async function rehearseDeployment(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
): Promise<{ diffs: TableDiff[]; violations: Violation[] }> {
  const { status, diffs, table_definitions, remove_table_definition_ids } = await showDeployment(ctx, call, id);
  if (!(deploymentTransitions.deploy.from as readonly string[]).includes(status))
    throw new ServiceError('wrong_state', `Deployment is ${status}; there is nothing to rehearse.`);
  const removed = new Set(remove_table_definition_ids);
  const planned = new Set(diffs.map(({ table_definition_id }) => table_definition_id));
  const missing = table_definitions.flatMap(({ id: tableId, name, version }): Violation[] => {
    if (removed.has(tableId))
      return planned.has(tableId) ? [] : [{ table: name, message: 'The table is not in service any more', rows: 0 }];
    return version === null ? [{ table: name, message: 'The definition has been deleted', rows: 0 }] : [];
  });
  return { diffs, violations: [...missing, ...violationsOf(diffs)] };
}

async function summaries(
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
      ...removing(idsOf(tables).removed),
    }),
  );
}

/** Proposes definitions of one branch for deployment, and tables for removal, and shows the diffs. */
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
    throw validationFailed(elsewhere.map(({ id }) => `Table definition ${id} is not on this branch`));
  const removed = [...new Set(removedIds)];
  await requireRemovals(ctx, call, branchId, removed, new Set(ids));
  const removals = await findRemovals(ctx.prisma, call, branchId, removed);
  const planned = await planDefinitions(ctx, call, branchId, definitions, removals);
  const gone = removals.map(({ table: { table_definition_id: id, ...table } }) => ({ id, ...table }));
  const insert = (tx: Transaction) => insertDeployment(tx, call, branchId, definitions, planned, gone);
  const id = await transactOnce(ctx, call, insert, (made) => made);
  return getDeployment(ctx, call, id, planned);
}

/** Notes a new deployment; answers its id. `planned`: what was shown of it; else it is of its definitions as they are now. */
export async function insertDeployment(
  tx: Transaction,
  call: CallContext,
  branchId: number,
  tables: { id: number; key: string; name: string }[],
  planned?: PlannedDeployment,
  removed: { id: number; domain_id: number; key: string; name: string }[] = [],
): Promise<number> {
  const locked = await lockTables(
    tx,
    call,
    [...tables, ...removed].map((table) => table.id),
  );
  const { id } = await tx.deployment.create({
    data: {
      account_id: call.accountId,
      branch_id: branchId,
      created_by: call.userId ?? null,
      diffs: (planned?.diffs ?? []) as Prisma.InputJsonValue,
      proposed: planned?.versions ?? versionsOf([...locked.values()]),
      tables: {
        createMany: {
          data: [
            ...tables.map(({ id, key, name }) => ({
              table_definition_id: id,
              domain_id: locked.get(id)?.domain_id,
              key,
              name,
            })),
            ...removed.map(({ id, domain_id, key, name }) => ({
              table_definition_id: id,
              domain_id: locked.get(id)?.domain_id ?? domain_id,
              key,
              name,
              is_removal: true,
            })),
          ],
        },
      },
      actions: { create: { action: 'create', ...requesterOf(call) } },
    },
    select: { id: true },
  });
  const table_definition_ids = tables.map((table) => table.id);
  const named = { table_definition_ids, ...removing(removed.map((table) => table.id)) };
  await announceDeployment(tx, call, 'created', { id, branch_id: branchId }, named);
  return id;
}

type Locked = { table_definition_id: number; domain_id: number; version: number };

// The shared locks let no table go to another domain unnoticed: by it one sees the deployment or not.
async function lockTables(tx: Transaction, call: CallContext, ids: number[]): Promise<Map<number, Locked>> {
  const rows = await tx.$queryRaw<Locked[]>`
    select id as table_definition_id, domain_id, version from table_definition
    where account_id = ${call.accountId} and id = any(${ids}) order by id for share`;
  return new Map(rows.map((row) => [row.table_definition_id, row]));
}

/** What is true of the caller, by identity's answer of this moment: approval must not rest on a remembered right. */
export async function actorOf(ctx: MetadataContext, call: CallContext, deployment: StoredDeployment): Promise<Actor> {
  if (call.userId === undefined)
    return { system: false, creator: false, developer: true, approver: false, administrator: false };
  const held = await ctx.rights.get(call, { fresh: true });
  const { kept, removed } = idsOf(deployment.tables);
  const drafts = await ctx.prisma.table_definition.findMany({
    where: { id: { in: kept }, account_id: call.accountId },
    select: { id: true, domain_id: true, branch_id: true },
  });
  const definitions = [...drafts, ...(await findPlaces(ctx, call, removed)).values()];
  const onBranch = { branchId: deployment.branch_id };
  if (!isKnown(held, onBranch) && !definitions.some((definition) => isKnown(held, placeOf(definition))))
    throw notFound('Deployment');
  return {
    system: false,
    creator: deployment.created_by === call.userId,
    // A deployment all of whose definitions are gone still belongs to its branch.
    developer: definitions.length
      ? definitions.every((definition) => allows(held, 'develop', placeOf(definition)))
      : allows(held, 'develop', onBranch),
    approver: allows(held, 'approve', onBranch),
    administrator: allows(held, 'admin', {}),
  };
}

/** Throws 403 or 422 unless the caller may do this to a deployment in this state; answers the state it leads to. */
export function allowStep(
  { status, branch }: Pick<StoredDeployment, 'status' | 'branch'>,
  action: DeploymentAction,
  actor: Actor,
): DeploymentState {
  return requireTransition(deploymentMachine, status as DeploymentState, action, actor, branch.is_protected);
}

/** The steps that change nothing but the deployment itself. */
export type Step = Exclude<DeploymentAction, 'deploy' | 'succeed' | 'fail'>;

// What others are told; approvers hear of requests and abandonments, the creator of decisions. Not `.requested`: an event of
// that name asks for work and waits until somebody does it.
const announced = {
  send_request: 'submitted',
  reject: 'rejected',
  cancel: 'cancelled',
  abandon: 'abandoned',
} as const satisfies Record<Step, Told>;

/** Takes such a step. */
export async function takeStep(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  action: Step,
  readComment: () => string | null | undefined,
): Promise<Deployment> {
  const before = await requireDeployment(ctx, call, id);
  const actor = await actorOf(ctx, call, before);
  const first = decide(deploymentMachine, before.status as DeploymentState, action, actor, before.branch.is_protected);
  if (first.verdict === 'forbidden') throw new ServiceError('forbidden', first.sentence);
  const comment = readComment() ?? null;
  // Asked before anything changes: data being away leaves the deployment as it was.
  const planned = action === 'send_request' ? await planDrafts(ctx, call, before) : undefined;
  const recipients =
    action === 'cancel'
      ? undefined
      : await findRecipients(ctx, call, mailOccasions[action], {
          branchId: before.branch_id,
          creatorId: before.created_by,
        });
  const step = async (tx: Transaction) => {
    if (!(await lockRow(tx, 'deployment', call.accountId, id))) throw notFound('Deployment');
    const now = await tx.deployment.findUniqueOrThrow({ where: { id }, select: storedFields });
    const status = allowStep(now, action, actor);
    // What is asked approval for is what is there now.
    const asked = planned && { diffs: planned.diffs as Prisma.InputJsonValue, proposed: planned.versions };
    await tx.deployment.update({ where: { id }, data: { status, comment: comment ?? undefined, ...asked } });
    await recordAction(tx, id, action, call, comment);
    await announceDeployment(tx, call, announced[action], now, { user_id: call.userId ?? null, comment });
    if (recipients)
      await requestMails(tx, call, recipients, {
        noun: 'deployment',
        id,
        branch: now.branch.name,
        comment,
        diffs: planned?.diffs ?? ((now.diffs ?? []) as TableDiff[]),
        ...(action === 'reject' ? { outcome: 'rejected', reasons: [] } : {}),
      });
  };
  await transactOnce(ctx, call, step, () => id);
  return getDeployment(ctx, call, id, planned);
}

/** Keeps that something was done to a deployment, by whom and in which request. Nobody ends one: ends are of the request they come of. */
export async function recordAction(
  tx: Transaction,
  deploymentId: number,
  action: DeploymentAction,
  caller: RpcCaller,
  comment: string | null,
): Promise<void> {
  const asker = requesterOf(caller);
  const by = action === 'succeed' || action === 'fail' ? { request_id: asker.request_id } : asker;
  await tx.deployment_action.create({ data: { deployment_id: deploymentId, action, ...by, comment } });
}

// The state a deployment is in once the others are told.
const stateOf = {
  created: 'created',
  submitted: 'requested',
  begun: 'deploying',
  deployed: 'deployed',
  failed: 'failed',
  rejected: 'rejected',
  cancelled: 'cancelled',
  abandoned: 'abandoned',
} as const satisfies Record<string, DeploymentState>;
type Told = keyof typeof stateOf;

/** Announces a transition, for mails and for who follows, and sends it to the audit log. `status`: the state before. */
export async function announceDeployment(
  tx: Transaction,
  caller: RpcCaller,
  what: Told,
  { id, branch_id, status }: { id: number; branch_id: number; status?: string },
  more: Record<string, unknown> = {},
): Promise<void> {
  await announce(tx, caller, `deployment.${what}`, { deployment_id: id, branch_id, ...more });
  const { user_id: _actor, ...facts } = more;
  const act: AuditAct = {
    action: `deployment.${what}`,
    result: what === 'failed' ? 'failed' : 'succeeded',
    resource_type: 'deployment',
    resource_id: id,
    after: { status: stateOf[what], branch_id, ...facts },
  };
  await recordAct(tx, caller, status === undefined ? act : { ...act, before: { status } });
}
