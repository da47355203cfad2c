// What a deployment shows, and of which versions of its definitions: on a protected branch `deploy` applies nothing else
// (shown-changes.ts).
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { MetadataContext } from '../../context.ts';
import { fullDefinition } from '../../table-definitions/table-structure.ts';
import type { Facts } from '../reviewed-revisions.ts';
import { revisionOf } from '../revision.ts';
import type { TableDiff } from '../table-diff.ts';
import { planTables } from './table-plans.ts';
import { findRemovals, type Removal, withReferences } from './table-removals.ts';
import { toWantedTable } from './wanted-tables.ts';

/** What a deployment would do, and to what of its definitions. */
export type PlannedDeployment = { diffs: TableDiff[]; versions: Facts; revision: string };

/** The definitions of a deployment that are still there. */
export function findDefinitions(ctx: MetadataContext, call: { accountId: number }, ids: number[]) {
  const where = { id: { in: ids }, account_id: call.accountId };
  return ctx.prisma.table_definition.findMany({ where, ...fullDefinition, orderBy: { id: 'asc' } });
}

type Versioned = { table_definition_id: number; version: number; is_removed?: boolean };

/** The versions, always in the same order; of a table to be removed, null and the one in service. */
export const versionsOf = (tables: Versioned[]): Facts =>
  tables
    .map(({ table_definition_id: id, version, is_removed }): Facts[number] =>
      is_removed ? [id, null, version] : [id, version],
    )
    .sort(([one], [other]) => one - other);

/** What deploying these definitions, and removing these tables, would do. */
export async function planDefinitions(
  ctx: MetadataContext,
  call: CallContext,
  branchId: number,
  definitions: Awaited<ReturnType<typeof findDefinitions>>,
  removals: Removal[],
): Promise<PlannedDeployment> {
  const tables = [...definitions.map(toWantedTable), ...removals.map(({ table }) => table)];
  const versions = versionsOf(tables);
  const diffs = withReferences(await planTables(ctx, call, branchId, tables), removals);
  return { diffs, versions, revision: revisionOf(versions) };
}

/** What a deployment would do as of now. */
export async function planDrafts(
  ctx: MetadataContext,
  call: CallContext,
  { branch_id, tables }: { branch_id: number; tables: Named[] },
): Promise<PlannedDeployment> {
  const { kept, removed } = idsOf(tables);
  const definitions = await findDefinitions(ctx, call, kept);
  return planDefinitions(ctx, call, branch_id, definitions, await findRemovals(ctx.prisma, call, branch_id, removed));
}

type Named = { table_definition_id: number; is_removal: boolean };

/** The ids of the tables that a deployment makes or changes, and of those that it removes. */
export function idsOf(tables: Named[]): { kept: number[]; removed: number[] } {
  const ids = (isRemoval: boolean) =>
    tables.filter(({ is_removal }) => is_removal === isRemoval).map(({ table_definition_id: id }) => id);
  return { kept: ids(false), removed: ids(true) };
}
