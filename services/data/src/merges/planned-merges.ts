// Plans the merges of a request: which tables are deployed on both branches, the base of each pair,
// and what prevents or limits a merge of their rows. Changes nothing.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Sql } from '@almanac/service-kit/postgres/database';
import { findBase } from '../deployments/row-base.ts';
import { type Catalogue, readEntry } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import { readDecisions } from './decisions/resolutions.ts';
import { findPlanProblems, findUnmergedColumns, type MergePlan, planMerge, type TableMessage } from './merge-plan.ts';
import type { MergePair, MergeRequest } from './merge-request.ts';

/** Tables that are locked, by id. */
export type KnownTables = ReadonlyMap<number, DeployedTable>;

/** The deployed tables of these pairs, to be locked. */
export async function findTables(
  catalogue: Catalogue,
  call: CallContext,
  { pairs }: { pairs: MergePair[] },
): Promise<KnownTables> {
  const found = new Map<number, DeployedTable>();
  for (const id of new Set(pairs.flatMap((pair) => [pair.source_table_id, pair.target_table_id]))) {
    const table = await catalogue.read(call.accountId, { id });
    if (table) found.set(id, table);
  }
  return found;
}

/** `plans`: in the order of the pairs. */
type Planned = { plans: MergePlan[]; violations: TableMessage[]; warnings: TableMessage[] };

/**
 * Plans in a transaction in which `tables` are locked. `at`: the instant as of which sources are
 * read; undefined: now. Tables that are in service on one side only have no rows to merge.
 */
export async function planMerges(
  sql: Sql,
  accountId: number,
  { pairs, resolutions, promotion_id: promotionId }: Pick<MergeRequest, 'pairs' | 'resolutions' | 'promotion_id'>,
  options: { tables: KnownTables; at: string | undefined },
): Promise<Planned> {
  const { rows } = await sql(`select to_char(clock_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now`);
  const at = options.at ?? (rows[0]?.now as string);
  const planned: Planned = { plans: [], violations: [], warnings: [] };
  const isLocked = (id: number) => options.tables.has(id);
  for (const { source_table_id, target_table_id } of pairs) {
    const source = await readEntry(sql, accountId, source_table_id);
    const target = await readEntry(sql, accountId, target_table_id);
    if (!source || !target || !isLocked(source_table_id) || !isLocked(target_table_id)) {
      const table = source ?? target;
      if (table) planned.warnings.push(notDeployedOn(source ? 'target' : 'source', table));
      continue;
    }
    const problems =
      source.lineage_id === target.lineage_id ? findPlanProblems(source, target) : [otherLineage(target)];
    planned.violations.push(...problems);
    if (problems.length > 0) continue;
    const { base, isLost } = await findBase(sql, { source, target });
    if (isLost) planned.warnings.push(lostBase(target));
    planned.warnings.push(...findUnmergedColumns({ source, target }));
    const decisions = readDecisions(target, resolutions);
    planned.plans.push(planMerge({ source, target, at, base, decisions, promotionId }));
  }
  return planned;
}

const notDeployedOn = (branch: 'source' | 'target', { name }: DeployedTable): TableMessage => ({
  table: name,
  message: `The table is not deployed on the ${branch} branch; none of its rows are merged.`,
  rows: 0,
});

const lostBase = ({ name }: DeployedTable): TableMessage => ({
  table: name,
  message:
    'The history no longer goes back to when both branches had the same rows: whatever differs is a conflict, and nothing is deleted.',
  rows: 0,
});

const otherLineage = ({ name }: DeployedTable): TableMessage => ({
  table: name,
  message: 'The table on the source branch is another one.',
  rows: 0,
});
