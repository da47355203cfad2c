// Long statements of a caller who waits for them: PostgreSQL cancels one when its caller leaves.
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Statement } from '../sql/statement.ts';
import { type Pools, runOn } from './pools.ts';

// Hashes and sorts of a million rows; few of these statements run at once
// (`pages/page-limiter.ts`).
const workMemory = '64MB';

/**
 * Runs one statement that only reads, with more memory than short ones have, until the time-out of
 * the pool. Throws `unavailable` when `signal` is aborted; the statement is cancelled then.
 */
export async function runCancellable<T>(
  { rows, control }: Pick<Pools, 'rows' | 'control'>,
  statement: Statement,
  signal: AbortSignal,
): Promise<T[]> {
  if (signal.aborted) throw callerLeft();
  const client = await rows.connect();
  const sql = pgSql(client);
  let isBroken = true;
  let cancelling: Promise<unknown> | undefined;
  let cancel = () => {};
  try {
    await sql('begin read only');
    const { rows: session } = await sql(
      `select pg_backend_pid() as pid, set_config('work_mem', '${workMemory}', true)`,
    );
    cancel = () => {
      cancelling = pgSql(control)('select pg_cancel_backend($1::int)', [session[0]?.pid]).catch(() => {});
    };
    signal.addEventListener('abort', cancel);
    if (signal.aborted) throw callerLeft();
    const found = await runOn<T>(client, statement);
    await sql('commit');
    isBroken = signal.aborted;
    return found;
  } catch (error) {
    if (!signal.aborted)
      isBroken = await sql('rollback').then(
        () => false,
        () => true,
      );
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    await cancelling;
    // A late cancellation must not meet the next statement of the connection.
    client.release(isBroken);
  }
}

/** The error of work whose caller no longer waits. */
export const callerLeft = () => new ServiceError('unavailable', 'The caller did not wait for the answer.');
