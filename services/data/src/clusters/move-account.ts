// Moves an account with all its tables to another cluster. Readers use the old cluster until it has
// moved; writers wait, or get 503.
//
//   copy, hidden  →  leave (the commit that decides)  →  complete  →  drop what was left behind
//
// Killed before it leaves, the account is where it was, and the next attempt drops the copy. Killed
// afterwards, the next call for the account completes the move.

import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { isLockTimeout } from '@almanac/service-kit/postgres/errors';
import type { Cluster } from '../cluster.ts';
import { lockAccount, lockBranch, tryLockMove, unlockMove } from '../postgres/advisory-locks.ts';
import { retiredHistoryName, retiredTableName, schemaName, tableName, viewSchema } from '../sql/identifiers.ts';
import type { DeployedTable } from '../tables/table.ts';
import { completeMove, sweepDeparted } from './account-placement.ts';
import type { Clusters } from './clusters.ts';
import { copyRows, copySchema, side } from './copy-schema.ts';

export type MoveProgress = { stage: 'copied' | 'moved' | 'there'; table: string; rows: number };

const setTimeouts = `select set_config('lock_timeout', '30s', true), set_config('statement_timeout', '0', true),
  set_config('idle_in_transaction_session_timeout', '0', true)`;

/**
 * Moves the account; yields each table when it is copied, and the end. 422 while another move of it
 * is under way.
 */
export async function* moveAccount(
  clusters: Clusters,
  accountId: number,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<MoveProgress> {
  const to = clusters.get(name);
  const release = await lockMove(clusters.home, accountId);
  try {
    await requireNoErasure(clusters.home, accountId);
    await clusters.placeNew(accountId);
    const from = await clusters.locate(accountId);
    if (from === to) {
      yield { stage: 'there', table: '', rows: 0 };
      return;
    }
    yield* copyAndLeave(from, to, accountId, signal);
    await completeMove(to.context, accountId);
    await clusters.savePlacement(accountId, to);
    await sweepDeparted(from.context.pools.work);
    yield { stage: 'moved', table: '', rows: 0 };
  } finally {
    await release();
  }
}

async function requireNoErasure({ context }: Cluster, accountId: number): Promise<void> {
  const { rows } = await pgSql(context.pools.quiet)('select true from account_erasure where account_id = $1::int', [
    accountId,
  ]);
  if (rows.length > 0)
    throw new ServiceError('wrong_state', { code: 'wrong_state', message: `Account ${accountId} is being erased.` });
}

/**
 * Waits for no other move of the account, in any instance: 422 while there is one. A lock of the
 * session, until the answer is called.
 */
export async function lockMove(home: Cluster, accountId: number): Promise<() => Promise<void>> {
  const client = await home.context.pools.quiet.connect();
  const { sql } = side(client);
  const isLocked = await tryLockMove(sql, accountId).catch((error: unknown) => {
    client.release(true); // the session may hold the lock
    throw error;
  });
  if (!isLocked) {
    client.release();
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: `Account ${accountId} is being moved already.`,
    });
  }
  return async () => {
    await unlockMove(sql, accountId).then(
      () => client.release(),
      () => client.release(true),
    );
  };
}

async function* copyAndLeave(
  from: Cluster,
  to: Cluster,
  accountId: number,
  signal: AbortSignal,
): AsyncGenerator<MoveProgress> {
  const source = side(await from.context.pools.work.connect());
  const target = side(
    await to.context.pools.work.connect().catch((error: unknown) => {
      source.client.release();
      throw error;
    }),
  );
  let failed = true;
  try {
    for (const { sql } of [source, target]) {
      await sql('begin');
      await sql(setTimeouts);
    }
    const { tables, branches } = await lockTables(source.sql, accountId);
    const left = branches.flatMap((branch) => [viewSchema(branch), schemaName(branch)]); // in the order in which a reader of a view locks them
    await clearTarget(target.sql, accountId, left);
    for (const branch of branches)
      for await (const copied of copySchema(source, target, schemaName(branch))) {
        signal.throwIfAborted();
        yield { stage: 'copied', ...copied };
      }
    await copyRecords(source, target, accountId);
    await target.sql(
      'insert into arriving_account (account_id, cluster, schemas, tables) values ($1::int, $2, $3::text[], $4::jsonb)',
      [accountId, from.name, left, JSON.stringify(tables)],
    );
    await target.sql('commit');
    signal.throwIfAborted();
    await deleteRecords(source.sql, accountId);
    await source.sql('insert into departed_account (account_id, cluster, schemas) values ($1::int, $2, $3::text[])', [
      accountId,
      to.name,
      left,
    ]);
    await source.sql('commit');
    failed = false;
  } catch (error) {
    if (isLockTimeout(error))
      throw new ServiceError('unavailable', 'A long write or import keeps a table of the account; try again later.');
    throw error;
  } finally {
    // A connection that failed in the middle of a COPY can't be used again; closing it rolls back.
    source.client.release(failed);
    target.client.release(failed);
  }
}

