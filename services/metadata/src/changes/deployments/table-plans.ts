// Data's plan of what making or removing tables would do (design 3.5), in the shape of answers.
import type { DeploymentPlan__Output } from '@almanac/protos/generated/almanac/data/v1/DeploymentPlan.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import type { TableDiff } from '../table-diff.ts';
import { requireSendable, type WantedTable } from './wanted-tables.ts';

const planDeadlineMs = 60_000;

/** Plans making or removing these tables. Changes nothing. */
export async function planTables(
  ctx: MetadataContext,
  caller: RpcCaller,
  branchId: number,
  tables: WantedTable[],
): Promise<TableDiff[]> {
  if (tables.length === 0) return [];
  requireSendable(tables);
  const request = { branch_id: branchId, tables };
  const diffs = readDiffs(await ctx.data.PlanDeployment(caller, request, { deadlineMs: planDeadlineMs }));
  requireRemovalsPlanned(tables, diffs);
  return diffs;
}

// The previous release of data plans a table to be removed as one without columns, and refuses it.
function requireRemovalsPlanned(tables: WantedTable[], diffs: TableDiff[]): void {
  const deleted = new Set(diffs.filter(({ change }) => change === 'deleted').map((diff) => diff.table_definition_id));
  if (tables.some(({ is_removed, table_definition_id: id }) => is_removed && !deleted.has(id)))
    throw new ServiceError(
      'unavailable',
      'The data service is of a release that removes no tables by deployment; try again when it is updated.',
    );
}

/** The diffs of a plan. Values of attributes travel as JSON text. */
export function readDiffs(plan: DeploymentPlan__Output | null | undefined): TableDiff[] {
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
