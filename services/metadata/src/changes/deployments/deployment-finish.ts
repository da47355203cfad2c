// How an attempt ends: noted once, by whoever comes first; a second time changes nothing.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { recordRemovals } from '../../table-definitions/table-removal.ts';
import { announceAll, type Transaction, transact } from '../../transaction.ts';
import { findRecipients, type MailFacts, type Recipients, requestMails } from '../approval-mails.ts';
import type { TableDiff } from '../table-diff.ts';
import { deploymentTransitions } from './deployment-states.ts';
import { announceDeployment, recordAction } from './deployments.ts';
import { type Attempt, deployedSnapshot, partsOf, type WantedTable } from './wanted-tables.ts';

/**
 * Notes that data has applied an attempt: the deployment, its tables as they are in service now or
 * gone, and the drafts they came from.
 */
export async function finishDeployed(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  diffs: TableDiff[],
  isResumed: boolean,
): Promise<void> {
  const news = await readNews(ctx, caller, attempt);
  await transact(ctx, async (tx) => {
    const at = new Date();
    if (!(await end(tx, caller, attempt, 'succeed', { diffs, deployed_at: at, was_resumed: isResumed }))) return;
    const { kept, removed } = partsOf(attempt);
    await recordDeployedTables(tx, caller, attempt.id, kept, at);
    await recordDraftVersions(tx, caller, kept);
    await recordRemovals(
      tx,
      caller,
      removed.map(({ table_definition_id: id, branch_id }) => ({ id, branch_id })),
    );
    const inService = kept.map(({ table_definition_id, branch_id }) => ({ table_definition_id, branch_id }));
    await announceAll(tx, caller, 'table_definition.deployed', inService);
    await announceDeployment(tx, caller, 'deployed', deploymentOf(attempt));
    await requestMails(tx, caller, news.creator, { ...news.facts, diffs, outcome: 'deployed', reasons: [] });
  });
}

/** Notes that an attempt came to nothing, and why. */
export async function finishFailed(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  reasons: string[],
  diffs: TableDiff[],
  isResumed: boolean,
): Promise<void> {
  const news = await readNews(ctx, caller, attempt);
  await transact(ctx, async (tx) => {
    const facts = { diffs, error: reasons.join('\n'), was_resumed: isResumed };
    if (!(await end(tx, caller, attempt, 'fail', facts))) return;
    await announceDeployment(tx, caller, 'failed', deploymentOf(attempt), { reasons });
    await requestMails(tx, caller, news.creator, { ...news.facts, diffs, outcome: 'failed', reasons });
  });
}

// What its creator is written: he may have left it to somebody else.
async function readNews(
  ctx: MetadataContext,
  caller: RpcCaller,
  { id, branchId }: Attempt,
): Promise<{ creator: Recipients; facts: Omit<MailFacts, 'diffs'> }> {
  const where = { id, account_id: caller.accountId };
  const select = { created_by: true, branch: { select: { name: true } } } as const;
  const found = await ctx.prisma.deployment.findFirst({ where, select });
  const creatorId = found?.created_by ?? null;
  const creator = await findRecipients(ctx, caller, 'decided', { branchId, creatorId });
  return { creator, facts: { noun: 'deployment', id, branch: found?.branch.name ?? '', comment: null } };
}

const deploymentOf = ({ id, branchId }: Attempt) => ({ id, branch_id: branchId, status: 'deploying' });

type Facts = { diffs: TableDiff[]; deployed_at?: Date; error?: string; was_resumed: boolean };

async function end(
  tx: Transaction,
  caller: RpcCaller,
  attempt: Attempt,
  action: 'succeed' | 'fail',
  { diffs, ...facts }: Facts,
): Promise<boolean> {
  const { from, to } = deploymentTransitions[action];
  const { count } = await tx.deployment.updateMany({
    where: { id: attempt.id, account_id: caller.accountId, attempt: attempt.number, status: { in: [...from] } },
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
  await recordAction(tx, attempt.id, action, caller, facts.error ?? null);
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

// A draft that was changed meanwhile needs another deployment.
async function recordDraftVersions(tx: Transaction, caller: RpcCaller, tables: WantedTable[]): Promise<void> {
  const ids = tables.map(({ table_definition_id }) => table_definition_id);
  const versions = tables.map(({ version }) => version);
  await tx.$executeRaw`
    update table_definition set deployed_version = done.version, needs_deployment = table_definition.version <> done.version
    from unnest(${ids}::int[], ${versions}::int[]) as done (id, version)
    where table_definition.id = done.id and table_definition.account_id = ${caller.accountId}`;
}
