// Idempotency-Key: the transaction of a change keeps its result (an id) under the key. A repeat of
// the request changes nothing and answers the current state of that result.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { answerOnce, findAnswer } from '@almanac/service-kit/caller/idempotency';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from './context.ts';
import { type Transaction, transact } from './transaction.ts';

/** The header, for routes that accept it. */
export const idempotencyKeyHeader = {
  'Idempotency-Key':
    'The same request again, within 24 hours, changes nothing and is answered with what the first one made or changed.',
};

/**
 * The result of an earlier request with this key. Read before checks whose outcome may have changed
 * since.
 */
export async function findEarlierResult<T>(
  { prisma }: Pick<JobsContext, 'prisma'>,
  { keyed }: CallContext,
): Promise<T | undefined> {
  const kept = keyed && (await findAnswer(prismaSql(prisma), keyed));
  return kept && JSON.parse(kept.body);
}

/**
 * The transaction in which a call has its effect. With a key only the first request runs `work`; a
 * repetition gets the first one's result. A result of undefined is not kept.
 */
export function transactOnce<T>(
  ctx: Pick<JobsContext, 'prisma'>,
  { keyed }: CallContext,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  if (!keyed) return transact(ctx, work);
  return transact(ctx, async (tx) => {
    const answer = await answerOnce(prismaSql(tx), keyed, async () => {
      const done = await work(tx);
      return done === undefined ? undefined : { body: JSON.stringify(done) };
    });
    return answer && JSON.parse(answer.body);
  });
}
