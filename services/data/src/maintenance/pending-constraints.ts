// Validates the constraints and makes the indexes that deployments of large tables leave pending,
// beside readers and writers. Pending work is found in the tables themselves, so another process
// continues after a crash.

import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { findSqlState, isTransient } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';
import { objectsOf } from '../deployments/schema/objects.ts';
import type { TableObject } from '../deployments/schema/table-object.ts';
import { cancelWhenBlocking } from '../postgres/cancel-when-blocking.ts';
import { tableName } from '../sql/identifiers.ts';
import { catalogueSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';

type Place = Pick<DeployedTable, 'account_id' | 'branch_id' | 'lineage_id'>;
/** With the names of the pending constraints and indexes. */
type Pending = Place & { names: string[] };

// The index of a foreign key has the name of its constraint but for the first letter
// (`sql/identifiers.ts`).
const pendingSql = `
  select d.account_id, d.branch_id, d.lineage_id, array_agg(pending.name) as names
  from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    join deployed_table d on n.nspname = format('b_%s', d.branch_id) and t.relname = format('t_%s', d.lineage_id)
    cross join lateral (
      select c.conname where not c.convalidated
      union all
      select 'i' || substr(c.conname, 2) where c.contype = 'f' and not exists (
        select from pg_index i join pg_class x on x.oid = i.indexrelid
        where i.indrelid = t.oid and i.indisvalid and x.relname = 'i' || substr(c.conname, 2))
    ) as pending (name)
  group by d.table_definition_id order by d.table_definition_id`;

/** Where maintenance runs: the session of one round, and the signal that ends it. */
export type Worker = { pool: pg.Pool; client: pg.PoolClient; signal: AbortSignal; logger: Logger };

/**
 * Does the pending work on the client's session; true when some is left, since another session
 * needed a table.
 */
export async function validatePending(worker: Worker): Promise<boolean> {
  const { pool, client, signal, logger } = worker;
  const sql = pgSql(pool);
  let isPending = false;
  for (const { names, ...place } of (await sql(pendingSql)).rows as Pending[]) {
    const objects = (await listObjects(sql, place)).filter(({ name }) => names.includes(name));
    for (const object of objects) {
      if (signal.aborted) return true;
      const about = { branch_id: place.branch_id, object: object.name };
      try {
        await cancelWhenBlocking(pool, client, tableName(place), signal, () => complete(pgSql(client), object));
        logger.info(about, 'the pending work of a deployment of a large table was done');
      } catch (error) {
        if (findSqlState(error) === undefined) throw error;
        if (isTransient(error)) isPending = true;
        else logger.error({ ...about, err: error }, 'the pending work of a deployment of a large table failed');
      }
    }
  }
  return isPending;
}

async function listObjects(sql: Sql, { account_id, branch_id, lineage_id }: Place): Promise<TableObject[]> {
  const { text, values } = catalogueSql.ofBranch(account_id, branch_id);
  const { rows } = await sql(text, values);
  const branch = new Map((rows as DeployedTable[]).map((table) => [table.lineage_id, table]));
  const table = branch.get(lineage_id);
  return table ? objectsOf(table, (lineage) => branch.get(lineage) as DeployedTable) : [];
}

async function complete(sql: Sql, { online }: TableObject): Promise<void> {
  if (online?.cleanup) await sql(online.cleanup);
  if (online) await sql(online.deferred);
}
