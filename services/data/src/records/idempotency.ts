// Writes of rows by request: once for an Idempotency-Key (service-kit keeps the answers), and again
// a few times when PostgreSQL has rolled one back for a deadlock.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type Answer, answerOnce, findAnswer } from '@almanac/service-kit/caller/idempotency';
import { pgSql, retryTransaction, withTransaction } from '@almanac/service-kit/postgres/database';
import { type Pools, run, runOn } from '../postgres/pools.ts';
import type { Statement } from '../sql/statement.ts';
import type { TableAccess } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';

/** What writing rows takes. */
export type WriteAccess = TableAccess & { pools: Pools; announcer: { touch(table: DeployedTable): void } };

/** The answer that this request got before; 422 when its key came with another request. */
export async function findKept({ rows }: Pools, { keyed }: CallContext): Promise<Answer | undefined> {
  return keyed && findAnswer(pgSql(rows), keyed);
}

/**
 * Runs one statement that writes rows of the table, and makes the answer of the row that it
 * returns; undefined when it wrote nothing. With a key one transaction also keeps the answer; when
 * another request with the key was first, its answer is returned. A write that fails or writes
 * nothing leaves nothing, so it can be repeated.
 */
export async function writeOnce<T>(
  { pools, announcer }: Pick<WriteAccess, 'pools' | 'announcer'>,
  { keyed }: CallContext,
  table: DeployedTable,
  statement: Statement,
  answerOf: (row: T) => Answer | undefined,
): Promise<Answer | undefined> {
  const pool = pools.rows;
  const read = ([row]: T[]) => row && answerOf(row);
  const answer = keyed
    ? await withTransaction(pool, (sql, client) =>
        answerOnce(sql, keyed, async () => read(await runOn<T>(client, statement))),
      )
    : read(await retryTransaction(() => run<T>(pool, statement)));
  if (answer) announcer.touch(table);
  return answer;
}
