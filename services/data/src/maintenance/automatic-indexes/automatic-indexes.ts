// Makes the indexes that people's pages ask for and drops those that nobody needs any more, without anyone asking; before that it does
// what deployments of large tables have left. Everybody goes on reading and writing meanwhile, and whoever wants the table for
// himself (a deployment) is given way to. One process at a time works on a database; what a killed one has left half done is
// dropped and made anew.

import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { findSqlState, isTransient } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';
import type { PagePlan } from '../../pages/filter.ts';
import { tryLockIndexing, unlockSession } from '../../postgres/advisory-locks.ts';
import { giveWay } from '../../postgres/cancel-when-blocking.ts';
import { gridIndexPath, tableName } from '../../sql/identifiers.ts';
import type { DeployedTable } from '../../tables/table.ts';
import type { TableSizes } from '../../tables/table-sizes.ts';
import { settle } from '../pending-constraints.ts';
import { MadeIndexes, serve } from './existing-indexes.ts';
import { analyzeSql, createIndexSql, indexesFor, indexName, statisticsSql } from './grid-index.ts';
import {
  type Existing,
  type IndexPlan,
  type IndexRules,
  type IndexToMake,
  indexRules,
  planIndexes,
} from './index-plan.ts';
import { AskedIndexes, forgetIdle, listExisting, listNeeds, saveAsked, saveFailure } from './requested-indexes.ts';
import { enableTrigrams } from './trigrams.ts';

const soonMs = 5_000;
const everyMs = 10 * 60_000;

// One build at a time and little memory: requests come first. When the process is gone, so is its build.
const session = `select set_config('maintenance_work_mem', '64MB', false), set_config('max_parallel_maintenance_workers', '0', false),
  set_config('lock_timeout', '0', false), set_config('statement_timeout', '0', false),
  set_config('client_connection_check_interval', '2s', false)`;

type Parts = { pool: pg.Pool; sizes: TableSizes; logger: Logger; rules?: Partial<IndexRules> };

export class Indexing {
  private readonly pool: pg.Pool;
  private readonly sizes: TableSizes;
  private readonly logger: Logger;
  private readonly rules: IndexRules;
  private readonly asked = new AskedIndexes();
  private readonly made: MadeIndexes;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopping = new AbortController();
  private hasToldOfTrigrams = false;
  private isAwaited = false;

  /** `pool`: of sessions that write no rows, so that marks needn't wait for a build. */
  constructor({ pool, sizes, logger, rules }: Parts) {
    this.pool = pool;
    this.sizes = sizes;
    this.made = new MadeIndexes(pool);
    this.logger = logger;
    this.rules = { ...indexRules, ...rules };
  }

  /** Notes which indexes would have served a page. */
  note(table: DeployedTable, plan: PagePlan): void {
    if (this.sizes.find(table) < this.rules.rowsMinimum) return;
    if (this.asked.isEmpty) this.schedule(soonMs);
    for (const index of indexesFor(plan)) this.asked.add(table, index);
  }

  /** Has looked after what a deployment left. */
  soon(): void {
    this.isAwaited = true;
    this.schedule(soonMs);
  }

  /** The plan of a page as the indexes that there are serve it. */
  serve(table: DeployedTable, plan: PagePlan): PagePlan {
    return this.sizes.find(table) < this.rules.rowsMinimum ? plan : serve(table, plan, this.made.find(table));
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
      () => void this.round().finally(() => this.schedule(this.asked.isEmpty && !this.isAwaited ? everyMs : soonMs)),
      ms,
    );
    this.timer.unref();
  }

  /** Writes down what was asked for, then makes and drops what that calls for. Never fails. */
  round(): Promise<void> {
    this.running ??= this.work()
      .catch((error: unknown) =>
        this.logger.warn({ err: error }, 'indexes could not be looked after; it will be tried again'),
      )
      .finally(() => {
        this.running = undefined;
      });
    return this.running;
  }

  private async work(): Promise<void> {
    const sql = pgSql(this.pool);
    const asked = this.asked.take();
    if (asked.length > 0) await saveAsked(sql, asked);
    const client = await this.pool.connect();
    try {
      if (await tryLockIndexing(pgSql(client))) await this.lookAfter(client, sql);
    } finally {
      // A session that is told to end holds its lock for a moment yet, and the next round would find it taken.
      await unlockSession(pgSql(client)).catch(() => {});
      client.release(true); // with its settings
    }
  }

  private async lookAfter(client: pg.PoolClient, sql: Sql): Promise<void> {
    await pgSql(client)(session);
    this.isAwaited = false;
    const { pool, logger } = this;
    if (await settle({ pool, client, signal: this.stopping.signal, logger })) this.isAwaited = true;
    await forgetIdle(sql, this.rules.idleDays);
    const words = await this.findTrigrams(client);
    const tried = new Set<string>();
    while (!this.stopping.signal.aborted) {
      const { drop, make }: IndexPlan = planIndexes(await listNeeds(sql), await listExisting(sql), this.rules, words);
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
    if (!available && !this.hasToldOfTrigrams)
      this.logger.warn(
        { reason },
        'the extension pg_trgm is not available; searching within texts goes without an index',
      );
    this.hasToldOfTrigrams = true;
    return available;
  }

  private async make(client: pg.PoolClient, sql: Sql, { table, index }: IndexToMake): Promise<void> {
    const name = indexName(table, index);
    const about = { table_definition_id: table.table_definition_id, index: name };
    const statements = [createIndexSql(table, index), ...statisticsSql(table, index), analyzeSql(table)];
    try {
      await giveWay(this.pool, client, tableName(table), this.stopping.signal, async () => {
        for (const statement of statements) await pgSql(client)(statement);
      });
      this.logger.info(about, 'an index was made for what people ask of a large table');
    } catch (error) {
      const state = findSqlState(error);
      if (state === undefined) throw error;
      if (!isTransient(error)) {
        this.logger.warn({ ...about, err: error }, 'an index could not be made');
        await saveFailure(sql, table, index, state);
      }
    }
  }

  private async drop(client: pg.PoolClient, { schema, name, table }: Existing): Promise<void> {
    try {
      const statement = `drop index concurrently if exists ${gridIndexPath(schema, name)}`;
      await giveWay(this.pool, client, `${schema}.${table}`, this.stopping.signal, () => pgSql(client)(statement));
      this.logger.info({ index: name }, 'an index that nobody needs was dropped');
    } catch (error) {
      if (findSqlState(error) === undefined) throw error;
    }
  }
}
