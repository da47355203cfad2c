// The differences between drafts and what is deployed, as data computes them and as answers show them (design 3.5).
import type { DeploymentPlan__Output } from '@almanac/protos/generated/almanac/data/v1/DeploymentPlan.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import type { TableDiff } from '../table-diff.ts';
import { requireSendable, type WantedTable } from './wanted-tables.ts';

const planDeadlineMs = 60_000;

/** Asks data what making or removing these tables would do. Changes nothing. */
export async function planTables(
  ctx: MetadataContext,
  caller: RpcCaller,
  branchId: number,
  tables: WantedTable[],
): Promise<TableDiff[]> {
  if (tables.length === 0) return [];
  requireSendable(tables);
  const request = { branch_id: branchId, tables };
  const diffs = shownDiffs(await ctx.data.PlanDeployment(caller, request, { deadlineMs: planDeadlineMs }));
  requireRemovalsUnderstood(tables, diffs);
  return diffs;
}

// Data of the last release takes a table to be removed for one without columns, which it refuses to
// make.
function requireRemovalsUnderstood(tables: WantedTable[], diffs: TableDiff[]): void {
  const deleted = new Set(diffs.filter(({ change }) => change === 'deleted').map((diff) => diff.table_definition_id));
  if (tables.some(({ is_removed, table_definition_id: id }) => is_removed && !deleted.has(id)))
    throw new ServiceError(
      'unavailable',
      'The data service is of a release that removes no tables by deployment; try again when it is updated.',
    );
}

/** A plan as answers show it: values of attributes, which travel as JSON text, read. */
export function shownDiffs(plan: DeploymentPlan__Output | null | undefined): TableDiff[] {
  return (plan?.diffs ?? []).map((diff) => ({
    table_definition_id: diff.table_definition_id,
    key: diff.key,
    name: diff.name,
    change: diff.change as TableDiff['change'],
    attributes: diff.attributes.map(readAttribute),
    columns: diff.columns.map((column) => ({
      name: column.name,
      change: column.change as TableDiff['change'],
      attributes: column.attributes.map(readAttribute),
    })),
    statements: diff.statements,
    warnings: diff.warnings.map(({ message, rows }) => ({ message, rows })),
    blockers: diff.blockers.map(({ message, rows }) => ({ message, rows })),
  }));
}

function readAttribute({ name, from, to }: { name: string; from: string; to: string }) {
  return { name, from: readJson(from), to: readJson(to) };
}

function readJson(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What stands in the way, a sentence each. */
export function listBlockers(diffs: TableDiff[]): string[] {
  return diffs.flatMap(({ name, blockers }) =>
    blockers.map(
      ({ message, rows }) => `${name}: ${message}${rows > 0 ? ` (${rows} ${rows === 1 ? 'row' : 'rows'})` : ''}`,
    ),
  );
}
