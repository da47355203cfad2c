// What a cluster itself records about its accounts. An account that left has a row that names its
// new cluster, so that a caller with an old placement can follow; an arriving account is hidden
// until it has left the old cluster.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import type { RowsAnnouncer } from '../events/rows-announcer.ts';
import { lockAccountShared } from '../postgres/advisory-locks.ts';
import { withBriefLocks } from '../postgres/brief-locks.ts';
import type { Pools } from '../postgres/pools.ts';
import type { SqlViews } from '../sql-views/sql-views.ts';
import type { DeployedTable } from '../tables/table.ts';

/** The account is no longer on this cluster; the caller looks up where it is. */
export class AccountMoved extends ServiceError {
  constructor() {
    super('unavailable', 'The account is being moved to another database; try again.');
    this.name = 'AccountMoved';
  }
}

/** The cluster that the account moved to from here; undefined when it didn't leave. */
export async function findDeparture(pools: Pools, accountId: number): Promise<string | undefined> {
  const { rows } = await pgSql(pools.rows)('select cluster from departed_account where account_id = $1::int', [
    accountId,
  ]);
  return rows[0]?.cluster as string | undefined;
}

/**
 * Throws AccountMoved when the account has left this cluster, and keeps it from leaving before the
 * transaction ends. For work that locks no deployed table, which would do that too.
 */
export async function requireResident(sql: Sql, call: Pick<CallContext, 'accountId'>): Promise<void> {
  await lockAccountShared(sql, call.accountId);
  const { rows } = await sql('select true from departed_account where account_id = $1::int', [call.accountId]);
  if (rows.length > 0) throw new AccountMoved();
}

/**
 * Completes a move: the account, which has left the old cluster, is found here from now on.
 * Repeating it changes nothing, so a caller who follows the departure completes a move that was
 * killed.
 */
export async function completeMove(
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

// What an entry lacks that an instance of the earlier release has read.
const earlierRelease = { row_changes: 'direct', machine_imports: true, row_policy_revision: 0 };

// Under new revisions: entries that instances have cached from the old cluster are out of date.
async function insertEntries(sql: Sql, tables: unknown): Promise<DeployedTable[]> {
  const { rows } = await sql(
    `insert into deployed_table select table_of.*
     from jsonb_array_elements($1::jsonb) entry,
       jsonb_populate_record(null::deployed_table, $2::jsonb || entry || jsonb_build_object('revision', nextval('deployed_revision'))) table_of
     returning *`,
    [JSON.stringify(tables), JSON.stringify(earlierRelease)],
  );
  return rows as DeployedTable[];
}

/** Drops the schemas that accounts have left behind, once no session reads them any more. */
export async function sweepDeparted(pool: pg.Pool): Promise<void> {
  await withBriefLocks(pool, '5s', async (sql) => {
    const { rows } = await sql(
      'select account_id, schemas from departed_account where cardinality(schemas) > 0 for update skip locked limit 10',
    );
    for (const { account_id, schemas } of rows) {
      for (const schema of schemas) await sql(`drop schema if exists ${schema} cascade`);
      await sql(`update departed_account set schemas = '{}' where account_id = $1::int`, [account_id]);
    }
  });
}
