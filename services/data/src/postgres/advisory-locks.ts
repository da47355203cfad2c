// Every advisory lock of data, and what each keeps apart. A transaction that takes several takes
// them in this order, so that no two wait for each other: account, branch, decisions, locks of
// tables, views.
import type { Sql } from '@almanac/service-kit/postgres/database';

const classOf = (name: string) => `hashtext('almanac.data.${name}')`;

/**
 * Held by a move of an account to another cluster, for its session: false when another instance is
 * moving it. Ends with `unlockMove`.
 */
export async function tryLockMove(sql: Sql, accountId: number): Promise<boolean> {
  const { rows } = await sql(`select pg_try_advisory_lock(${classOf('move')}, $1::int) as held`, [accountId]);
  return rows[0]?.held as boolean;
}

/** Releases that lock. */
export async function unlockMove(sql: Sql, accountId: number): Promise<void> {
  await sql(`select pg_advisory_unlock(${classOf('move')}, $1::int)`, [accountId]);
}

/**
 * Held by work on an account that no table's lock covers, beside others of its kind, until the
 * transaction ends.
 */
export async function lockAccountShared(sql: Sql, accountId: number): Promise<void> {
  await sql(`select pg_advisory_xact_lock_shared(${classOf('account')}, $1::int)`, [accountId]);
}

/** Held by the end of a move: waits for such work and keeps more from beginning. */
export async function lockAccount(sql: Sql, accountId: number): Promise<void> {
  await sql(`select pg_advisory_xact_lock(${classOf('account')}, $1::int)`, [accountId]);
}

/** Held by a change of the tables that a branch has: one at a time. */
export async function lockBranch(sql: Sql, branchId: number): Promise<void> {
  await sql(`select pg_advisory_xact_lock(${classOf('branch')}, $1::int)`, [branchId]);
}

/** Held by one who decides rows of a promotion: one at a time. */
export async function lockRowDecisions(sql: Sql, promotionId: number): Promise<void> {
  await sql(`select pg_advisory_xact_lock(${classOf('decisions')}, $1::int)`, [promotionId]);
}

/** Held by the making of a branch's schema of views: a load makes views beside a deployment. */
export async function lockViews(sql: Sql, branchId: number): Promise<void> {
  await sql(`select pg_advisory_xact_lock(${classOf('views')}, $1::int)`, [branchId]);
}

/** Held for a staged file by the session that staged it: a sweep drops files without a holder. */
export async function lockStaging(sql: Sql, number: number): Promise<void> {
  await sql(`select pg_advisory_lock(${classOf('staging')}, $1::int)`, [number]);
}

/** Takes the lock of a staged file; false when another session holds it. */
export async function tryLockStaging(sql: Sql, number: number): Promise<boolean> {
  const { rows } = await sql(`select pg_try_advisory_lock(${classOf('staging')}, $1::int) as free`, [number]);
  return rows[0]?.free as boolean;
}

/** Held for a table by the load that merges into it, in the session of its staged file. */
export async function lockLoad(sql: Sql, tableDefinitionId: number): Promise<void> {
  await sql(`select pg_advisory_lock(${classOf('load')}, $1::int)`, [tableDefinitionId]);
}

/** Held by the one instance that maintains indexes, for its session. */
export async function tryLockIndexing(sql: Sql): Promise<boolean> {
  const { rows } = await sql(`select pg_try_advisory_lock(${classOf('indexing')}) as held`);
  return rows[0]?.held as boolean;
}

/** Releases every advisory lock of the session. */
export async function unlockSession(sql: Sql): Promise<void> {
  await sql('select pg_advisory_unlock_all()');
}
