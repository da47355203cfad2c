// How a deployment is applied: noted first (`deploying`, with the very tables asked for), then asked of data under an id of its
// own, then noted as deployed or failed. Whoever finds one left behind takes it up: data does the same id only once.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { releaseKey, transactOnce } from '../../requests/idempotency.ts';
import { callerFor, noRequester } from '../../requests/requester.ts';
import { findBeingRemoved } from '../../table-definitions/table-references.ts';
import { fullDefinition } from '../../table-definitions/table-structure.ts';
import { lockRow, type Transaction } from '../../transaction.ts';
import type { Actor } from '../approval-states.ts';
import { holdLease, releaseLease, renewLease } from '../attempt-lease.ts';
import { type Facts, requireReviewed } from '../reviewed-revisions.ts';
import type { TableDiff } from '../table-diff.ts';
import { finishDeployed, finishFailed } from './deployment-finish.ts';
import { idsOf, versionsOf } from './deployment-plan.ts';
import type { Deployment } from './deployment-schema.ts';
import type { DeploymentState } from './deployment-states.ts';
import {
  actorOf,
  allowStep,
  announceDeployment,
  getDeployment,
  recordAction,
  requireDeployment,
  type StoredDeployment,
  showDeployment,
  storedFields,
} from './deployments.ts';
import { requireViewOfFirstRows } from './first-rows.ts';
import { listBlockers, planTables, shownDiffs } from './table-plans.ts';
import { findRemovals, listReferences, type Removal, removing } from './table-removals.ts';
import {
  type Attempt,
  describeMissingTables,
  type StoredAttempt,
  serializeAttempt,
  toWantedTable,
  type WantedTable,
} from './wanted-tables.ts';

const applyDeadlineMs = 5 * 60_000;
const pollMs = 200;
const maxTries = 5;

/** `revision`: deploy only what was shown under it. */
export type DeployInput = { revision?: string };

/** Applies a deployment and answers it deployed; what stands in the way is 422, and the deployment failed. */
export async function deploy(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readBody: () => DeployInput,
): Promise<Deployment> {
  const before = await requireDeployment(ctx, call, id);
  const actor = await actorOf(ctx, call, before);
  const isRunning = before.status === 'deploying';
  // Its outcome was found after a crash, so whoever asked for it may ask again and is answered as if nothing had happened.
  const isUnacknowledged = before.status === 'deployed' && before.was_resumed;
  allowStep(isRunning || isUnacknowledged ? { ...before, status: 'failed' } : before, 'deploy', actor);
  if (!isRunning && !isUnacknowledged)
    await requireViewOfFirstRows(
      ctx,
      call,
      before.tables.map(({ table_definition_id }) => table_definition_id),
    );
  const { revision } = readBody();
  if (isUnacknowledged) return getDeployment(ctx, call, id);
  if (isRunning) await waitForEnd(ctx, id);
  else await beginAndApply(ctx, call, async (tx) => begin(tx, ctx, call, id, actor, revision));
  return answerEnd(ctx, call, id);
}

/** Begins in a transaction of its own, waiting for another deployment of the branch, and applies what was begun. */
export async function beginAndApply(
  ctx: MetadataContext,
  call: CallContext,
  beginOnce: (tx: Transaction) => Promise<Attempt | number>,
): Promise<number> {
  const idOf = (begun: Attempt | number) => (typeof begun === 'number' ? begun : begun.id);
  const begun = await waitForBranch(ctx, () => transactOnce(ctx, call, beginOnce, idOf));
  if (typeof begun === 'number') await waitForEnd(ctx, begun);
  else await applyAttempt(ctx, call, begun);
  return idOf(begun);
}

/** Thrown to roll back when another deployment is being applied on the branch. */
class BranchBusy extends Error {
  readonly deploymentId: number;
  constructor(deploymentId: number) {
    super('another deployment is being applied on the branch');
    this.deploymentId = deploymentId;
  }
}

async function waitForBranch<T>(ctx: MetadataContext, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + ctx.timing.waitMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BranchBusy)) throw error;
      if (Date.now() >= deadline)
        throw new ServiceError(
          'wrong_state',
          `Deployment ${error.deploymentId} is being applied on this branch; try again when it has ended.`,
        );
      await waitForEnd(ctx, error.deploymentId, deadline);
    }
  }
}

