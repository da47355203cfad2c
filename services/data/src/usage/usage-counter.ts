// Counts how tables are used: in memory, which costs a request next to nothing, and added to the
// database every few seconds by one statement. A crash loses the counts since the last one.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { periodic } from '@almanac/service-kit/process/periodic';
import type pg from 'pg';
import type { TableUse } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';

type Caller = Pick<CallContext, 'userId' | 'applicationId'>;
type Counted = {
  account_id: number;
  table_definition_id: number;
  kind: TableUse;
  user_id: number;
  application_id: number;
  /** UTC, `YYYY-MM-DD`. */
  day: string;
  calls: number;
};

const everyMs = 10_000;
/** Of counts between two additions; further ones are dropped. */
const maxCounts = 50_000;
/** The days that are kept, today included. */
export const usageDays = 30;

export class UsageCounter {
  private readonly pool: pg.Pool;
  private counts = new Map<string, Counted>();
  private readonly rounds: ReturnType<typeof periodic>;

  constructor(pool: pg.Pool, logger: Logger) {
    this.pool = pool;
    this.rounds = periodic({ name: 'table usage', everyMs, logger, startsWith: 'pause' }, () => this.flush());
  }

  /** Counts a call. */
  note(table: DeployedTable, caller: Caller, kind: TableUse): void {
    const { account_id, table_definition_id } = table;
    const { userId = 0, applicationId = 0 } = caller;
    const today = Math.floor(Date.now() / 86_400_000);
    const key = `${table_definition_id} ${kind} ${userId} ${applicationId} ${today}`;
    const known = this.counts.get(key);
    if (known) {
      known.calls += 1;
      return;
    }
    if (this.counts.size >= maxCounts) return;
    const day = new Date(today * 86_400_000).toISOString().slice(0, 10);
    const who = { user_id: userId, application_id: applicationId };
    this.counts.set(key, { account_id, table_definition_id, kind, ...who, day, calls: 1 });
  }

  /** Adds the counts to the database. Those of a failed attempt are added with the next ones. */
  async flush(): Promise<void> {
    if (this.counts.size === 0) return;
    const counts = this.counts;
    this.counts = new Map();
    try {
      await addCounts(pgSql(this.pool), [...counts.values()]);
    } catch (error) {
      for (const [key, count] of counts) {
        const later = this.counts.get(key);
        if (later) later.calls += count.calls;
        else this.counts.set(key, count);
      }
      throw error;
    }
  }

  start(): void {
    void this.rounds.start();
  }

  /** Adds what is left; a failure loses it. */
  async stop(): Promise<void> {
    await this.rounds.stop();
    await this.flush().catch(() => {});
  }
}

// In one order, so that two instances never deadlock; not for a table that was removed since, so
// that nothing is left of a deleted account.
async function addCounts(sql: Sql, counts: Counted[]): Promise<void> {
  const of = <K extends keyof Counted>(name: K) => counts.map((count) => count[name]);
  await sql(
    `insert into table_reads as r (account_id, table_definition_id, day, kind, user_id, application_id, calls)
     select c.* from unnest($1::int[], $2::int[], $3::date[], $4::text[], $5::int[], $6::int[], $7::bigint[])
       c(account_id, table_definition_id, day, kind, user_id, application_id, calls)
     where exists (select from deployed_table d where d.account_id = c.account_id and d.table_definition_id = c.table_definition_id)
     order by 1, 2, 3, 4, 5, 6
     on conflict (account_id, table_definition_id, day, kind, user_id, application_id) do update set calls = r.calls + excluded.calls`,
    [
      of('account_id'),
      of('table_definition_id'),
      of('day'),
      of('kind'),
      of('user_id'),
      of('application_id'),
      of('calls'),
    ],
  );
}

/** Deletes the counts of days before the last thirty. */
export async function sweepUsage(sql: Sql): Promise<void> {
  await sql(`delete from table_reads where day <= (now() at time zone 'UTC')::date - ${usageDays}`);
}
