// A transaction that reads one instant of the database.
import type pg from 'pg';

/**
 * A connection in a transaction that sees the committed rows of these tables, without time limits.
 * First it waits for a deployment that changes them: a snapshot from before PostgreSQL rewrites a
 * table (another type of a column) sees the table empty.
 */
export async function openSnapshot(pool: pg.Pool, tables: string[]): Promise<pg.PoolClient> {
  const client = await pool.connect();
  try {
    for (const text of [
      'begin isolation level repeatable read read only',
      'set local statement_timeout = 0',
      'set local idle_in_transaction_session_timeout = 0',
      // Takes no snapshot.
      `lock table ${tables.join(', ')} in access share mode`,
    ])
      await client.query(text);
    return client;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
