// What applying a deployment would do, and the versions of its definitions that this depends on. On
// a protected branch only these versions may be deployed (reviewed-revisions.ts).
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { MetadataContext } from '../../context.ts';
import { fullDefinition } from '../../table-definitions/table-structure.ts';
import { revisionOf, type Versions } from '../reviewed-revisions.ts';
import type { TableDiff } from '../table-diff.ts';
import { planTables } from './table-plans.ts';
import { findRemovals, type Removal, withReferences } from './table-removals.ts';
import { toWantedTable } from './wanted-tables.ts';

export type DeploymentPlan = { diffs: TableDiff[]; versions: Versions; revision: string };

/** The definitions with these ids that still exist. */
export function findDefinitions(ctx: MetadataContext, call: { accountId: number }, ids: number[]) {
  const where = { id: { in: ids }, account_id: call.accountId };
  return ctx.prisma.table_definition.findMany({ where, ...fullDefinition, orderBy: { id: 'asc' } });
}

type Versioned = { table_definition_id: number; version: number; is_removed?: boolean };

/** The versions, in the order of ids; of a table to be removed, null and the deployed version. */
export const versionsOf = (tables: Versioned[]): Versions =>
  tables
    .map(({ table_definition_id: id, version, is_removed }): Versions[number] =>
      is_removed ? [id, null, version] : [id, version],
    )
    .sort(([one], [other]) => one - other);

/** Plans deploying these definitions and removing these tables. */
export async function planDefinitions(
  ctx: MetadataContext,
  call: CallContext,
  branchId: number,
  definitions: Awaited<ReturnType<typeof findDefinitions>>,
  removals: Removal[],
): Promise<DeploymentPlan> {
  const tables = [...definitions.map(toWantedTable), ...removals.map(({ table }) => table)];
  const versions = versionsOf(tables);
  const diffs = withReferences(await planTables(ctx, call, branchId, tables), removals);
  return { diffs, versions, revision: revisionOf(versions) };
}

/** Plans a deployment by its drafts as they are now. */
export async function planDeployment(
  ctx: MetadataContext,
  call: CallContext,
  { branch_id, tables }: { branch_id: number; tables: NamedTable[] },
): Promise<DeploymentPlan> {
  const { kept, removed } = idsOf(tables);
  const definitions = await findDefinitions(ctx, call, kept);
  return planDefinitions(ctx, call, branch_id, definitions, await findRemovals(ctx.prisma, call, branch_id, removed));
}

type NamedTable = { table_definition_id: number; is_removal: boolean };

/** The ids of the tables that a deployment makes or changes, and of those that it removes. */
export function idsOf(tables: NamedTable[]): { kept: number[]; removed: number[] } {
  const ids = (isRemoval: boolean) =>
    tables.filter(({ is_removal }) => is_removal === isRemoval).map(({ table_definition_id: id }) => id);
  return { kept: ids(false), removed: ids(true) };
}
