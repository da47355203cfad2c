// Applying a deployment. An attempt is stored first (`deploying`, with the tables exactly as data
// is asked to make them), then data applies it under an id of its own, then the outcome is stored.
// After a crash any process may resume the attempt: data applies the same id only once.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { releaseKey, transactOnce } from '../../requests/idempotency.ts';
import { findBeingRemoved } from '../../table-definitions/table-references.ts';
import { fullDefinition } from '../../table-definitions/table-structure.ts';
import { lockRow, type Transaction } from '../../transaction.ts';
import type { Actor } from '../approval-states.ts';
import { claimAttempt, maxTries, releaseLease, renewLease, underLease, waitForEnd } from '../attempt-lease.ts';
import { announceChange } from '../change-events.ts';
import { recordAction } from '../change-history.ts';
import { approverOf, requireApplicable, requireStep } from '../change-kind.ts';
import { requireSuccess } from '../refusal.ts';
import { requireReviewed, type Versions } from '../reviewed-revisions.ts';
import { describeViolations, type TableDiff, violationsOf } from '../table-diff.ts';
import { finishDeployed, finishFailed } from './deployment-finish.ts';
import { idsOf, versionsOf } from './deployment-plan.ts';
import type { Deployment } from './deployment-schema.ts';
import { deploymentMachine } from './deployment-states.ts';
import {
  deployments,
  getDeployment,
  lockDeployment,
  requireDeployment,
  type StoredDeployment,
  showDeployment,
} from './deployments.ts';
import { requireViewOfFirstRows } from './first-rows.ts';
import { planTables, readDiffs } from './table-plans.ts';
import { describeReferences, findRemovals, type Removal, removalIds } from './table-removals.ts';
import {
  type Attempt,
  describeMissingTables,
  type StoredAttempt,
  storedAttempt,
  toWantedTable,
  type WantedTable,
} from './wanted-tables.ts';

const applyDeadlineMs = 5 * 60_000;

/** `revision`: deploy only what was shown under it. */
export type DeployInput = { revision?: string };

/**
 * Applies a deployment and answers it deployed. What blocks it is 422, and the deployment failed.
 */
export async function deploy(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readBody: () => DeployInput,
): Promise<Deployment> {
  const before = await requireDeployment(ctx, call, id);
  const actor = await deployments.actorOf(ctx, call, before);
  const mode = requireApplicable(deployments, before, actor);
  const tableIds = before.tables.map(({ table_definition_id }) => table_definition_id);
  if (mode === 'begin') await requireViewOfFirstRows(ctx, call, tableIds);
  const { revision } = readBody();
  if (mode === 'answer the outcome') return getDeployment(ctx, call, id);
  if (mode === 'begin') await beginAndApply(ctx, call, async (tx) => begin(tx, ctx, call, id, actor, revision));
  else await waitForDeployment(ctx, id);
  const after = await requireDeployment(ctx, call, id);
  requireSuccess(deploymentMachine, after, 'applied');
  return getDeployment(ctx, call, id);
}

/** Begins an attempt in a transaction, after any other deployment of the branch, and applies it. */
export async function beginAndApply(
  ctx: MetadataContext,
  call: CallContext,
  beginOnce: (tx: Transaction) => Promise<Attempt | number>,
): Promise<number> {
  const idOf = (begun: Attempt | number) => (typeof begun === 'number' ? begun : begun.id);
  const begun = await retryWhileBranchBusy(ctx, () => transactOnce(ctx, call, beginOnce, idOf));
  if (typeof begun === 'number') await waitForDeployment(ctx, begun);
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

async function retryWhileBranchBusy<T>(ctx: MetadataContext, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + ctx.timing.waitMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BranchBusy)) throw error;
      if (Date.now() >= deadline)
        throw new ServiceError('wrong_state', {
          code: 'wrong_state',
          message: `Deployment ${error.deploymentId} is being applied on this branch; try again when it has ended.`,
          params: { deployment_id: error.deploymentId },
        });
      await waitForDeployment(ctx, error.deploymentId, deadline);
    }
  }
}

