// Erases a deleted account from all clusters: the schemas of its branches, with rows and history,
// and everything that the databases record of it. An account is on one cluster, but others may hold
// what a move has left behind.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { countRemoved, lockErasure } from '@almanac/service-kit/postgres/account-rows';
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { createAccountErasure } from '@almanac/service-kit/process/account-erasure';
import type { Part } from '@almanac/service-kit/process/part';
import type pg from 'pg';
import { lockBranch } from '../postgres/advisory-locks.ts';
import { schemaName, viewSchema } from '../sql/identifiers.ts';
import type { Clusters } from './clusters.ts';
import { lockMove } from './move-account.ts';

/** The part that erases accounts on all clusters; the home cluster's database keeps the record. */
export function createDataErasure(clusters: Clusters, bus: Bus, logger: Logger): Part {
  const stores = clusters.all.toReversed().map(({ context: { pools } }) => ({
    pool: pools.work,
    removeOther: async (accountId: number) => {
      // A move that is under way has to end; none begins while an erasure is recorded.
      const release = await lockMove(clusters.home, accountId);
      await release();
      for (const branchId of await listBranches(pools.work, accountId))
        await dropBranch(pools.work, accountId, branchId);
      await dropLeftSchemas(pools.work, accountId);
    },
    removeLast: async () => {
      await deleteOrphans(pools.work);
      await dropEmptySchemas(pools.work);
    },
  }));
  return createAccountErasure({ service: 'data', bus, logger, stores });
}

// Long readers and loads hold their locks for a while; the next attempt finds them ended.
const setTimeouts = "select set_config('lock_timeout', '10s', true), set_config('statement_timeout', '0', true)";

async function listBranches(pool: pg.Pool, accountId: number): Promise<number[]> {
  const { rows } = await pgSql(pool)(
    `select branch_id from deployed_table where account_id = $1::int
     union select branch_id from retired_table where account_id = $1::int
     union select branch_id from retired_column where account_id = $1::int order by 1`,
    [accountId],
  );
  return rows.map(({ branch_id }) => branch_id);
}

async function dropBranch(pool: pg.Pool, accountId: number, branchId: number): Promise<void> {
  await withTransaction(pool, async (sql) => {
    await sql(setTimeouts);
    await lockErasure(sql, accountId);
    await lockBranch(sql, branchId);
    await countTables(sql, accountId, schemaName(branchId));
    await dropSchemas(sql, [viewSchema(branchId), schemaName(branchId)]);
  });
}

// What a move has left, or has copied and not completed.
async function dropLeftSchemas(pool: pg.Pool, accountId: number): Promise<void> {
  await withTransaction(pool, async (sql) => {
    await sql(setTimeouts);
    const { rows } = await sql(
      `select unnest(schemas) as schema from departed_account where account_id = $1::int
       union select unnest(schemas) from arriving_account where account_id = $1::int`,
      [accountId],
    );
    await dropSchemas(
      sql,
      rows.map(({ schema }) => schema as string),
    );
  });
}

// In the order in which a reader of a view locks them.
async function dropSchemas(sql: Sql, schemas: string[]): Promise<void> {
  for (const schema of schemas) await sql(`drop schema if exists ${schema} cascade`);
}

// Tables in service and retired ones (t_…, r_…), and their histories (h_…, rh_…).
async function countTables(sql: Sql, accountId: number, schema: string): Promise<void> {
  const { rows } = await sql(
    `select format('%I.%I', n.nspname, c.relname) as name, c.relname ~ '^r?h_' as is_history
     from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
    [schema],
  );
  for (const { name, is_history } of rows) {
    const { rows: counted } = await sql(`select count(*) as rows from ${name}`);
    await countRemoved(sql, accountId, is_history ? 'superseded versions' : 'rows', counted[0]?.rows);
    if (!is_history) await countRemoved(sql, accountId, 'tables', 1);
  }
}

// Rows about tables that are not deployed here. They name no account, so those of all are deleted.
async function deleteOrphans(pool: pg.Pool): Promise<void> {
  const sql = pgSql(pool);
  await sql(
    'delete from grid_index g where not exists (select from deployed_table d where d.table_definition_id = g.table_definition_id)',
  );
  await sql(
    `delete from hierarchy_turn h where not exists (
       select from deployed_table d where d.branch_id = h.branch_id and d.lineage_id = h.lineage_id)`,
  );
}

// Of branches whose tables were all removed earlier nothing but an empty schema is left, and no row
// says whose it was.
async function dropEmptySchemas(pool: pg.Pool): Promise<void> {
  const { rows } = await pgSql(pool)(
    `select substr(n.nspname, 3)::int as branch_id from pg_namespace n
     where n.nspname ~ '^b_[0-9]{1,9}$' and pg_has_role(n.nspowner, 'usage') and ${isEmptySql}`,
  );
  for (const { branch_id } of rows)
    await withTransaction(pool, async (sql) => {
      await sql(setTimeouts);
      await lockBranch(sql, branch_id);
      const { rows: empty } = await sql(`select true from pg_namespace n where n.nspname = $1 and ${isEmptySql}`, [
        schemaName(branch_id),
      ]);
      if (empty.length > 0) await dropSchemas(sql, [viewSchema(branch_id), schemaName(branch_id)]);
    });
}

const isEmptySql = `not exists (select from pg_class c where c.relnamespace = n.oid)
  and not exists (select from deployed_table d where 'b_' || d.branch_id = n.nspname)`;
