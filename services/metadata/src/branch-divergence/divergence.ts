// How far a branch and its parent have diverged: what each of them has changed, in definitions and
// in rows, since both had the same. The bases are those of promotions, so a promotion of everything
// leaves a branch that is not ahead.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { findVisibleParent, requireBranch } from '../branches/branches.ts';
import { type Branches, readPairs } from '../changes/promotions/comparison/branch-sides.ts';
import type { TablePair } from '../changes/promotions/comparison/promotion-plan.ts';
import { isSameTable } from '../changes/promotions/comparison/table-merge.ts';
import { splitByVisibleRows } from '../changes/promotions/promotion-rights.ts';
import { countMergedRows } from '../changes/promotions/rows/merged-rows.ts';
import type { MetadataContext } from '../context.ts';
import { findHeld } from '../rights/allowed-actions.ts';
import { placeOf } from '../rights/place.ts';
import { readVisibleReach, sees, visibleDefinitions } from '../rights/visibility.ts';
import { readSnapshot } from '../transaction.ts';

// The rows of a table take a comparison in each direction.
const comparedTables = 200;

/** What one branch has changed in a table. `rows` null: they are not compared. */
type Side = { definition: boolean; rows: number | null };
export type DivergedTable = {
  table_definition_id: number;
  parent_table_definition_id: number | null;
  key: string;
  name: string;
  ahead: Side;
  behind: Side;
};
/** Tables in which anything has changed, and rows of all tables. */
type Total = { tables: number; rows: number };
export type Divergence = {
  branch_id: number;
  parent_branch_id: number | null;
  ahead: Total;
  behind: Total;
  tables: DivergedTable[];
};

/**
 * Compares the tables of a branch that the caller sees with those of its parent. Rows are compared
 * of tables in service on both, as far as the caller may see them. Without a parent that the caller
 * sees there are no tables; 404 for an unknown branch.
 */
export async function readDivergence(ctx: MetadataContext, call: CallContext, id: number): Promise<Divergence> {
  const branch = await requireBranch(ctx, call, id);
  const parent = await findVisibleParent(ctx, call, branch);
  const tables = parent ? await compareTables(ctx, call, { from_branch_id: id, to_branch_id: parent.id }) : [];
  return {
    branch_id: id,
    parent_branch_id: parent?.id ?? null,
    ahead: totalOf(tables.map(({ ahead }) => ahead)),
    behind: totalOf(tables.map(({ behind }) => behind)),
    tables,
  };
}

async function compareTables(ctx: MetadataContext, call: CallContext, branches: Branches): Promise<DivergedTable[]> {
  const pairs = await readVisiblePairs(ctx, call, branches);
  const { seen } = await splitByVisibleRows(ctx, call, branches, pairs);
  const forth = seen.slice(0, comparedTables);
  const back = forth.flatMap(({ sourceId, targetId, name }) =>
    targetId === null ? [] : [{ sourceId: targetId, targetId: sourceId, name }],
  );
  const [ahead, behind] = await Promise.all([forth, back].map((merged) => countMergedRows(ctx, call, merged)));
  return pairs.map(({ sourceId, targetId, key, name, ...sides }) => ({
    table_definition_id: sourceId,
    parent_table_definition_id: targetId,
    key,
    name,
    ahead: { definition: hasChanged(sides, 'source'), rows: ahead?.get(sourceId) ?? null },
    behind: { definition: hasChanged(sides, 'target'), rows: behind?.get(targetId ?? 0) ?? null },
  }));
}

/** The tables of the branch by name, but for those of which the caller doesn't see the parent's. */
async function readVisiblePairs(ctx: MetadataContext, call: CallContext, branches: Branches): Promise<TablePair[]> {
  const visible = visibleDefinitions(await readVisibleReach(ctx, call));
  const held = await findHeld(ctx, call);
  const pairs = await readSnapshot(ctx, async (tx) => {
    const named = await tx.table_definition.findMany({
      where: { account_id: call.accountId, branch_id: branches.from_branch_id, ...visible },
      select: { id: true, key: true, name: true },
      orderBy: { name_key: 'asc' },
    });
    return readPairs(
      tx,
      call,
      branches,
      named.map(({ id, ...names }) => ({ table_definition_id: id, ...names })),
    );
  });
  return pairs.filter(({ targetId, target }) => {
    if (!target || targetId === null || !held) return true;
    return sees(held, placeOf({ id: targetId, domain_id: target.domain_id, branch_id: branches.to_branch_id }));
  });
}

// Without a base it is not known which of the two has changed: both have.
function hasChanged({ base, source, target }: Pick<TablePair, 'base' | 'source' | 'target'>, of: 'source' | 'target') {
  if (!source || !target) return of === 'source';
  const before = base ?? (of === 'source' ? target : source);
  return !isSameTable(before, of === 'source' ? source : target);
}

const totalOf = (sides: Side[]): Total => ({
  tables: sides.filter(({ definition, rows }) => definition || (rows ?? 0) > 0).length,
  rows: sides.reduce((sum, { rows }) => sum + (rows ?? 0), 0),
});
