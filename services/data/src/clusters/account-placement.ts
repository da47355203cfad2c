// What a cluster itself knows of who lives on it. An account that left says where it went, so that whoever still looks for it here
// can follow; one that is arriving is out of sight until it has left where it was.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { isLockConflict } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';
import type { RowsAnnouncer } from '../events/rows-announcer.ts';
import { lockAccountShared } from '../postgres/advisory-locks.ts';
import type { Pools } from '../postgres/pools.ts';
import type { SqlViews } from '../sql-views/sql-views.ts';
import type { DeployedTable } from '../tables/table.ts';

/** The account doesn't live on this cluster any more; whoever asks should look up where it is. */
export class AccountMoved extends ServiceError {
  constructor() {
    super('unavailable', 'The account is being moved to another database; try again.');
    this.name = 'AccountMoved';
  }
}

/** Where the account went from here; undefined when it didn't leave. */
export async function findDeparture(pools: Pools, accountId: number): Promise<string | undefined> {
  const { rows } = await pgSql(pools.rows)('select cluster from departed_account where account_id = $1::int', [
    accountId,
  ]);
  return rows[0]?.cluster as string | undefined;
}

/**
 * Throws AccountMoved when the account has left this cluster, and keeps it from leaving before the transaction ends. For what
 * touches no deployed table whose lock would do that.
 */
export async function holdResident(sql: Sql, call: Pick<CallContext, 'accountId'>): Promise<void> {
  await lockAccountShared(sql, call.accountId);
  const { rows } = await sql('select true from departed_account where account_id = $1::int', [call.accountId]);
  if (rows.length > 0) throw new AccountMoved();
}

/**
 * Lets an account that has left where it was be found here. Repeating it changes nothing, so whoever is sent here by a departure
 * finishes what a killed process has left.
 */
export async function settleArrival(
  { pools, sqlViews, announcer }: { pools: Pools; sqlViews: SqlViews; announcer: RowsAnnouncer },
  accountId: number,
): Promise<void> {
  const tables = await withTransaction(pools.work, async (sql) => {
    const { rows } = await sql('delete from arriving_account where account_id = $1::int returning tables', [accountId]);
    if (!rows[0]) return [];
    await sql('delete from departed_account where account_id = $1::int', [accountId]);
    return sqlViews.replace(sql, [], () => insertEntries(sql, rows[0]?.tables));
  });
  for (const table of tables) announcer.touch(table);
}

// Under new revisions: entries that instances have cached, from the other cluster, are out of date.
async function insertEntries(sql: Sql, tables: unknown): Promise<DeployedTable[]> {
  const { rows } = await sql(
    `insert into deployed_table select table_of.*
     from jsonb_array_elements($1::jsonb) entry,
       jsonb_populate_record(null::deployed_table, entry || jsonb_build_object('revision', nextval('deployed_revision'))) table_of
     returning *`,
    [JSON.stringify(tables)],
  );
  return rows as DeployedTable[];
}

/** Drops what accounts have left behind, when nobody reads it any more. */
export async function sweepDeparted(pool: pg.Pool): Promise<void> {
  await withTransaction(pool, async (sql) => {
    await sql("select set_config('lock_timeout', '5s', true)");
    const { rows } = await sql(
      'select account_id, schemas from departed_account where cardinality(schemas) > 0 for update skip locked limit 10',
    );
    for (const { account_id, schemas } of rows) {
      for (const schema of schemas) await sql(`drop schema if exists ${schema} cascade`);
      await sql(`update departed_account set schemas = '{}' where account_id = $1::int`, [account_id]);
    }
  }).catch((error: unknown) => {
    if (!isLockConflict(error)) throw error; // somebody still reads; the next round does it
  });
}
