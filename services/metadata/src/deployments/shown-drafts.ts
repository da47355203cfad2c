// What a deployment shows, and of which versions of its definitions: on a protected branch `deploy` applies nothing else
// (shown-changes.ts).
import type { CallContext } from '@almanac/service-kit/call-context';
import type { Context } from '../context.ts';
import { revisionOf } from '../revision.ts';
import { fullDefinition } from '../table-definitions/table-structure.ts';
import { planTables, type TableDiff } from './deployment-diffs.ts';
import { wantedTable } from './wanted-tables.ts';

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
