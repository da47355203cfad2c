// A new branch with copies of tables on it, in one call: the branch and the drafts are made in one
// transaction, so there is no half-made branch. Deploying them follows, as for any deployment.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { requireRight } from '@almanac/service-kit/rights/rights';
import type { z } from 'zod';
import {
  type Branch,
  createBranch,
  type newBranchAttributes,
  requireDevelopSomewhere,
  showBranch,
} from '../branches/branches.ts';
import type { Actor } from '../changes/approval-states.ts';
import { begin, beginAndApply } from '../changes/deployments/deployment-apply.ts';
import { insertDeployment } from '../changes/deployments/deployment-proposal.ts';
import type { MetadataContext } from '../context.ts';
import { placeOf } from '../rights/place.ts';
import { requireVisible } from '../rights/visibility.ts';
import { cloneInto } from '../table-definitions/table-clone.ts';

export type Copy = {
  table_definition_ids: number[];
  with_referenced?: boolean | undefined;
  include_data?: boolean | undefined;
  deploy?: boolean | undefined;
};
type Attributes = z.infer<z.ZodObject<typeof newBranchAttributes>>;

/** What came of the copies: the drafts on the branch, and their deployment if one was asked for. */
export type Copied = {
  table_definitions: { id: number; key: string; name: string; cloned_from_id: number | null }[];
  deployment: { id: number; status: string; error: string | null } | null;
};
export type FilledBranch = Branch & { copied?: Copied };

/**
 * Creates a branch with copies of these tables, which the caller sees, and of those that they refer
 * to if asked for. 404 for an unknown table; a deployment that fails leaves the branch and the
 * drafts.
 */
export async function createFilledBranch(
  ctx: MetadataContext,
  call: CallContext,
  readCopy: () => Copy | undefined,
  read: () => Attributes,
): Promise<FilledBranch> {
  await requireDevelopSomewhere(ctx, call);
  const copy = readCopy();
  if (copy === undefined) return createBranch(ctx, call, read);
  const originals = await findOriginals(ctx, call, copy);
  const deploymentIds: number[] = [];
  const readAndCheck = () => {
    const attributes = read();
    if (copy.deploy && attributes.is_protected)
      throw validationFailed({
        code: 'incompatible',
        message: 'Deploy must be left out for a protected branch, where another person deploys.',
        field: 'copy.deploy',
      });
    return attributes;
  };
  const branch = await createBranch(ctx, call, readAndCheck, async (tx, { id, name }) => {
    const cloneIds = await cloneInto(
      tx,
      call,
      originals.map((each) => each.id),
      { id, name },
      copy.include_data ?? false,
    );
    if (!copy.deploy) return;
    const clones = originals.map(({ key, name }, i) => ({ id: cloneIds[i] as number, key, name }));
    deploymentIds.push(await insertDeployment(tx, call, id, clones));
  });
  const deploymentId = deploymentIds.at(-1); // a repeated transaction has inserted several
  if (deploymentId !== undefined) await deployCopies(ctx, call, deploymentId);
  return { ...branch, copied: await findCopied(ctx, call, branch.id) };
}

/** The branch that an earlier request with the same key has made. */
export async function showFilledBranch(
  ctx: MetadataContext,
  call: CallContext,
  copy: Copy | undefined,
  id: number,
): Promise<FilledBranch> {
  const branch = await showBranch(ctx, call, id);
  return copy === undefined ? branch : { ...branch, copied: await findCopied(ctx, call, id) };
}

type Original = { id: number; key: string; name: string; domain_id: number; branch_id: number };

async function findOriginals(ctx: MetadataContext, call: CallContext, copy: Copy): Promise<Original[]> {
  const ids = [...new Set(copy.table_definition_ids)];
  const originals = await ctx.prisma.$queryRaw<Original[]>`
    with recursive wanted(id) as (
      select id from table_definition where account_id = ${call.accountId} and id = any(${ids})
      union
      select c.foreign_key_table_id from wanted join column_definition c on c.table_definition_id = wanted.id
      where c.account_id = ${call.accountId} and c.foreign_key_table_id is not null and ${copy.with_referenced ?? false}
    )
    select t.id, t.key, t.name, t.domain_id, t.branch_id from table_definition t join wanted on wanted.id = t.id
    where t.account_id = ${call.accountId} order by t.id`;
  const found = new Set(originals.map(({ id }) => id));
  if (!ids.every((id) => found.has(id))) throw notFound('Table definition');
  if (originals.length > limits.tablesPerCopy)
    throw validationFailed({
      code: 'too_many',
      message: `At most ${limits.tablesPerCopy} tables are copied at once, those that they refer to included`,
      field: 'copy.table_definition_ids',
      params: { maximum: limits.tablesPerCopy },
    });
  for (const original of originals) {
    await requireVisible(ctx, call, placeOf(original));
    // Approvers of a branch see its definitions, not its rows.
    if (copy.include_data) await requireRight(ctx.rights, call, 'view', placeOf(original));
  }
  return originals;
}

// The branch is new and not protected: its creator has `develop` there, once identity knows it.
const creator: Actor = { system: false, creator: true, developer: true, approver: false, administrator: false };

// What blocks it is in the answer. When data is away, the reconciler finishes what has begun.
async function deployCopies(ctx: MetadataContext, { keyed: _keyed, ...call }: CallContext, id: number): Promise<void> {
  try {
    await beginAndApply(ctx, call, (tx) => begin(tx, ctx, call, id, creator));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status < 500) throw error;
    ctx.logger.warn({ err: error, deployment_id: id }, 'the copies of a new branch are not deployed yet');
  }
}

async function findCopied(ctx: MetadataContext, call: CallContext, branchId: number): Promise<Copied> {
  const where = { account_id: call.accountId, branch_id: branchId };
  const [table_definitions, deployment] = await Promise.all([
    ctx.prisma.table_definition.findMany({
      where: { ...where, cloned_from_id: { not: null } },
      select: { id: true, key: true, name: true, cloned_from_id: true },
      orderBy: { id: 'asc' },
    }),
    ctx.prisma.deployment.findFirst({
      where,
      select: { id: true, status: true, error: true },
      orderBy: { id: 'asc' },
    }),
  ]);
  return { table_definitions, deployment };
}
