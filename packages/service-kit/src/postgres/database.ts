// Access to PostgreSQL: pools with limits, transactions with retries, and `Sql`, the interface by
// which outbox and inbox use pg and Prisma alike. Errors pass through untranslated.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { isTransactionConflict } from './errors.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a column holds is known where the statement is written, not here
type Row = Record<string, any>;

/** Runs one statement with parameters. Bound to a transaction when made from one. */
export type Sql = (text: string, values?: unknown[]) => Promise<{ rows: Row[]; rowCount: number | null }>;

type PoolOptions = {
  url: string;
  /** Shown in `pg_stat_activity`. */
  name: string;
  max?: number;
  /** Long work sets its own in its transaction: `set_config('statement_timeout', '0', true)`. */
  statementTimeoutMs?: number;
  /** Ends a query without an answer, for networks that drop packets; off by default. */
  queryTimeoutMs?: number;
  logger: Logger;
};

/** How long a query waits for a connection; tests, whose machine may be slow, wait longer. */
export const connectionTimeout = { ms: 5_000 };

/** A pool that survives a restart of the database: broken connections are logged and replaced. */
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
  // The loss of a connection fails its query; without a listener the event would end the process
  // too.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

const keepText = (text: string) => text;
// Arrays of numbers are written as those of texts; pg names no array among its types.
const int8ArrayOid = 1016;
const textArrayOid: number = 1009;
const parseTexts: (text: string) => (string | null)[] = pg.types.getTypeParser(textArrayOid, 'text');
const parsers: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.INT8]: parseInt8,
  [int8ArrayOid]: (text) => parseTexts(text).map((item) => (item === null ? null : parseInt8(item))),
  [pg.types.builtins.NUMERIC]: keepText,
  // pg would read these in the time zone of this process.
  [pg.types.builtins.DATE]: keepText,
  [pg.types.builtins.TIMESTAMP]: keepText,
};

// Counts become numbers; an integer that a number can't hold exactly stays text.
function parseInt8(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid, format as 'text');
}

type Queryable = Pick<pg.ClientBase, 'query'> | Pick<pg.Pool, 'query'>;

/**
 * `Sql` over pg. The extended protocol takes one statement only, so injected text can't append one.
 */
export function pgSql(client: Queryable): Sql {
  return async (text, values = []) => {
    const query = { text, values, queryMode: 'extended' } as pg.QueryConfig;
    const { rows, rowCount } = await client.query(query);
    return { rows, rowCount };
  };
}

/** The raw statements of a Prisma client, or of its transaction. */
export type PrismaRaw = {
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

type RetryOptions = {
  attempts?: number;
  /** Whether another attempt can succeed; by default: deadlocks and serialization failures. */
  isRetryable?: (error: unknown) => boolean;
  /** How long to wait after the attempt of this number, in ms. */
  pauseMs?: (attempt: number) => number;
  /** Before each further attempt, with the number of the one that failed. */
  onRetry?: (attempt: number, error: unknown) => void;
};

type TransactionOptions = RetryOptions & { isolation?: 'read committed' | 'repeatable read' | 'serializable' };

/**
 * Runs `work` in a transaction: committed when it returns, rolled back when it throws. A retryable
 * failure runs all of `work` again, so it must have no effect outside the database.
 */
export function withTransaction<T>(
  pool: pg.Pool,
  work: (sql: Sql, client: pg.PoolClient, attempt: number) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const { isolation = 'read committed' } = options;
  const transact = (attempt: number) => transactOnce(pool, (sql, client) => work(sql, client, attempt), isolation);
  return retryTransaction(transact, options);
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
    // A connection that can't roll back is closed; PostgreSQL then rolls back.
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Runs a whole transaction (also Prisma's `$transaction`) again after retryable failures, a few
 * times. `transact` gets the number of the attempt, from 1.
 */
export async function retryTransaction<T>(
  transact: (attempt: number) => Promise<T>,
  {
    attempts = 3,
    isRetryable = isTransactionConflict,
    pauseMs = (attempt) => Math.random() * 20 * 2 ** attempt,
    onRetry,
  }: RetryOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact(attempt);
    } catch (error) {
      if (attempt >= attempts || !isRetryable(error)) throw error;
      onRetry?.(attempt, error);
      await sleep(pauseMs(attempt));
    }
  }
}
