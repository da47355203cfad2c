// The sessions of a load carry its name until their transaction ends, by which a cancellation finds
// them.
import { createHash } from 'node:crypto';
import type { Sql } from '@almanac/service-kit/postgres/database';
import { quietName, workName } from '../../postgres/pools.ts';

export type LoadName = { accountId: number; loadId: string };

// Names of sessions have 63 bytes at most, load ids up to 200 characters.
function suffixOf({ accountId, loadId }: LoadName): string {
  return ` load ${createHash('sha256').update(`${accountId} ${loadId}`).digest('hex').slice(0, 24)}`;
}

/** Names a session of a pool until its transaction ends; takes no snapshot. */
export async function nameSession(sql: Sql, pool: 'work' | 'quiet', load: LoadName): Promise<void> {
  await sql(`set local application_name = '${pool === 'work' ? workName : quietName}${suffixOf(load)}'`);
}

/**
 * Terminates the sessions of the load in every instance; PostgreSQL rolls back what they have
 * begun.
 */
export async function endSessions(sql: Sql, load: LoadName): Promise<void> {
  await sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like '%' || $1 and pid <> pg_backend_pid()`,
    [suffixOf(load)],
  );
}
