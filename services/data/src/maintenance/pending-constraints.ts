// What deployments of large tables leave for later, beside everybody's work: constraints are proven for the rows that were there
// before, and indexes are made. What is left is found by looking at the tables, so whoever comes after a crash goes on.

import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { findSqlState, isTransient } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';
import { objectsOf } from '../deployments/schema/objects.ts';
import type { TableObject } from '../deployments/schema/table-object.ts';
import { giveWay } from '../postgres/cancel-when-blocking.ts';
import { tableName } from '../sql/identifiers.ts';
import { catalogueSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';

type Place = Pick<DeployedTable, 'account_id' | 'branch_id' | 'lineage_id'>;
/** With the names of the constraints and indexes concerned. */
type Unsettled = Place & { names: string[] };

// The index of a foreign key has the name of its constraint but for the first letter (`sql/identifiers.ts`).
const unsettledSql = `
  select d.account_id, d.branch_id, d.lineage_id, array_agg(left_over.name) as names
  from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    join deployed_table d on n.nspname = format('b_%s', d.branch_id) and t.relname = format('t_%s', d.lineage_id)
    cross join lateral (
      select c.conname where not c.convalidated
      union all
      select 'i' || substr(c.conname, 2) where c.contype = 'f' and not exists (
        select from pg_index i join pg_class x on x.oid = i.indexrelid
        where i.indrelid = t.oid and i.indisvalid and x.relname = 'i' || substr(c.conname, 2))
    ) as left_over (name)
  group by d.table_definition_id order by d.table_definition_id`;

type Worker = { pool: pg.Pool; client: pg.PoolClient; signal: AbortSignal; logger: Logger };

/** Does on the client's session what is left; true when something still is, since somebody wanted a table for himself. */
export async function settle(worker: Worker): Promise<boolean> {
  const { pool, client, signal, logger } = worker;
  const sql = pgSql(pool);
  let isLeft = false;
  for (const { names, ...place } of (await sql(unsettledSql)).rows as Unsettled[]) {
    const objects = (await listObjects(sql, place)).filter(({ name }) => names.includes(name));
    for (const object of objects) {
      if (signal.aborted) return true;
      const about = { branch_id: place.branch_id, object: object.name };
      try {
        await giveWay(pool, client, tableName(place), signal, () => finish(pgSql(client), object));
        logger.info(about, 'what a deployment of a large table had left was done');
      } catch (error) {
        if (findSqlState(error) === undefined) throw error;
        if (isTransient(error)) isLeft = true;
        else logger.error({ ...about, err: error }, 'what a deployment of a large table left could not be done');
      }
    }
  }
  return isLeft;
}

async function listObjects(sql: Sql, { account_id, branch_id, lineage_id }: Place): Promise<TableObject[]> {
  const { text, values } = catalogueSql.ofBranch(account_id, branch_id);
  const { rows } = await sql(text, values);
  const branch = new Map((rows as DeployedTable[]).map((table) => [table.lineage_id, table]));
  const table = branch.get(lineage_id);
  return table ? objectsOf(table, (lineage) => branch.get(lineage) as DeployedTable) : [];
}

async function finish(sql: Sql, { gently }: TableObject): Promise<void> {
  if (gently?.remains) await sql(gently.remains);
  if (gently) await sql(gently.later);
}
