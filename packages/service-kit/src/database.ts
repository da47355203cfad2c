// The way to PostgreSQL: pools with sane limits, transactions that are tried again when the database asks for it, and `Sql`,
// the one shape in which the plumbing (outbox, inbox) meets pg and Prisma alike. Errors pass through untranslated.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { findSqlState } from './postgres-errors.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a column holds is known where the statement is written, not here
type Row = Record<string, any>;

/** Runs one statement with parameters. Bound to a transaction when made from one. */
export type Sql = (text: string, values?: unknown[]) => Promise<{ rows: Row[]; rowCount: number | null }>;

type PoolOptions = {
  url: string;
  /** Shown in `pg_stat_activity`. */
  name: string;
  max?: number;
  /** Long work (bulk load, bulk read) sets its own inside its transaction: `set_config('statement_timeout', '0', true)`. */
  statementTimeoutMs?: number;
  /** When to give up on an answer that doesn't come at all, as through a network that swallows packets; never by default. */
  queryTimeoutMs?: number;
  logger: Logger;
};

/** How long a query waits for a connection; tests, whose machine may be slow, wait longer. */
export const connectionTimeout = { ms: 5_000 };

/** A pool that survives a database restart: broken connections are logged and replaced, never thrown at the process. */
export function createPool(options: PoolOptions): pg.Pool {
  const { url, name, max = 10, statementTimeoutMs = 30_000, queryTimeoutMs, logger } = options;
  const pool = new pg.Pool({
    connectionString: url,
    application_name: name,
    max,
    connectionTimeoutMillis: connectionTimeout.ms,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementTimeoutMs,
    query_timeout: queryTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
  });
  pool.on('error', (error) => {
    if (!pool.ending) logger.warn({ err: error }, 'an idle database connection was lost');
  });
  // A connection in use reports its loss to the running query; without a listener the same event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

const keepText = (text: string) => text;
const parsers: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.INT8]: parseInt8,
  [pg.types.builtins.NUMERIC]: keepText,
  // pg would read these in the time zone of this process.
  [pg.types.builtins.DATE]: keepText,
  [pg.types.builtins.TIMESTAMP]: keepText,
};

// Counts are numbers; what a number can't hold exactly stays text.
function parseInt8(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid, format as 'text');
}

type Queryable = Pick<pg.ClientBase, 'query'> | Pick<pg.Pool, 'query'>;

/** `Sql` over pg. The extended protocol takes one statement only, so a value that got into the text can't append another. */
export function pgSql(client: Queryable): Sql {
  return async (text, values = []) => {
    const query = { text, values, queryMode: 'extended' } as pg.QueryConfig;
    const { rows, rowCount } = await client.query(query);
    return { rows, rowCount };
  };
}

type PrismaRaw = {
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): PromiseLike<T>;
  $executeRawUnsafe(text: string, ...values: unknown[]): PromiseLike<number>;
};

const readsRows = /^\s*(select|with|values|table|show)\b|\breturning\b/i;

/** `Sql` over a Prisma client or, inside `$transaction`, over its transaction. */
export function prismaSql(client: PrismaRaw): Sql {
  return async (text, values = []) => {
    if (!readsRows.test(text)) return { rows: [], rowCount: await client.$executeRawUnsafe(text, ...values) };
    const rows = await client.$queryRawUnsafe<Row[]>(text, ...values);
    return { rows, rowCount: rows.length };
  };
}

type TransactionOptions = { attempts?: number; isolation?: 'read committed' | 'repeatable read' | 'serializable' };

/**
 * Runs `work` in a transaction: committed when it returns, rolled back when it throws. A deadlock or serialization failure runs
 * all of `work` again, so it must have no effect outside the database.
 */
export function withTransaction<T>(
  pool: pg.Pool,
  work: (sql: Sql, client: pg.PoolClient) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const { isolation = 'read committed' } = options;
  return retryTransaction(() => transactOnce(pool, work, isolation), options);
}

async function transactOnce<T>(
  pool: pg.Pool,
  work: (sql: Sql, client: pg.PoolClient) => Promise<T>,
  isolation: string,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const sql = pgSql(client);
    await sql(`begin isolation level ${isolation}`);
    const result = await work(sql, client);
    await sql('commit');
    return result;
  } catch (error) {
    // A connection that can't roll back is thrown away; PostgreSQL rolls back when it goes.
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Runs a whole transaction (also Prisma's `$transaction`) again on a deadlock or serialization failure, a few times. */
export async function retryTransaction<T>(transact: () => Promise<T>, { attempts = 3 } = {}): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact();
    } catch (error) {
      if (attempt >= attempts || !isRetryable(error)) throw error;
      await sleep(Math.random() * 20 * 2 ** attempt);
    }
  }
}

function isRetryable(error: unknown): boolean {
  const state = findSqlState(error);
  return state === '40001' || state === '40P01';
}
