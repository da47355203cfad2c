// Deletes versions that were superseded long ago, where the installation sets a retention.
import { pgSql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import { lockBranch } from '../postgres/advisory-locks.ts';
import { withBriefLocks } from '../postgres/brief-locks.ts';
import { historyName } from '../sql/identifiers.ts';
import type { DeployedTable } from '../tables/table.ts';

type Place = Pick<DeployedTable, 'table_definition_id' | 'branch_id' | 'lineage_id'>;

const versionsPerBatch = 20_000;

/**
 * Deletes versions superseded more than `days` ago; rows can then be read only as of later
 * instants. 0: keeps everything. A table that is locked is left to the next round.
 */
export async function sweepHistory(pool: pg.Pool, days: number): Promise<void> {
  if (days === 0) return;
  const { rows } = await pgSql(pool)(
    'select table_definition_id, branch_id, lineage_id from deployed_table order by table_definition_id',
  );
  for (const table of rows as Place[]) while ((await deleteVersions(pool, table, days)) === versionsPerBatch);
}

// A statement must not miss a version that is being deleted: each checks that its instant isn't
// before `history_since`. The lock keeps the table where it is.
function deleteVersions(pool: pg.Pool, table: Place, days: number): Promise<number | undefined> {
  return withBriefLocks(pool, '5s', async (sql) => {
    await lockBranch(sql, table.branch_id);
    const deployed = await sql('select true from deployed_table where table_definition_id = $1::int', [
      table.table_definition_id,
    ]);
    if (deployed.rows.length === 0) return 0;
    const name = historyName(table);
    const { rows: cut } = await sql(
      `select date_trunc('milliseconds', clock_timestamp() - make_interval(days => $1::int))::text as at`,
      [days],
    );
    const at = cut[0]?.at as string;
    const { rowCount } = await sql(
      `delete from ${name} where ctid = any(array(select ctid from ${name} where svc_valid_to <= $1::timestamptz limit ${versionsPerBatch}))`,
      [at],
    );
    if (rowCount)
      await sql(
        'update deployed_table set history_since = greatest(history_since, $2::timestamptz) where table_definition_id = $1::int',
        [table.table_definition_id, at],
      );
    return rowCount ?? 0;
  });
}
