// The extension that indexes text by groups of three letters. Where the database's role may not
// create it, searches use no index.
import { pgSql } from '@almanac/service-kit/postgres/database';
import { findSqlState } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';

/** Makes the extension available to this session, if that is allowed; answers whether it is. */
export async function enableTrigrams(client: pg.PoolClient): Promise<{ available: boolean; reason?: string }> {
  const sql = pgSql(client);
  const find = async () => {
    const { rows } = await sql(
      `select set_config('search_path', current_setting('search_path') || ', ' || quote_ident(n.nspname), false) as path
       from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'`,
    );
    return rows.length > 0;
  };
  if (await find()) return { available: true };
  try {
    await sql('create schema if not exists trigrams');
    await sql('create extension if not exists pg_trgm schema trigrams');
    return { available: await find() };
  } catch (error) {
    if (findSqlState(error) === undefined) throw error;
    // Another session may have made it at the same time.
    return (await find()) ? { available: true } : { available: false, reason: (error as Error).message };
  }
}
