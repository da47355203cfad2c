// What people have seen of a deployment, as versions of its definitions. On a protected branch `deploy` applies nothing else, so that
// nobody gets a change past the eyes of those who approve.
import type { CallContext } from '@almanac/service-kit/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Context } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { revisionOf } from '../revision.ts';
import { fullDefinition } from '../table-definitions/table-structure.ts';
import type { Transaction } from '../transaction.ts';
import { planTables, type TableDiff } from './deployment-diffs.ts';
import { type Wanted, wantedTable } from './wanted-tables.ts';

/** Ids of definitions with the versions that were read. */
export type Versions = [id: number, version: number][];

/** What a deployment would do, and to what of its definitions. */
export type PlannedDeployment = { diffs: TableDiff[]; versions: Versions; revision: string };

/** The definitions of a deployment that are still there. */
export function findDefinitions(ctx: Context, call: { accountId: number }, ids: number[]) {
  const where = { id: { in: ids }, account_id: call.accountId };
  return ctx.prisma.table_definition.findMany({ where, ...fullDefinition, orderBy: { id: 'asc' } });
}

/** The versions of definitions, always in the same order. */
export const versionsOf = (definitions: { id: number; version: number }[]): Versions =>
  definitions.map(({ id, version }): Versions[number] => [id, version]).sort(([one], [other]) => one - other);

/** What deploying these definitions would do. */
export async function planDefinitions(
  ctx: Context,
  call: CallContext,
  branchId: number,
  definitions: Awaited<ReturnType<typeof findDefinitions>>,
): Promise<PlannedDeployment> {
  const versions = versionsOf(definitions);
  const diffs = await planTables(ctx, call, branchId, definitions.map(wantedTable));
  return { diffs, versions, revision: revisionOf(versions) };
}

/** What a deployment would do as of now. */
export async function planDrafts(
  ctx: Context,
  call: CallContext,
  { branch_id, tables }: { branch_id: number; tables: { table_definition_id: number }[] },
): Promise<PlannedDeployment> {
  const ids = tables.map(({ table_definition_id }) => table_definition_id);
  return planDefinitions(ctx, call, branch_id, await findDefinitions(ctx, call, ids));
}

type Subject = { id: number; branch: { is_protected: boolean } };

/** Notes what the caller is shown, where it matters. If that can't be noted he is shown it again when he deploys, so the answer goes on. */
export async function noteShown(
  ctx: Context,
  { userId }: CallContext,
  { id, branch }: Subject,
  versions: Versions,
): Promise<void> {
  if (userId === undefined || !branch.is_protected) return;
  try {
    await ctx.prisma.$executeRaw`
      insert into deployment_showing as s (deployment_id, user_id, versions) values (${id}, ${userId}, ${JSON.stringify(versions)}::jsonb)
      on conflict (deployment_id, user_id) do update set versions = excluded.versions where s.versions <> excluded.versions`;
  } catch (error) {
    ctx.logger.warn({ err: error, deployment_id: id }, 'whom a deployment was shown to could not be noted');
  }
}

/** Thrown when somebody would apply what he hasn't seen. */
export class Unseen extends ServiceError {
  constructor(sentences: string[]) {
    super('wrong_state', sentences);
  }
}

/**
 * Throws unless the drafts, locked, are what may be applied: those of the revision that the caller insists on; without one, on a
 * protected branch, for who didn't propose it himself, those that he was shown last, or, if none were, those that approval was asked
 * for or that were proposed.
 */
export async function requireShown(
  tx: Transaction,
  { userId }: CallContext,
  { id, branch, created_by, proposed }: Subject & { created_by: number | null; proposed: Prisma.JsonValue },
  drafts: Wanted[],
  seen: string | undefined,
): Promise<void> {
  const isOwn = created_by === (userId ?? null);
  if (seen === undefined && (isOwn || !branch.is_protected)) return;
  const key = { deployment_id: id, user_id: userId ?? 0 };
  const showing = await tx.deployment_showing.findUnique({ where: { deployment_id_user_id: key } });
  const shown = (showing?.versions ?? proposed) as Versions | null;
  if (seen === undefined && !shown) return; // the release that made it noted nothing
  const now = versionsOf(drafts.map(({ table_definition_id, version }) => ({ id: table_definition_id, version })));
  if (revisionOf(now) === (seen ?? revisionOf(shown ?? []))) return;
  const versions = new Map(shown ?? []);
  const changed = drafts.filter((draft) => {
    const then = versions.get(draft.table_definition_id);
    return then !== undefined && then !== draft.version;
  });
  const reasons = changed.map(({ name }) => `${name} has changed since the diffs were shown`);
  throw new Unseen([
    ...(reasons.length > 0 ? reasons : ['The diffs are not those that were shown']),
    'Look at the diffs as they are now, then deploy them.',
  ]);
}
