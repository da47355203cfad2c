// The two sides of a comparison. Each is a deployed table: with the rows that it has now or had at
// an instant, or with those that it would have through a change request or after a load that was
// tried. Each kind has a relation in `difference-sql.ts`.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { type Pools, run } from '../postgres/pools.ts';
import { catalogueSql, notDeployed } from '../tables/catalogue.ts';
import {
  type ChangeRequestReading,
  type DryRunReading,
  stale,
  type TableAccess,
  type TableRequest,
  withTable,
} from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { requireRightOn } from '../tables/table-rights.ts';

/** The rows of a table; `asOf`: an instant in ISO 8601, or now. */
export type RowsSide = { kind: 'rows'; table: DeployedTable; asOf?: string | undefined };

/** A table as a change request would leave it. */
export type RequestSide = { kind: 'change_request'; table: DeployedTable; through: ChangeRequestReading };

/** A table as a load would leave it that was tried in a dry run. */
export type DryRunSide = { kind: 'dry_run'; table: DeployedTable; dryRun: DryRunReading };

export type Side = RowsSide | RequestSide | DryRunSide;

/**
 * A side as a request names it: on a branch (that of the table by default), at an instant; through
 * a change request, on its branch; or after a dry run of a table.
 */
export type SideRequest = {
  branch_id?: number | undefined;
  as_of?: string | undefined;
  through?: ChangeRequestReading | undefined;
  dryRun?: DryRunReading | undefined;
};

export type Sides = { left: Side; right: Side };

type Access = TableAccess & { pools: Pools };
type Opened<T> = { result: T | typeof stale };

/**
 * Runs `work` with both sides, once the caller may view the named table and those of the sides:
 * 403, or 404 where the branch of a side has no such table. Who reviews a change request compares
 * its rows with those of the table without that right. When `work` returns `stale`, the table that
 * has changed is read again, and `work` runs again.
 */
export async function withSides<T>(
  access: Access,
  call: CallContext,
  { table, left, right }: { table: TableRequest; left: SideRequest; right: SideRequest },
  work: (sides: Sides) => Promise<T | typeof stale>,
): Promise<T> {
  const { exactNumbers } = table;
  const { branch_id } = await access.catalogue.get(call.accountId, table);
  const reviewed = [left, right].map(({ through }) => through).find((through) => through?.branchId === branch_id);
  return withTable(access, call, { ...table, through: reviewed }, 'view', async (named, _targets, reading) => {
    if (reading?.onlyChanged && !isReview(left, right)) await requireRightOn(access, call, 'view', named);
    const open = async <R>(
      side: SideRequest,
      known: DeployedTable[],
      then: (side: Side) => Promise<R | typeof stale>,
    ) => {
      const same = known.find((each) => isOf(side, each, named));
      if (same) return then(sideOf(side, same));
      const id = side.dryRun?.tableDefinitionId ?? (await findCounterpart(access.pools, named, side));
      // An inner table is read again only while the outer ones are what their entries say.
      const { result } = await withTable<Opened<R>>(access, call, { id, exactNumbers }, 'view', async (other) => {
        if (other.lineage_id !== named.lineage_id) throw otherTable('import_table_id', 'The import table');
        const found = await then(sideOf(side, other));
        return found === stale && (await areCurrent(access, known)) ? stale : { result: found };
      });
      return result;
    };
    return open(left, [named], (first) =>
      open(right, [named, first.table], (second) => work({ left: first, right: second })),
    );
  });
}

// What one sees under review: the rows that change, beside what they are now.
const isReview = (...sides: SideRequest[]) =>
  sides.every(({ branch_id, as_of, dryRun }) => branch_id === undefined && as_of === undefined && !dryRun) &&
  new Set(sides.flatMap(({ through }) => through?.changeRequestId ?? [])).size === 1;

const isOf = ({ dryRun, through, branch_id }: SideRequest, table: DeployedTable, named: DeployedTable) =>
  dryRun
    ? dryRun.tableDefinitionId === table.table_definition_id
    : (through?.branchId ?? branch_id ?? named.branch_id) === table.branch_id;

function sideOf({ through, dryRun, as_of: asOf }: SideRequest, table: DeployedTable): Side {
  if (through) return { kind: 'change_request', table, through };
  if (dryRun) return { kind: 'dry_run', table, dryRun };
  return { kind: 'rows', table, asOf };
}

const otherTable = (field: string, what: string): ServiceError =>
  validationFailed({ code: 'incompatible', message: `${what} is not of this table.`, field });

// The table of the same lineage on another branch; 404 without one, like for an unknown branch. A
// change request on a branch without it is 422.
async function findCounterpart(
  { rows }: Pools,
  { account_id, lineage_id }: DeployedTable,
  { through, branch_id }: SideRequest,
): Promise<number> {
  const branchId = through?.branchId ?? (branch_id as number);
  const [found] = await run<DeployedTable>(rows, catalogueSql.byLineage(account_id, branchId, lineage_id));
  if (found) return found.table_definition_id;
  throw through ? otherTable('change_request_id', 'The change request') : notDeployed();
}

async function areCurrent({ catalogue }: Access, tables: DeployedTable[]): Promise<boolean> {
  for (const table of tables) if (!(await catalogue.isCurrent(table))) return false;
  return true;
}