/** Notes that a deployment is being applied, with its tables as drafted now, if that was shown. Somebody was faster: answers its id. */
export async function begin(
  tx: Transaction,
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  actor: Actor,
  seen?: string,
): Promise<Attempt | number> {
  const found = await tx.deployment.findFirst({ where: { id, account_id: call.accountId } });
  if (!found || !(await lockRow(tx, 'branch', call.accountId, found.branch_id))) throw notFound('Deployment');
  const { branch_id } = found;
  if (!(await lockRow(tx, 'deployment', call.accountId, id))) throw notFound('Deployment');
  const now = await tx.deployment.findUniqueOrThrow({ where: { id }, select: storedFields });
  if (now.status === 'deploying') return id;
  const status = allowStep(now, 'deploy', actor);
  const other = await tx.deployment.findFirst({ where: { deploying_branch_id: branch_id }, select: { id: true } });
  if (other) throw new BranchBusy(other.id);
  const { kept, removed } = idsOf(now.tables);
  const drafts = await readDrafts(tx, call, kept);
  const removals = await readRemovals(tx, call, branch_id, removed);
  const tables = [...drafts, ...removals.map(({ table }) => table)];
  const gone = describeMissingTables(now.tables, tables);
  const missing = [...gone, ...listReferences(removals)];
  if (gone.length === 0)
    await requireReviewed(tx, call, { noun: 'deployment', ...now }, comparedWith(now, tables), seen);
  const number = now.attempt + 1;
  await tx.deployment.update({
    where: { id },
    data: {
      status,
      attempt: number,
      wanted: serializeAttempt({ tables, missing }) as unknown as Prisma.InputJsonValue,
      deploying_branch_id: branch_id,
      error: null,
      deployed_by: call.userId ?? null,
      approved_by: now.branch.is_protected && (actor.approver || actor.administrator) ? (call.userId ?? null) : null,
      was_resumed: false,
      tries: 0,
    },
  });
  await renewLease(tx, ctx, 'deployment', { id, number });
  await recordAction(tx, id, 'deploy', call, null);
  const versions = drafts.map(({ table_definition_id, version }) => ({ table_definition_id, version }));
  await announceDeployment(tx, call, 'begun', now, { tables: versions, ...removing(removed) });
  return { id, branchId: branch_id, number, tables, missing };
}

const comparedWith = ({ proposed }: StoredDeployment, drafts: WantedTable[]) => ({
  asked: proposed as Facts | null,
  now: versionsOf(drafts),
  names: new Map(drafts.map(({ table_definition_id, name }) => [table_definition_id, name])),
});

// The shared locks keep columns from changing between two reads: what is deployed is one version of each table.
async function readDrafts(tx: Transaction, call: CallContext, ids: number[]): Promise<WantedTable[]> {
  await tx.$queryRaw`
    select id from table_definition where account_id = ${call.accountId} and id = any(${ids}) order by id for share`;
  const where = { id: { in: ids }, account_id: call.accountId };
  const definitions = await tx.table_definition.findMany({ where, ...fullDefinition, orderBy: { id: 'asc' } });
  const leaving = await tx.table_removal.findMany({
    where: { table_definition_id: { in: ids }, account_id: call.accountId },
    select: { table_definition_id: true },
  });
  const gone = new Set(leaving.map(({ table_definition_id }) => table_definition_id));
  return definitions.filter(({ id }) => !gone.has(id)).map(toWantedTable);
}

// Under these locks no column comes to refer to the tables; afterwards the running deployment is
// found (table-references.ts).
async function readRemovals(tx: Transaction, call: CallContext, branchId: number, ids: number[]): Promise<Removal[]> {
  if (ids.length === 0) return [];
  await tx.$queryRaw`
    select id from table_definition where account_id = ${call.accountId} and id = any(${ids}) order by id for update`;
  const leaving = await findBeingRemoved(tx, call, { table_definition_id: { in: ids } });
  return findRemovals(
    tx,
    call,
    branchId,
    ids.filter((id) => !leaving.has(id)),
  );
}

async function applyAttempt(ctx: MetadataContext, call: CallContext, attempt: Attempt): Promise<void> {
  if (attempt.missing.length > 0) return finishFailed(ctx, call, attempt, attempt.missing, [], false);
  const diffs = await planAttempt(ctx, call, attempt);
  const reasons = listBlockers(diffs);
  if (reasons.length > 0) {
    await finishFailed(ctx, call, attempt, reasons, diffs, false);
    return;
  }
  if ((await askToApply(ctx, call, attempt, diffs, false)) === 'ended') return;
  await releaseLease(ctx, 'deployment', attempt, 0);
  await waitForEnd(ctx, attempt.id);
}

// Planning changes nothing, so whatever goes wrong here, the attempt has failed for certain; when data is to blame, the same request
// may begin another one.
async function planAttempt(ctx: MetadataContext, call: CallContext, attempt: Attempt): Promise<TableDiff[]> {
  try {
    return await planTables(ctx, call, attempt.branchId, attempt.tables);
  } catch (error) {
    const reasons = error instanceof ServiceError ? error.errors : ['The plan could not be made.'];
    await finishFailed(ctx, call, attempt, reasons, [], false);
    if (!(error instanceof ServiceError) || error.status >= 500) await releaseKey(ctx, call);
    throw error;
  }
}

/** `broken`: data's own fault, and over; `away`: data couldn't be reached or didn't answer, so it may still be at it. */
type Asked = 'ended' | 'broken' | 'away';

