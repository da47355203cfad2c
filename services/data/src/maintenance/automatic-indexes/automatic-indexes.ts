// Makes the indexes that pages of large tables would use, and drops indexes that none uses any
// more; before that it vacuums tables that were loaded, and does the pending work of deployments.
// Readers and writers go on, and the
// work is cancelled when it blocks another session, such as a deployment. One process at a time
// works on a database; what a killed one has left half made is dropped and made again.

import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { findSqlState, isTransient } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';
import type { PagePlan, RowSelection } from '../../pages/filter.ts';
import { tryLockIndexing, unlockSession } from '../../postgres/advisory-locks.ts';
import { cancelWhenBlocking } from '../../postgres/cancel-when-blocking.ts';
import { gridIndexPath, tableName } from '../../sql/identifiers.ts';
import type { DeployedTable } from '../../tables/table.ts';
import type { TableSizes } from '../../tables/table-sizes.ts';
import { LoadedTables } from '../loaded-tables.ts';
import { validatePending } from '../pending-constraints.ts';
import { ExistingIndexes, serve } from './existing-indexes.ts';
import { analyzeSql, createIndexSql, indexesFor, indexName, statisticsSql } from './grid-index.ts';
import {
  type ExistingIndex,
  type IndexPlan,
  type IndexRules,
  type IndexToMake,
  indexRules,
  planIndexes,
} from './index-plan.ts';
import {
  deleteIdle,
  IndexRequests,
  listExisting,
  listRequested,
  saveFailure,
  saveRequests,
} from './requested-indexes.ts';
import { enableTrigrams } from './trigrams.ts';

const soonMs = 5_000;
const everyMs = 10 * 60_000;

// One build at a time and little memory: requests come first. The build ends with the process.
const sessionSettings = `select set_config('maintenance_work_mem', '64MB', false), set_config('max_parallel_maintenance_workers', '0', false),
  set_config('lock_timeout', '0', false), set_config('statement_timeout', '0', false),
  set_config('client_connection_check_interval', '2s', false)`;

type Parts = { pool: pg.Pool; sizes: TableSizes; logger: Logger; rules?: Partial<IndexRules> };

export class Indexing {
  private readonly pool: pg.Pool;
  private readonly sizes: TableSizes;
  private readonly logger: Logger;
  private readonly rules: IndexRules;
  private readonly requests = new IndexRequests();
  private readonly existing: ExistingIndexes;
  private readonly loaded = new LoadedTables();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopping = new AbortController();
  private warnedAboutTrigrams = false;
  private hasPendingWork = false;

  /** `pool`: of sessions that write no rows, so that high-water marks don't wait for a build. */
  constructor({ pool, sizes, logger, rules }: Parts) {
    this.pool = pool;
    this.sizes = sizes;
    this.existing = new ExistingIndexes(pool);
    this.logger = logger;
    this.rules = { ...indexRules, ...rules };
  }

  /** Records which indexes would have served a page. */
  note(table: DeployedTable, plan: RowSelection & Pick<PagePlan, 'sorts'>): void {
    if (this.sizes.find(table) < this.rules.minRows) return;
    if (this.requests.isEmpty) this.schedule(soonMs);
    for (const index of indexesFor(plan)) this.requests.add(table, index);
  }

  /** Schedules a maintenance round soon, for the pending work of a deployment. */
  scheduleSoon(): void {
    this.hasPendingWork = true;
    this.schedule(soonMs);
  }

  /** Notes that so many rows were written at once; has the table vacuumed if it needs that. */
  noteLoad(table: DeployedTable, rows: number): void {
    if (!this.loaded.add(table, rows, this.sizes.find(table))) return;
    this.hasPendingWork = true;
    this.schedule(0);
  }

  /** The plan of a page, for the indexes that the table has. */
  serve(table: DeployedTable, plan: PagePlan): PagePlan {
    return this.sizes.find(table) < this.rules.minRows ? plan : serve(table, plan, this.existing.find(table));
  }

  start(): void {
    this.schedule(soonMs);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.running;
  }

