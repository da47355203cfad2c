// Which records refer to a record: by table, with their number and a filter that shows them.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { hasSqlClass } from '@almanac/service-kit/postgres/errors';
import { type Pools, run } from '../postgres/pools.ts';
import { type Referrer, referrersOf } from '../records/constraint-sql.ts';
import { readRow } from '../records/single-rows.ts';
import { catalogueSql } from '../tables/catalogue.ts';
import { stale, type TableAccess, type TableRequest, withTable } from '../tables/open-table.ts';
import { type DeployedTable, getColumn } from '../tables/table.ts';
import { maySee } from '../tables/table-rights.ts';
import { type Referring, referringSql } from './referring-sql.ts';

/**
 * The tables of the branch with records that refer to this one, as far as the caller may view them.
 * A deleted record has none. 404 when the record is absent.
 */
export function getReferences(
  access: TableAccess & { pools: Pools },
  call: CallContext,
  request: TableRequest,
  id: string,
): Promise<{ references: object[] }> {
  const { pools, catalogue } = access;
  return withTable(access, call, request, 'view', async (table) => {
    if (!(await readRow(pools, table, id))) {
      if (!(await catalogue.isCurrent(table))) return stale;
      throw notFound('Record');
    }
    const branch = await run<DeployedTable>(pools.rows, catalogueSql.ofBranch(table.account_id, table.branch_id));
    const referrers: Referrer[] = [];
    for (const each of referrersOf(table, branch)) if (await maySee(access, call, each.from)) referrers.push(each);
    if (referrers.length === 0) return { references: [] };
    const rows = await readReferring(pools, table, id, referrers);
    if (rows.length === 0) return stale;
    const found = rows.filter(({ count }) => count > 0);
    return { references: found.map((row) => describe(referrers[row.place] as Referrer, row)) };
  });
}

// A deployment may have changed a referring table since its entry was read.
async function readReferring(
  pools: Pools,
  table: DeployedTable,
  id: string,
  referrers: Referrer[],
): Promise<Referring[]> {
  try {
    return await run<Referring>(pools.rows, referringSql(table, id, referrers));
  } catch (error) {
    if (!hasSqlClass(error, 'syntax_error_or_access_rule_violation', 'feature_not_supported')) throw error;
    return [];
  }
}

function describe({ from, foreignKey }: Referrer, { count, ids, cells }: Referring): object {
  const columns = foreignKey.columns.map((lineage) => getColumn(from.structure, lineage).name);
  return {
    table_definition_id: from.table_definition_id,
    table_definition_key: from.key,
    name: from.name,
    columns,
    count: Math.min(count, limits.countedReferences),
    is_exact: count <= limits.countedReferences,
    ids,
    filterModel: Object.fromEntries(
      columns.map((name, i) => [name, { filterType: 'set', values: [cells[i] as string] }]),
    ),
  };
}
