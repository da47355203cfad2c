// Five pools of connections to one database, and the runner of statements over rows, which always
// uses the extended protocol and prepares the statements that are repeated.
import { createHash } from 'node:crypto';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { createPool } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import type { Statement } from '../sql/statement.ts';

export type Pools = {
  /** Requests: short statements. */
  rows: pg.Pool;
  /** Deployments and merges: long transactions that change live rows. */
  work: pg.Pool;
  /**
   * Sessions that never change live rows (exports, staged files): incremental exports needn't wait
   * for them.
   */
  quiet: pg.Pool;
  /** Ends the sessions of a load, and must not wait for other work. */
  control: pg.Pool;
  /**
   * Announcements; quiet too, but a pool of their own, so that a dozen slow uploads don't delay
   * them.
   */
  outbox: pg.Pool;
};

/**
 * The start of the names of sessions that never change live rows; high-water marks leave these out.
 */
export const quietName = 'almanac-data-quiet';
export const workName = 'almanac-data-work';

// Instants are rendered in the session's zone; a waiting writer must not hold its connection for
// long.
const sessionSettings =
  '-c timezone=UTC -c datestyle=ISO,YMD -c intervalstyle=postgres -c extra_float_digits=1 -c jit=off';

type PoolSizes = { rows: number; work: number; quiet: number };

/** Makes the pools; nothing connects yet. */
export function createPools(url: string, sizes: PoolSizes, logger: Logger): Pools {
  const make = (name: string, max: number, settings: string) =>
    createPool({ url: withSettings(url, `${sessionSettings} ${settings}`), name, max, logger });
  return {
    rows: make('almanac-data', sizes.rows, '-c lock_timeout=5s -c work_mem=16MB'),
    work: make(workName, sizes.work, ''),
    quiet: make(quietName, sizes.quiet, ''),
    control: make('almanac-data-control', 2, '-c lock_timeout=1s'),
    outbox: make(quietName, 3, ''),
  };
}

/** Closes all pools, after their running statements. */
export async function closePools(pools: Pools): Promise<void> {
  await Promise.all(Object.values(pools).map((pool) => pool.end()));
}

function withSettings(url: string, settings: string): string {
  const result = new URL(url);
  const given = result.searchParams.get('options');
  result.searchParams.set('options', given ? `${given} ${settings}` : settings);
  return result.href;
}

// A prepared statement lives as long as its connection and costs memory on both sides, so a
// connection prepares a limited number. After many others (many tables, new revisions) it is
// replaced by a new connection, which costs a hundredth of what those statements do. PostgreSQL
// caches in each connection some 30 kB of every table that it reads, and 140 kB of one whose rows
// it changes.
const maxPreparedPerConnection = 150;
const maxUnpreparedPerConnection = 2_000;
const maxKnownTexts = 4_000;

type Prepared = { names: Set<string>; unprepared: number };
const prepared = new WeakMap<pg.PoolClient, Prepared>();
const namesByText = new Map<string, string | undefined>();

// A text gets a name when it is run the second time: most grid models are never repeated.
function nameOf(text: string): string | undefined {
  if (namesByText.has(text)) {
    let name = namesByText.get(text);
    if (name === undefined) {
      name = createHash('sha1').update(text).digest('base64');
      namesByText.set(text, name);
    }
    return name;
  }
  if (namesByText.size >= maxKnownTexts) namesByText.clear();
  namesByText.set(text, undefined);
  return undefined;
}

/** Runs one statement on a connection of the pool. */
export async function run<T>(pool: pg.Pool, statement: Statement): Promise<T[]> {
  const client = await pool.connect();
  let broken: Error | boolean | undefined;
  try {
    return await runOn<T>(client, statement);
  } catch (error) {
    if (isConnectionLoss(error)) broken = error as Error;
    throw error;
  } finally {
    broken ??= (prepared.get(client)?.unprepared ?? 0) > maxUnpreparedPerConnection;
    client.release(broken);
  }
}

/** Runs one statement on this connection, inside its transaction if it has one. */
export async function runOn<T>(client: pg.PoolClient, statement: Statement): Promise<T[]> {
  const { text, values, customPlan } = statement;
  const name = customPlan ? undefined : nameFor(client, text);
  const { rows } = await client.query<T & pg.QueryResultRow>({
    name,
    text,
    values,
    queryMode: 'extended',
  } as pg.QueryConfig);
  return rows;
}

function nameFor(client: pg.PoolClient, text: string): string | undefined {
  const name = nameOf(text);
  if (name === undefined) return undefined;
  let own = prepared.get(client);
  if (!own) {
    own = { names: new Set(), unprepared: 0 };
    prepared.set(client, own);
  }
  if (own.names.has(name)) return name;
  if (own.names.size >= maxPreparedPerConnection) {
    own.unprepared += 1;
    return undefined;
  }
  own.names.add(name);
  return name;
}

function isConnectionLoss(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === undefined || /^(08|57P)/.test(code) || /^E[A-Z]+$/.test(code);
}