/** Asks data to apply an attempt, and notes how it ended if that is known. */
async function askToApply(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  diffs: TableDiff[],
  isResumed: boolean,
): Promise<Asked> {
  const stopRenewing = holdLease(ctx, 'deployment', attempt);
  try {
    const request = { deployment_id: applyId(attempt), branch_id: attempt.branchId, tables: attempt.tables };
    const plan = await ctx.data.ApplyDeployment(caller, request, { deadlineMs: applyDeadlineMs });
    await finishDeployed(ctx, caller, attempt, shownDiffs(plan), isResumed);
    return 'ended';
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) {
      await finishFailed(ctx, caller, attempt, error.errors, diffs, isResumed);
      return 'ended';
    }
    ctx.logger.warn({ err: error, deployment_id: attempt.id }, 'how a deployment ended is not known yet');
    return error instanceof ServiceError && error.kind === 'internal' ? 'broken' : 'away';
  } finally {
    stopRenewing();
  }
}

/** The id under which data applies an attempt, once. */
export const applyId = ({ id, number }: Pick<Attempt, 'id' | 'number'>) => `metadata-${id}-${number}`;

/**
 * Takes up a deployment that nobody works on: finishes what data has applied, else has it applied now under the same id. Does
 * nothing while somebody holds its lease.
 */
export async function resumeDeployment(ctx: MetadataContext, id: number): Promise<void> {
  const [claimed] = await ctx.prisma.$queryRaw<Claimed[]>`
    update deployment set lease_until = now() + make_interval(secs => ${ctx.timing.leaseMs / 1000}::float8), tries = tries + 1
    where id = ${id} and status = 'deploying' and lease_until <= now()
    returning id, account_id, branch_id, attempt, wanted, tries`;
  if (!claimed) return;
  const begun = await ctx.prisma.deployment_action.findFirst({
    where: { deployment_id: id, action: 'deploy' },
    orderBy: { id: 'desc' },
  });
  const caller = callerFor(claimed.account_id, begun ?? noRequester);
  const { tables: named } = await requireDeployment(ctx, caller, id);
  const { wanted } = claimed;
  const kept = Array.isArray(wanted) ? { tables: wanted, missing: describeMissingTables(named, wanted) } : wanted;
  const attempt: Attempt = {
    id,
    branchId: claimed.branch_id,
    number: claimed.attempt,
    ...kept,
  };
  ctx.logger.info({ deployment_id: id, tries: claimed.tries }, 'taking up a deployment that was left behind');
  if (attempt.missing.length > 0) return finishFailed(ctx, caller, attempt, attempt.missing, [], true);
  const applied = await ctx.data.GetAppliedDeployment(caller, { deployment_id: applyId(attempt) });
  if (applied.applied) {
    await finishDeployed(ctx, caller, attempt, shownDiffs(applied.plan), true);
    return;
  }
  const asked = await askToApply(ctx, caller, attempt, [], true);
  if (asked === 'broken' && claimed.tries >= maxTries)
    await finishFailed(ctx, caller, attempt, ['It could not be applied; try again.'], [], true);
  else if (asked !== 'ended') await releaseLease(ctx, 'deployment', attempt, Math.min(claimed.tries, 10));
}

type Claimed = {
  id: number;
  account_id: number;
  branch_id: number;
  attempt: number;
  wanted: StoredAttempt;
  tries: number;
};

/** Waits, within bounds, until a deployment is no longer being applied; takes it up if nobody else does. */
async function waitForEnd(ctx: MetadataContext, id: number, deadline = Date.now() + ctx.timing.waitMs): Promise<void> {
  while (Date.now() < deadline) {
    const now = await ctx.prisma.deployment.findUnique({ where: { id }, select: { status: true } });
    if (now?.status !== 'deploying') return;
    await resumeDeployment(ctx, id).catch((error) =>
      ctx.logger.warn({ err: error, deployment_id: id }, 'a deployment could not be taken up'),
    );
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** Waits for what this very call has begun, and answers how it ended. */
export async function answerOwnDeployment(ctx: MetadataContext, call: CallContext, id: number): Promise<Deployment> {
  await waitForEnd(ctx, id);
  const deployment = await showDeployment(ctx, call, id);
  requireSuccess(id, deployment.status, deployment.error);
  return deployment;
}

/** The answer to a deploy: the deployment when it is deployed, 422 with the reasons when it failed, 503 while it goes on. */
async function answerEnd(ctx: MetadataContext, call: CallContext, id: number): Promise<Deployment> {
  const { status, error } = await requireDeployment(ctx, call, id);
  requireSuccess(id, status as DeploymentState, error);
  return getDeployment(ctx, call, id);
}

/** Throws unless a deployment that was asked for is deployed. */
export function requireSuccess(id: number, status: DeploymentState, error: string | null): void {
  if (status === 'failed') throw validationFailed((error ?? 'Deployment failed').split('\n'));
  if (status === 'deploying')
    throw new ServiceError('unavailable', `Deployment ${id} is still being applied; ask again.`);
}