/**
 * Stores an attempt to apply the drafts as they are now, if the caller may apply that revision.
 * When a concurrent request has begun one, answers the id of the deployment.
 */
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
  const now = await lockDeployment(tx, call, id);
  if (now.status === 'deploying') return id;
  const status = requireStep(deployments, now, 'deploy', actor);
  const other = await tx.deployment.findFirst({ where: { deploying_branch_id: branch_id }, select: { id: true } });
  if (other) throw new BranchBusy(other.id);
  const { kept, removed } = idsOf(now.tables);
  const drafts = await readDrafts(tx, call, kept);
  const removals = await readRemovals(tx, call, branch_id, removed);
  const tables = [...drafts, ...removals.map(({ table }) => table)];
  const missing = describeMissingTables(now.tables, tables);
  const blockers = [...missing, ...describeReferences(removals)];
  if (missing.length === 0) await requireReviewed(tx, call, deploymentMachine, now, revisionsOf(now, tables), seen);
  const number = now.attempt + 1;
  await tx.deployment.update({
    where: { id },
    data: {
      status,
      attempt: number,
      wanted: storedAttempt({ tables, missing: blockers }) as unknown as Prisma.InputJsonValue,
      deploying_branch_id: branch_id,
      error: null,
      deployed_by: call.userId ?? null,
      approved_by: approverOf(call, now.branch, actor),
      was_resumed: false,
      tries: 0,
    },
  });
  await renewLease(tx, ctx, deploymentMachine, { id, number });
  await recordAction(tx, deploymentMachine, id, 'deploy', call, null);
  const versions = drafts.map(({ table_definition_id, version }) => ({ table_definition_id, version }));
  await announceChange(tx, call, deployments, now, 'deploy', { tables: versions, ...removalIds(removed) });
  return { id, branchId: branch_id, number, tries: 0, tables, missing: blockers };
}

const revisionsOf = ({ proposed }: StoredDeployment, tables: WantedTable[]) => ({
  proposed: proposed as Versions | null,
  now: versionsOf(tables),
  names: new Map(tables.map(({ table_definition_id, name }) => [table_definition_id, name])),
});

// The shared locks keep columns from changing between two reads: each table is deployed as one
// version of it.
async function readDrafts(tx: Transaction, call: CallContext, ids: number[]): Promise<WantedTable[]> {
  await tx.$queryRaw`
    select id from table_definition where account_id = ${call.accountId} and id = any(${ids}) order by id for share`;
  const where = { id: { in: ids }, account_id: call.accountId };
  const definitions = await tx.table_definition.findMany({ where, ...fullDefinition, orderBy: { id: 'asc' } });
  const removals = await tx.table_removal.findMany({
    where: { table_definition_id: { in: ids }, account_id: call.accountId },
    select: { table_definition_id: true },
  });
  const removed = new Set(removals.map(({ table_definition_id }) => table_definition_id));
  return definitions.filter(({ id }) => !removed.has(id)).map(toWantedTable);
}

// These locks keep new columns from referring to the tables until the attempt is stored; from then
// on the running deployment does (table-references.ts).
async function readRemovals(tx: Transaction, call: CallContext, branchId: number, ids: number[]): Promise<Removal[]> {
  if (ids.length === 0) return [];
  await tx.$queryRaw`
    select id from table_definition where account_id = ${call.accountId} and id = any(${ids}) order by id for update`;
  const beingRemoved = await findBeingRemoved(tx, call, { table_definition_id: { in: ids } });
  const present = ids.filter((id) => !beingRemoved.has(id));
  return findRemovals(tx, call, branchId, present);
}

async function applyAttempt(ctx: MetadataContext, call: CallContext, attempt: Attempt): Promise<void> {
  await underLease(ctx, deploymentMachine, attempt, () => planAndApply(ctx, call, attempt));
  await waitForDeployment(ctx, attempt.id);
}