  private schedule(ms: number): void {
    if (this.stopping.signal.aborted || this.running) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () =>
        void this.round().finally(() =>
          this.schedule(this.requests.isEmpty && !this.hasPendingWork ? everyMs : soonMs),
        ),
      ms,
    );
    this.timer.unref();
  }

  /** Saves the requests, then makes and drops indexes accordingly. Never throws. */
  round(): Promise<void> {
    this.running ??= this.work()
      .catch((error: unknown) =>
        this.logger.warn({ err: error }, 'maintenance of indexes failed; it will be tried again'),
      )
      .finally(() => {
        this.running = undefined;
      });
    return this.running;
  }

  private async work(): Promise<void> {
    const sql = pgSql(this.pool);
    const requests = this.requests.take();
    if (requests.length > 0) await saveRequests(sql, requests);
    const client = await this.pool.connect();
    try {
      if (await tryLockIndexing(pgSql(client))) await this.maintain(client, sql);
    } finally {
      // A session that ends holds its lock for a moment yet, and the next round would find it
      // taken.
      await unlockSession(pgSql(client)).catch(() => {});
      client.release(true); // its settings end with the session
    }
  }

  private async maintain(client: pg.PoolClient, sql: Sql): Promise<void> {
    await pgSql(client)(sessionSettings);
    this.hasPendingWork = false;
    const { pool, logger } = this;
    const worker = { pool, client, signal: this.stopping.signal, logger };
    await this.loaded.vacuum(worker);
    if (await validatePending(worker)) this.hasPendingWork = true;
    await deleteIdle(sql, this.rules.idleDays);
    const words = await this.findTrigrams(client);
    const tried = new Set<string>();
    while (!this.stopping.signal.aborted) {
      const { drop, make }: IndexPlan = planIndexes(
        await listRequested(sql),
        await listExisting(sql),
        this.rules,
        words,
      );
      const dropping = drop.find(({ schema, name }) => !tried.has(`drop ${schema}.${name}`));
      const making = make.find(({ table, index }) => !tried.has(`make ${table.branch_id}.${indexName(table, index)}`));
      if (dropping) {
        tried.add(`drop ${dropping.schema}.${dropping.name}`);
        await this.drop(client, dropping);
      } else if (making) {
        tried.add(`make ${making.table.branch_id}.${indexName(making.table, making.index)}`);
        await this.make(client, sql, making);
      } else return;
    }
  }

  private async findTrigrams(client: pg.PoolClient): Promise<boolean> {
    const { available, reason } = await enableTrigrams(client);
    if (!available && !this.warnedAboutTrigrams)
      this.logger.warn({ reason }, 'the extension pg_trgm is not available; searches within texts use no index');
    this.warnedAboutTrigrams = true;
    return available;
  }

  private async make(client: pg.PoolClient, sql: Sql, { table, index }: IndexToMake): Promise<void> {
    const name = indexName(table, index);
    const about = { table_definition_id: table.table_definition_id, index: name };
    const statements = [createIndexSql(table, index), ...statisticsSql(table, index), analyzeSql(table)];
    try {
      await cancelWhenBlocking(this.pool, client, tableName(table), this.stopping.signal, async () => {
        for (const statement of statements) await pgSql(client)(statement);
      });
      this.logger.info(about, 'an index was made for pages of a large table');
    } catch (error) {
      const state = findSqlState(error);
      if (state === undefined) throw error;
      if (!isTransient(error)) {
        this.logger.warn({ ...about, err: error }, 'an index could not be made');
        await saveFailure(sql, table, index, state);
      }
    }
  }

  private async drop(client: pg.PoolClient, { schema, name, table }: ExistingIndex): Promise<void> {
    try {
      const statement = `drop index concurrently if exists ${gridIndexPath(schema, name)}`;
      await cancelWhenBlocking(this.pool, client, `${schema}.${table}`, this.stopping.signal, () =>
        pgSql(client)(statement),
      );
      this.logger.info({ index: name }, 'an index that no page uses was dropped');
    } catch (error) {
      if (findSqlState(error) === undefined) throw error;
    }
  }
}
