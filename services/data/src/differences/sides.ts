// The two sides of a comparison. Each is a deployed table with the rows that it has now or had at
// an instant; other kinds of sides become further members of `Side`, with a relation each in
// `difference-sql.ts`.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type Pools, run } from '../postgres/pools.ts';
import { catalogueSql, notDeployed } from '../tables/catalogue.ts';
import { stale, type TableAccess, type TableRequest, withTable } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';

/** The rows of a table; `asOf`: an instant in ISO 8601, or now. */
export type Side = { kind: 'rows'; table: DeployedTable; asOf?: string | undefined };

/** A side as a request names it: on a branch (that of the table by default), at an instant. */
export type SideRequest = { branch_id?: number | undefined; as_of?: string | undefined };

export type Sides = { left: Side; right: Side };

type Access = TableAccess & { pools: Pools };
type Opened<T> = { result: T | typeof stale };

/**
 * Runs `work` with both sides, once the caller may view the named table and those of the sides:
 * 403, or 404 where the branch of a side has no such table. When `work` returns `stale`, the table
 * that has changed is read again, and `work` runs again.
 */
export function withSides<T>(
  access: Access,
  call: CallContext,
  { table, left, right }: { table: TableRequest; left: SideRequest; right: SideRequest },
  work: (sides: Sides) => Promise<T | typeof stale>,
): Promise<T> {
  const { exactNumbers } = table;
  return withTable(access, call, table, 'view', async (named) => {
    const open = async <R>(
      side: SideRequest,
      known: DeployedTable[],
      then: (side: Side) => Promise<R | typeof stale>,
    ) => {
      const on = side.branch_id ?? named.branch_id;
      const same = known.find(({ branch_id }) => branch_id === on);
      if (same) return then({ kind: 'rows', table: same, asOf: side.as_of });
      const id = await findCounterpart(access.pools, named, on);
      // An inner table is read again only while the outer ones are what their entries say.
      const { result } = await withTable<Opened<R>>(access, call, { id, exactNumbers }, 'view', async (other) => {
        const found = await then({ kind: 'rows', table: other, asOf: side.as_of });
        return found === stale && (await areCurrent(access, known)) ? stale : { result: found };
      });
      return result;
    };
    return open(left, [named], (first) =>
      open(right, [named, first.table], (second) => work({ left: first, right: second })),
    );
  });
}

// The table of the same lineage on another branch; 404 without one, like for an unknown branch.
async function findCounterpart(
  { rows }: Pools,
  { account_id, lineage_id }: DeployedTable,
  branchId: number,
): Promise<number> {
  const [found] = await run<DeployedTable>(rows, catalogueSql.byLineage(account_id, branchId, lineage_id));
  if (!found) throw notDeployed();
  return found.table_definition_id;
}

async function areCurrent({ catalogue }: Access, tables: DeployedTable[]): Promise<boolean> {
  for (const table of tables) if (!(await catalogue.isCurrent(table))) return false;
  return true;
}