// The locks of a deployment, on all tables of the account: readers go on, writers wait.
async function lockTables(sql: Sql, accountId: number): Promise<{ tables: DeployedTable[]; branches: number[] }> {
  await lockAccount(sql, accountId);
  const { rows } = await sql(
    `select branch_id from deployed_table where account_id = $1::int
     union select branch_id from retired_table where account_id = $1::int order by branch_id`,
    [accountId],
  );
  for (const { branch_id } of rows) await lockBranch(sql, branch_id);
  const tables = (
    await sql('select * from deployed_table where account_id = $1::int order by lineage_id, branch_id', [accountId])
  ).rows as DeployedTable[];
  if (tables.length > 0)
    await sql(`lock table ${tables.map((table) => tableName(table)).join(', ')} in share row exclusive mode`);
  return { tables, branches: rows.map(({ branch_id }) => branch_id) };
}

// Drops what an earlier move away, or an unfinished move back, has left here. The account lives
// elsewhere: none of it is in use.
async function clearTarget(sql: Sql, accountId: number, schemas: string[]): Promise<void> {
  const { rows } = await sql(
    `select unnest(schemas) as schema from departed_account where account_id = $1::int
     union select unnest(schemas) from arriving_account where account_id = $1::int`,
    [accountId],
  );
  for (const schema of new Set([...rows.map((row) => row.schema as string), ...schemas]))
    await sql(`drop schema if exists ${schema} cascade`);
  await sql('delete from arriving_account where account_id = $1::int', [accountId]);
  await deleteRecords(sql, accountId);
  await sql(`update departed_account set schemas = '{}' where account_id = $1::int`, [accountId]);
}

// Every table of the service with a column `account_id`, also of later versions; those first that
// others refer to. The tables left out say where accounts are. Numbers that PostgreSQL gives are
// others there, but callers know those of operations.
const recordTablesSql = `
  select format('%I', c.relname) as name,
    string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where a.attgenerated = '' and (a.attidentity = '' or c.relname = 'change_request_operation')) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    and c.relname not in ('deployed_table', 'retired_table', 'placement', 'departed_account', 'arriving_account')
    and exists (select from pg_attribute own where own.attrelid = c.oid and own.attname = 'account_id' and not own.attisdropped)
  group by c.oid, c.relname
  order by (select count(*) from pg_constraint k where k.conrelid = c.oid and k.contype = 'f'), c.relname`;

async function copyRecords(
  source: ReturnType<typeof side>,
  target: ReturnType<typeof side>,
  accountId: number,
): Promise<void> {
  const where = `where account_id = ${Number(accountId)}`;
  for (const { name, columns } of (await source.sql(recordTablesSql)).rows)
    await copyRows(source, target, name, columns, where);
  const retired = await source.sql(
    'select id, table_definition_id, branch_id, entry, retired_at from retired_table where account_id = $1::int',
    [accountId],
  );
  for (const { id, table_definition_id, branch_id, entry, retired_at } of retired.rows) {
    const { rows } = await target.sql(
      `insert into retired_table (account_id, table_definition_id, branch_id, entry, retired_at)
       values ($1::int, $2::int, $3::int, $4::jsonb, $5::timestamptz) returning id`,
      [accountId, table_definition_id, branch_id, JSON.stringify(entry), retired_at],
    );
    // Under a temporary name: the numbers of both clusters may overlap.
    for (const name of [retiredTableName, retiredHistoryName])
      await target.sql(`alter table ${schemaName(branch_id)}.${name(id)} rename to ${name(rows[0]?.id)}_arriving`);
  }
  for (const { ddl } of (await target.sql(finalNamesSql)).rows) await target.sql(ddl);
  // No number of an operation is used twice in a request.
  await target.sql(
    `select setval(pg_get_serial_sequence('change_request_operation', 'id'), greatest(nextval(pg_get_serial_sequence('change_request_operation', 'id')),
       (select max(id) from change_request_operation where account_id = $1::int)))`,
    [accountId],
  );
  // No revision is used twice, also not by a table that was here before.
  const { rows } = await source.sql('select last_value from deployed_revision');
  await target.sql(
    `select setval('deployed_revision', greatest($1::bigint, (select last_value from deployed_revision)) + 1)`,
    [rows[0]?.last_value],
  );
}

const finalNamesSql = `
  select format('alter table %I.%I rename to %I', n.nspname, c.relname, left(c.relname, -length('_arriving'))) as ddl
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and c.relname ~ '^rh?_[0-9]+_arriving$'`;

async function deleteRecords(sql: Sql, accountId: number): Promise<void> {
  const tables = (await sql(recordTablesSql)).rows.map((row) => row.name as string).reverse();
  for (const table of [...tables, 'retired_table', 'deployed_table'])
    await sql(`delete from ${table} where account_id = $1::int`, [accountId]);
}
