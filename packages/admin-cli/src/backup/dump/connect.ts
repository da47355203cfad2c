// A connection of backup or restore to one database, without limits to the time of its work.
import pg from 'pg';
import { quietName } from '../../../../../services/data/src/postgres/pools.ts';
import { OperatorError } from '../../operator.ts';

/** One database; `name` is its service, further clusters of data are `data.<cluster>`. */
export type Database = { name: string; url: string };

/** Errors name the service, never a password. */
export async function connect({ name, url }: Database): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    // It changes no live rows, so that high-water marks of incremental exports don't wait for it.
    application_name: quietName,
    connectionTimeoutMillis: 10_000,
    statement_timeout: 0,
    idle_in_transaction_session_timeout: 0,
    keepAlive: true,
  });
  client.on('error', () => {}); // the next statement fails
  try {
    await client.connect();
  } catch (error) {
    throw new OperatorError(`The database of ${name} can't be reached: ${(error as Error).message}`);
  }
  return client;
}
