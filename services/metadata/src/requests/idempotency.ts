// POSTs with an Idempotency-Key. The transaction of a request keeps the id of what it made or
// changed; the same request again changes nothing and shows that resource in its present state.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { answerOnce, deleteAnswer, findAnswer } from '@almanac/service-kit/caller/idempotency';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { MetadataContext } from '../context.ts';
import { type Transaction, transact } from '../transaction.ts';

/** The header, for routes that take it. */
export const idempotencyKeyHeader = {
  'Idempotency-Key':
    'The same request again, within 24 hours, changes nothing and is answered with what the first one made or changed.',
};

/** Runs `work`, or shows the result of the earlier request with the same key. */
export async function idempotent<T>(
  ctx: MetadataContext,
  { keyed }: CallContext,
  work: () => Promise<T>,
  showResult: (id: number) => Promise<T>,
): Promise<T> {
  if (!keyed) return work();
  const find = () => findAnswer(prismaSql(ctx.prisma), keyed);
  const earlier = await find();
  if (earlier) return showResult(Number(earlier.body));
  try {
    return await work();
  } catch (error) {
    // A concurrent request with the key may have won, and left this one nothing to do.
    const concurrent = await find();
    if (concurrent) return showResult(Number(concurrent.body));
    throw error;
  }
}

/**
 * The transaction in which a call has its effect, within `idempotent`; a call has only one. With a
 * key it fails unless the call is the first. `idOf` names what was made or changed; undefined:
 * nothing was, so the request may be repeated.
 */
export function transactOnce<T>(
  ctx: MetadataContext,
  { keyed }: CallContext,
  work: (tx: Transaction) => Promise<T>,
  idOf: (made: T) => number | undefined,
): Promise<T> {
  if (!keyed) return transact(ctx, work);
  return transact(ctx, async (tx) => {
    const results: T[] = [];
    await answerOnce(prismaSql(tx), keyed, async () => {
      const made = await work(tx);
      results.push(made);
      const id = idOf(made);
      return id === undefined ? undefined : { body: String(id) };
    });
    // `idempotent` answers it.
    if (results.length === 0) throw new Error('another request with this Idempotency-Key was first');
    return results[0] as T;
  });
}

/** Releases the key of a call whose effect came to nothing, so that the call may be repeated. */
export async function releaseKey(ctx: MetadataContext, { keyed }: Pick<CallContext, 'keyed'>): Promise<void> {
  if (keyed) await deleteAnswer(prismaSql(ctx.prisma), keyed);
}