async function planAndApply(ctx: MetadataContext, call: CallContext, attempt: Attempt): Promise<void> {
  if (attempt.missing.length > 0) return finishFailed(ctx, call, attempt, attempt.missing, [], false);
  const diffs = await planAttempt(ctx, call, attempt);
  const reasons = describeViolations(violationsOf(diffs));
  if (reasons.length > 0) return finishFailed(ctx, call, attempt, reasons, diffs, false);
  if ((await applyInData(ctx, call, attempt, diffs, false)) !== 'ended')
    await releaseLease(ctx, deploymentMachine, attempt, 0);
}

// Planning changes nothing, so an error means that the attempt has failed. When data is the cause,
// the same request may begin another attempt.
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

/**
 * `failed`: data answered that it failed; `unknown`: data did not answer and may still apply it.
 */
type ApplyOutcome = 'ended' | 'failed' | 'unknown';

/** Asks data to apply an attempt, and stores the outcome if it is known. */
async function applyInData(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  diffs: TableDiff[],
  isResumed: boolean,
): Promise<ApplyOutcome> {
  try {
    const request = { deployment_id: applyId(attempt), branch_id: attempt.branchId, tables: attempt.tables };
    const plan = await ctx.data.ApplyDeployment(caller, request, { deadlineMs: applyDeadlineMs });
    await finishDeployed(ctx, caller, attempt, readDiffs(plan), isResumed);
    return 'ended';
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) {
      await finishFailed(ctx, caller, attempt, error.errors, diffs, isResumed);
      return 'ended';
    }
    ctx.logger.warn({ err: error, deployment_id: attempt.id }, 'the outcome of a deployment is not known yet');
    return error instanceof ServiceError && error.kind === 'internal' ? 'failed' : 'unknown';
  }
}

/** The id under which data applies an attempt, once. */
export const applyId = ({ id, number }: Pick<Attempt, 'id' | 'number'>) => `metadata-${id}-${number}`;

/**
 * Resumes a deployment whose lease has run out: stores the outcome if data has applied the attempt,
 * otherwise has data apply it under the same id.
 */
export async function resumeDeployment(ctx: MetadataContext, id: number): Promise<void> {
  const claimed = await claimAttempt<StoredAttempt>(ctx, deploymentMachine, id);
  if (!claimed) return;
  const { number, tries, input, caller } = claimed;
  const { tables: named, branch_id: branchId } = await requireDeployment(ctx, caller, id);
  const parts = Array.isArray(input) ? { tables: input, missing: describeMissingTables(named, input) } : input;
  const attempt: Attempt = { id, branchId, number, tries, ...parts };
  await underLease(ctx, deploymentMachine, attempt, () => resumeAttempt(ctx, caller, attempt));
}

async function resumeAttempt(ctx: MetadataContext, caller: RpcCaller, attempt: Attempt): Promise<void> {
  if (attempt.missing.length > 0) return finishFailed(ctx, caller, attempt, attempt.missing, [], true);
  const { applied, plan } = await ctx.data.GetAppliedDeployment(caller, { deployment_id: applyId(attempt) });
  if (applied) return finishDeployed(ctx, caller, attempt, readDiffs(plan), true);
  const outcome = await applyInData(ctx, caller, attempt, [], true);
  if (outcome === 'failed' && attempt.tries >= maxTries)
    await finishFailed(ctx, caller, attempt, ['It could not be applied; try again.'], [], true);
  else if (outcome !== 'ended') await releaseLease(ctx, deploymentMachine, attempt, Math.min(attempt.tries, 10));
}

const waitForDeployment = (ctx: MetadataContext, id: number, deadline?: number) =>
  waitForEnd(ctx, deploymentMachine, id, resumeDeployment, deadline);

/** Answers a repeated request: waits for the deployment that the first one began. */
export async function answerDeployed(ctx: MetadataContext, call: CallContext, id: number): Promise<Deployment> {
  await waitForDeployment(ctx, id);
  const deployment = await showDeployment(ctx, call, id);
  requireSuccess(deploymentMachine, deployment, 'applied');
  return deployment;
}
