// Statistics of tables, for lists of them: how many rows, the last change, the last import. Rows of
// small tables are counted; of large ones a count is worked out where one is cached, and estimated
// elsewhere, so that a list of tables never reads a large one.
import type { TableStatistics } from '@almanac/protos/generated/almanac/data/v1/TableStatistics.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Rights } from '@almanac/service-kit/rights/rights';
import { type CountCache, type Counted, minRows } from '../pages/count-cache.ts';
import { matchKey } from '../pages/page-sql.ts';
import { type Pools, run } from '../postgres/pools.ts';
import type { Catalogue } from '../tables/catalogue.ts';
import { exactForm, repeatWhileStale, stale, visible } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import {
  type ImportFact,
  lastImportsSql,
  liveRows,
  recountSql,
  type TableFacts,
  tableFactsSql,
} from './table-statistics-sql.ts';

type Access = {
  catalogue: Catalogue;
  rights: Rights;
  pools: Pick<Pools, 'rows'>;
  pages: { counts: Pick<CountCache, 'plan' | 'learn'> };
};

// Of one statement; PostgreSQL plans each table of it.
const tablesPerStatement = 50;

/**
 * The statistics of the tables whose rows the caller may view; other ids are left out, and so are
 * tables that aren't deployed.
 */
export async function listTableStatistics(
  access: Access,
  call: CallContext,
  ids: number[],
): Promise<TableStatistics[]> {
  const { accountId } = call;
  const { catalogue, pools } = access;
  const read = async () => {
    const seen = await visible(access.rights, call, await catalogue.findAll(accountId, ids));
    const tables = [...seen.values()];
    const facts: TableFacts[] = [];
    for (let i = 0; i < tables.length; i += tablesPerStatement)
      facts.push(
        ...(await run<TableFacts>(pools.rows, tableFactsSql(tables.slice(i, i + tablesPerStatement), minRows))),
      );
    return facts.length < tables.length ? stale : { tables, facts };
  };
  const { tables, facts } = await repeatWhileStale(read, () => catalogue.readAll(accountId, ids));
  const shown = tables.map(({ table_definition_id }) => table_definition_id);
  const imports = await run<ImportFact>(pools.rows, lastImportsSql(accountId, shown));
  const importOf = new Map(imports.map(({ table_definition_id, ...last }) => [table_definition_id, last]));
  const tableOf = new Map(tables.map((table) => [table.table_definition_id, table]));
  const statistics: TableStatistics[] = [];
  for (const fact of facts) {
    const id = fact.table_definition_id;
    const rows = fact.rows ?? (await findCount(access, tableOf.get(id) as DeployedTable));
    statistics.push({
      table_definition_id: id,
      ...(rows === undefined ? estimated(fact) : { row_count: rows }),
      last_changed_at: fact.changed_at ?? '',
      ...changer(fact),
      last_import: importOf.get(id) ?? null,
    });
  }
  return statistics;
}

const estimated = ({ estimate }: TableFacts) => (estimate === null ? {} : { row_count_estimate: estimate });

function changer({ changed_by: changedBy }: TableFacts) {
  const [, kind, id] = /^(user|application):(\d+)$/.exec(changedBy ?? '') ?? [];
  if (kind === undefined) return {};
  return kind === 'user' ? { last_changed_by_user: Number(id) } : { last_changed_by_application: Number(id) };
}

// Grids with exact numbers keep their counts by another entry of the same table.
async function findCount({ pools, pages: { counts } }: Access, table: DeployedTable): Promise<number | undefined> {
  const key = matchKey(liveRows);
  for (const form of [table, exactForm(table)]) {
    // A count that proves wrong is corrected or evicted, so the next plan is another one.
    for (let counting = counts.plan(form, key); counting.known; counting = counts.plan(form, key)) {
      const [counted] = await run<Counted>(pools.rows, recountSql(form, counting));
      if (!counted) break;
      if (counts.learn(form, key, counting, counted)) return counted.c;
    }
  }
  return undefined;
}
