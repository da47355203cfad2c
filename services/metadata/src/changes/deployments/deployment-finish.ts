// The outcome of an attempt to apply a deployment. The first process to know it stores it; storing
// it again changes nothing.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { recordRemovals } from '../../table-definitions/table-removal.ts';
import { announceAll, byCaller, type Transaction, transact } from '../../transaction.ts';
import { diffContents, findRecipients, type MailFacts, type Recipients, requestMails } from '../approval-mails.ts';
import { announceChange } from '../change-events.ts';
import { recordAction } from '../change-history.ts';
import type { TableDiff } from '../table-diff.ts';
import { deploymentMachine, deploymentTransitions } from './deployment-states.ts';
import { type Attempt, deployedSnapshot, splitRemovals, type WantedTable } from './wanted-tables.ts';

/**
 * Stores that data has applied an attempt: the deployment, its tables as they are in service now or
 * removed, and their drafts.
 */
export async function finishDeployed(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  diffs: TableDiff[],
  isResumed: boolean,
): Promise<void> {
  const mail = await readMailFacts(ctx, caller, attempt);
  await transact(ctx, async (tx) => {
    const at = new Date();
    if (!(await end(tx, caller, attempt, 'succeed', { diffs, deployed_at: at, was_resumed: isResumed }))) return;
    const { kept, removed } = splitRemovals(attempt);
    await recordDeployedTables(tx, caller, attempt.id, kept, at);
    await recordDraftVersions(tx, caller, kept);
    const removals = removed.map(({ table_definition_id: id, branch_id }) => ({ id, branch_id }));
    await recordRemovals(tx, caller, removals);
    const by = byCaller(caller);
    const deployed = kept.map(({ table_definition_id, branch_id }) => ({ table_definition_id, branch_id, ...by }));
    await announceAll(tx, caller, 'table_definition.deployed', deployed);
    await announceOutcome(tx, caller, attempt, 'succeed');
    await requestMails(tx, caller, mail.creator, {
      ...mail.facts,
      contents: diffContents(diffs),
      outcome: 'deployed',
      reasons: [],
    });
  });
}

/**
 * Stores that an attempt failed, and why; unless another process has claimed it, which may have had
 * it applied.
 */
export async function finishFailed(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  reasons: string[],
  diffs: TableDiff[],
  isResumed: boolean,
): Promise<void> {
  const mail = await readMailFacts(ctx, caller, attempt);
  await transact(ctx, async (tx) => {
    const facts = { diffs, error: reasons.join('\n'), was_resumed: isResumed };
    if (!(await end(tx, caller, attempt, 'fail', facts))) return;
    await announceOutcome(tx, caller, attempt, 'fail', { reasons });
    await requestMails(tx, caller, mail.creator, {
      ...mail.facts,
      contents: diffContents(diffs),
      outcome: 'failed',
      reasons,
    });
  });
}

// The creator gets a mail when another user applied the deployment.
async function readMailFacts(
  ctx: MetadataContext,
  caller: RpcCaller,
  { id, branchId }: Attempt,
): Promise<{ creator: Recipients; facts: Omit<MailFacts, 'contents'> }> {
  const where = { id, account_id: caller.accountId };
  const select = { created_by: true, branch: { select: { name: true } } } as const;
  const found = await ctx.prisma.deployment.findFirst({ where, select });
  const creatorId = found?.created_by ?? null;
  const creator = await findRecipients(ctx, caller, 'decided', { branchId, creatorId });
  return { creator, facts: { noun: 'deployment', id, branch: found?.branch.name ?? '', comment: null } };
}

const announceOutcome = (
  tx: Transaction,
  caller: RpcCaller,
  { id, branchId }: Attempt,
  action: 'succeed' | 'fail',
  facts?: Record<string, unknown>,
) => {
  const event = { machine: deploymentMachine, branchIds: () => ({ branch_id: branchId }) };
  return announceChange(tx, caller, event, { id, status: 'deploying' }, action, facts);
};

type Outcome = { diffs: TableDiff[]; deployed_at?: Date; error?: string; was_resumed: boolean };

async function end(
  tx: Transaction,
  caller: RpcCaller,
  attempt: Attempt,
  action: 'succeed' | 'fail',
  { diffs, ...facts }: Outcome,
): Promise<boolean> {
  const { from, to } = deploymentTransitions[action];
  const running = { id: attempt.id, account_id: caller.accountId, attempt: attempt.number, status: { in: [...from] } };
  const { count } = await tx.deployment.updateMany({
    where: action === 'fail' ? { ...running, tries: attempt.tries } : running,
    data: {
      ...facts,
      status: to,
      deploying_branch_id: null,
      lease_until: null,
      wanted: Prisma.DbNull,
      ...(diffs.length > 0 ? { diffs: diffs as unknown as Prisma.InputJsonValue } : {}),
    },
  });
  if (count === 0) return false;
  await recordAction(tx, deploymentMachine, attempt.id, action, caller, facts.error ?? null);
  return true;
}

async function recordDeployedTables(
  tx: Transaction,
  caller: RpcCaller,
  deploymentId: number,
  tables: WantedTable[],
  at: Date,
): Promise<void> {
  const ids = tables.map(({ table_definition_id }) => table_definition_id);
  const { deployed_by } = await tx.deployment.findUniqueOrThrow({
    where: { id: deploymentId },
    select: { deployed_by: true },
  });
  await tx.deployed_table_definition.deleteMany({ where: { id: { in: ids }, account_id: caller.accountId } });
  await tx.deployed_table_definition.createMany({
    data: tables.map((table) => ({
      ...deployedSnapshot(table),
      id: table.table_definition_id,
      account_id: caller.accountId,
      deployment_id: deploymentId,
      deployed_by,
      deployed_at: at,
    })),
  });
}

// A draft that was changed after the attempt began needs another deployment.
async function recordDraftVersions(tx: Transaction, caller: RpcCaller, tables: WantedTable[]): Promise<void> {
  const ids = tables.map(({ table_definition_id }) => table_definition_id);
  const versions = tables.map(({ version }) => version);
  await tx.$executeRaw`
    update table_definition set deployed_version = done.version, needs_deployment = table_definition.version <> done.version
    from unnest(${ids}::int[], ${versions}::int[]) as done (id, version)
    where table_definition.id = done.id and table_definition.account_id = ${caller.accountId}`;
}
