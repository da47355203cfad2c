// Announces data.rows.changed for each table, in batches: about a second after the first change,
// with counts from the rows themselves. It costs a write nothing, and a crash loses no
// announcement, because the rows are the record of what changed.

import { announce } from '@almanac/service-kit/messaging/outbox';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { readHighWaterMark } from '../postgres/high-water-mark.ts';
import type { Pools } from '../postgres/pools.ts';
import { tableName } from '../sql/identifiers.ts';
import type { DeployedTable } from '../tables/table.ts';

const everyMs = 1_000;

export class RowsAnnouncer {
  private readonly pools: Pools;
  private readonly logger: Logger;
  private readonly touched = new Set<number>();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(pools: Pools, logger: Logger) {
    this.pools = pools;
    this.logger = logger;
  }

  /** Checks every table once, for changes that an earlier process has not announced. */
  async start(): Promise<void> {
    const { rows } = await pgSql(this.pools.outbox)('select table_definition_id as id from announced_rows');
    for (const { id } of rows) this.touched.add(id);
    this.schedule();
  }

  /** Notes that rows of the table may have changed. */
  touch(table: Pick<DeployedTable, 'table_definition_id'>): void {
    this.touched.add(table.table_definition_id);
    this.schedule();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private schedule(): void {
    if (this.stopped || this.timer || this.running || this.touched.size === 0) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.running = this.announceAll().finally(() => {
        this.running = undefined;
        this.schedule();
      });
    }, everyMs);
    this.timer.unref();
  }

  private async announceAll(): Promise<void> {
    const ids = [...this.touched];
    this.touched.clear();
    let mark: string;
    try {
      mark = await readHighWaterMark(pgSql(this.pools.outbox));
    } catch (error) {
      for (const id of ids) this.touched.add(id);
      this.logger.warn({ err: error }, 'changed rows could not be announced; the next round tries again');
      return;
    }
    for (const id of ids) {
      if (this.stopped) return;
      try {
        if (await announceTable(this.pools, id, mark)) this.touched.add(id);
      } catch (error) {
        this.touched.add(id);
        this.logger.warn(
          { err: error, table_definition_id: id },
          'changed rows of a table could not be announced; the next round tries again',
        );
      }
    }
  }
}

// True when the table has changes after the mark. A table that another instance is announcing is
// skipped.
async function announceTable(pools: Pools, id: number, mark: string): Promise<boolean> {
  return withTransaction(pools.outbox, async (sql) => {
    const { rows } = await sql(
      `select d.account_id, d.branch_id, d.domain_id, d.key, d.lineage_id, a.until::text as until,
         to_char(a.until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as mark from announced_rows a
       join deployed_table d using (table_definition_id) where table_definition_id = $1::int for update of a skip locked`,
      [id],
    );
    const [table] = rows;
    if (!table) return false;
    const counts = await countChanges(sql, tableName(table as DeployedTable), table.until, mark);
    if (counts.inserted + counts.updated + counts.deleted > 0) {
      const { more, ...changed } = counts;
      await announce(sql, {
        type: 'data.rows.changed',
        payload: {
          account_id: table.account_id,
          table_definition_id: id,
          table_definition_key: table.key,
          branch_id: table.branch_id,
          domain_id: table.domain_id,
          ...changed,
          // Both are high-water marks, from which callers may read the changes.
          changed_after: table.mark,
          changed_until: mark,
        },
      });
      await sql('update announced_rows set until = $2::timestamptz where table_definition_id = $1::int', [id, mark]);
      return more;
    }
    return counts.more;
  });
}

/** `by`: who has made all the changes, as rows name them; null when several have. */
type Counts = { inserted: number; updated: number; deleted: number; by: string | null; more: boolean };

async function countChanges(sql: Sql, name: string, since: string, mark: string): Promise<Counts> {
  const { rows } = await sql(
    `select count(*) filter (where svc_is_deleted and svc_updated_at <= $2::timestamptz) as deleted,
       count(*) filter (where not svc_is_deleted and svc_created_at > $1::timestamptz and svc_updated_at <= $2::timestamptz) as inserted,
       count(*) filter (where not svc_is_deleted and svc_created_at <= $1::timestamptz and svc_updated_at <= $2::timestamptz) as updated,
       min(svc_updated_by) filter (where svc_updated_at <= $2::timestamptz) as first_by,
       max(svc_updated_by) filter (where svc_updated_at <= $2::timestamptz) as last_by,
       count(*) filter (where svc_updated_at > $2::timestamptz) > 0 as more
     from ${name} where svc_updated_at > $1::timestamptz`,
    [since, mark],
  );
  const [{ first_by, last_by, ...counts }] = rows as [
    Omit<Counts, 'by'> & Record<'first_by' | 'last_by', string | null>,
  ];
  return { ...counts, by: first_by === last_by ? first_by : null };
}
