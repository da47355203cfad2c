// Finds rows by a text in all tables of a branch that the caller may view, as fast as people type.
// It is bounded in every way: how many tables, how large the scanned ones, how long it takes.
// Tables are searched one after the other over one connection, so that what was found before the
// time was over is answered.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { limits } from '@almanac/service-kit/limits';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { findSqlState } from '@almanac/service-kit/postgres/errors';
import type { Rights } from '@almanac/service-kit/rights/rights';
import type pg from 'pg';
import { AccountMoved, findDeparture } from '../clusters/account-placement.ts';
import type { PageLimiter } from '../pages/page-limiter.ts';
import { callerLeft } from '../postgres/cancellable.ts';
import { type Pools, run, runOn } from '../postgres/pools.ts';
import type { Catalogue } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import { maySee } from '../tables/table-rights.ts';
import { type FoundRow, type Searchable, searchableSql, searchedFields, searchSql } from './search-sql.ts';

/** What a search takes. */
export type SearchAccess = {
  catalogue: Catalogue;
  rights: Rights;
  pools: Pools;
  pages: { limiter: PageLimiter };
};

/** `signal`: aborted when the caller no longer waits. */
type SearchRequest = { text: string; branchId: number; signal: AbortSignal };

/** `totalMs`: after that no further table is searched. `tableMs`: of one table. */
type SearchBounds = { tables: number; totalMs: number; tableMs: number };
export const searchBounds: SearchBounds = { tables: 100, totalMs: 1_000, tableMs: 300 };

/** The most tables in an answer. */
export const maxFoundTables = 20;

type FoundTable = { table: DeployedTable; rows: FoundRow[] };

/**
 * The best rows of each table, as the body of the answer: tables with a row of that very key first.
 * `truncated`: some tables were not searched, or not shown.
 */
export async function searchRows(
  access: SearchAccess,
  call: CallContext,
  { text, branchId, signal }: SearchRequest,
  bounds: SearchBounds = searchBounds,
): Promise<string> {
  const visible = await listVisible(access, call, branchId);
  const chosen = visible.slice(0, bounds.tables);
  const leave = await access.pages.limiter.enter();
  try {
    const { found, isWhole } = await searchAll(access, call, chosen, text, bounds, signal);
    const best = found.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, maxFoundTables);
    const truncated = !isWhole || chosen.length < visible.length || best.length < found.length;
    return `{"tables":[${best.map(tableText).join(',')}],"truncated":${truncated}}`;
  } finally {
    leave();
  }
}

async function listVisible(access: SearchAccess, call: CallContext, branchId: number): Promise<Searchable[]> {
  const { pools } = access;
  const all = await run<Searchable>(pools.rows, searchableSql(call.accountId, branchId));
  // An account that has moved to another cluster has no tables here.
  if (all.length === 0 && (await findDeparture(pools, call.accountId)) !== undefined) throw new AccountMoved();
  const seen = await Promise.all(all.map((table) => maySee(access, call, table)));
  return all.filter((_, i) => seen[i]);
}

async function searchAll(
  { catalogue, pools }: SearchAccess,
  { accountId }: CallContext,
  tables: readonly Searchable[],
  text: string,
  { totalMs, tableMs }: SearchBounds,
  signal: AbortSignal,
): Promise<{ found: FoundTable[]; isWhole: boolean }> {
  const until = performance.now() + totalMs;
  const found: FoundTable[] = [];
  let isWhole = true;
  const client = await pools.rows.connect();
  let isBroken = true;
  try {
    await begin(client, tableMs);
    for (const searchable of tables) {
      if (signal.aborted) throw callerLeft();
      if (performance.now() >= until) {
        isWhole = false;
        break;
      }
      const table = await findEntry(catalogue, accountId, searchable);
      const statement =
        table && searchSql(table, searchedFields(table, searchable, text), text, limits.rowsFoundPerTable);
      if (!table || !statement) continue;
      try {
        const rows = await runOn<FoundRow>(client, statement);
        if (rows.length > 0) found.push({ table, rows });
      } catch (error) {
        // It took too long, or is being deployed.
        if (findSqlState(error) === undefined) throw error;
        isWhole = false;
        await pgSql(client)('rollback');
        await begin(client, tableMs);
      }
    }
    await pgSql(client)('commit');
    isBroken = false;
    return { found, isWhole };
  } finally {
    client.release(isBroken);
  }
}

async function begin(client: pg.PoolClient, tableMs: number): Promise<void> {
  const sql = pgSql(client);
  await sql('begin read only');
  await sql(`select set_config('statement_timeout', $1, true)`, [`${tableMs}ms`]);
}

// The cached entry, unless the database has a later one.
async function findEntry(
  catalogue: Catalogue,
  accountId: number,
  { table_definition_id: id, revision }: Searchable,
): Promise<DeployedTable | undefined> {
  const known = (await catalogue.findAll(accountId, [id])).get(id);
  return known?.revision === revision ? known : catalogue.read(accountId, { id });
}

const rankOf = ({ rows }: FoundTable) => rows[0]?.rank ?? Number.POSITIVE_INFINITY;

function tableText({ table: { table_definition_id: id, key, name }, rows }: FoundTable): string {
  const shown = rows.map(
    (row) =>
      `{"id":${row.id},"key":${row.key},"label":${JSON.stringify(row.label)},"column":${JSON.stringify(row.column)},"text":${JSON.stringify(row.text)}}`,
  );
  return `{"table_definition_id":${id},"table_definition_key":${JSON.stringify(key)},"name":${JSON.stringify(name)},"rows":[${shown.join(',')}]}`;
}
