// POSTs with an Idempotency-Key: the id of what one has made or changed is kept in the transaction that did it; the same request again
// changes nothing and is answered with that, as it is by then.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { answerOnce, deleteAnswer, findAnswer } from '@almanac/service-kit/caller/idempotency';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { Context } from './context.ts';
import { type Transaction, transact } from './transaction.ts';

/** The header, for routes that take it. */
export const repeatable = {
  'Idempotency-Key':
    'The same request again, within 24 hours, changes nothing and is answered with what the first one made or changed.',
};

/** Does what the call asks for, or answers `again` what an earlier one with its key has done. */
export async function once<T>(
  ctx: Context,
  { keyed }: CallContext,
  work: () => Promise<T>,
  again: (id: number) => Promise<T>,
): Promise<T> {
  if (!keyed) return work();
  const find = () => findAnswer(prismaSql(ctx.prisma), keyed);
  const kept = await find();
  if (kept) return again(Number(kept.body));
  try {
    return await work();
  } catch (error) {
    // The same request has come first meanwhile, and perhaps left nothing to do.
    const made = await find();
    if (made) return again(Number(made.body));
    throw error;
  }
}

/**
 * The transaction in which a call has its effect; with a key, nothing happens unless it is the first. `idOf` names what was made or
 * changed; undefined: nothing that must not happen again. A call has one such transaction, within `once`.
 */
export function transactOnce<T>(
  ctx: Context,
  { keyed }: CallContext,
  work: (tx: Transaction) => Promise<T>,
  idOf: (made: T) => number | undefined,
): Promise<T> {
  if (!keyed) return transact(ctx, work);
  return transact(ctx, async (tx) => {
    const done: T[] = [];
    await answerOnce(prismaSql(tx), keyed, async () => {
      const made = await work(tx);
      done.push(made);
      const id = idOf(made);
      return id === undefined ? undefined : { body: String(id) };
    });
    if (done.length === 0) throw new Error('another request with this Idempotency-Key was first'); // `once` answers it
    return done[0] as T;
  });
}

/** Lets a call be made again: what its transaction had begun has come to nothing. */
export async function undoOnce(ctx: Context, { keyed }: Pick<CallContext, 'keyed'>): Promise<void> {
  if (keyed) await deleteAnswer(prismaSql(ctx.prisma), keyed);
}
