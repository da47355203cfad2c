// Writes of rows by request: once for an Idempotency-Key (service-kit keeps the answers), and again, a few times, when PostgreSQL has
// ended a write to let another go on.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type Answer, answerOnce, findAnswer } from '@almanac/service-kit/caller/idempotency';
import { pgSql, retryTransaction, withTransaction } from '@almanac/service-kit/postgres/database';
import type { DataContext } from '../context.ts';
import { run, runOn } from '../postgres/pools.ts';
import type { Statement } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';

/** The answer that was given to this request before; 422 when its key came with another one. */
export async function findKept(ctx: DataContext, { keyed }: CallContext): Promise<Answer | undefined> {
  return keyed && findAnswer(pgSql(ctx.pools.rows), keyed);
}

/**
 * Runs one statement that writes rows of the table and makes the answer of its row; undefined: it has written nothing. With a key
 * all of it is one transaction that also keeps the answer, and when another request with the key was first, answers what that did.
 * What failed or wrote nothing leaves nothing, so it can be repeated.
 */
export async function writeOnce<T>(
  ctx: DataContext,
  { keyed }: CallContext,
  table: DeployedTable,
  statement: Statement,
  answerOf: (row: T) => Answer | undefined,
): Promise<Answer | undefined> {
  const pool = ctx.pools.rows;
  const read = ([row]: T[]) => row && answerOf(row);
  const answer = keyed
    ? await withTransaction(pool, (sql, client) =>
        answerOnce(sql, keyed, async () => read(await runOn<T>(client, statement))),
      )
    : read(await retryTransaction(() => run<T>(pool, statement)));
  if (answer) ctx.announcer.touch(table);
  return answer;
}
