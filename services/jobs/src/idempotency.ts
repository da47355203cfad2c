// POSTs with an Idempotency-Key: the id of what one has made or changed is kept in the transaction that did it; the same request again
// changes nothing and is answered with that, as it is by then.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { answerOnce, findAnswer } from '@almanac/service-kit/caller/idempotency';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from './context.ts';
import type { Transaction } from './transaction.ts';

/** The header, for routes that take it. */
export const repeatable = {
  'Idempotency-Key':
    'The same request again, within 24 hours, changes nothing and is answered with what the first one made or changed.',
};

/** What `doOnce` has kept of an earlier request with the key; asked before anything is looked at that may be another by now. */
export async function findDone<T>(
  { prisma }: Pick<JobsContext, 'prisma'>,
  { keyed }: CallContext,
): Promise<T | undefined> {
  const kept = keyed && (await findAnswer(prismaSql(prisma), keyed));
  return kept && JSON.parse(kept.body);
}

/** Does the work in the transaction unless the same request has done it; answers what the first one did, undefined: nothing. */
export async function doOnce<T>(tx: Transaction, { keyed }: CallContext, work: () => Promise<T>): Promise<T> {
  if (!keyed) return work();
  const answer = await answerOnce(prismaSql(tx), keyed, async () => {
    const done = await work();
    return done === undefined ? undefined : { body: JSON.stringify(done) };
  });
  return answer && JSON.parse(answer.body);
}
