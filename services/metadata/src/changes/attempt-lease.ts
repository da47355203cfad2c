// The lease of whoever applies a deployment or merges the rows of a promotion: while it holds, nobody else takes the attempt up.

import type { MetadataContext } from '../context.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Transaction } from '../transaction.ts';

const kinds = {
  deployment: { table: Prisma.raw('deployment'), status: 'deploying' },
  promotion: { table: Prisma.raw('promotion'), status: 'promoting' },
};
type Kind = keyof typeof kinds;
type Attempt = { id: number; number: number };

/** Holds the attempt for another lease; does nothing when it is over or another one has begun. */
export async function renewLease(
  client: Pick<Transaction, '$executeRaw'>,
  ctx: MetadataContext,
  kind: Kind,
  { id, number }: Attempt,
): Promise<void> {
  const { table, status } = kinds[kind];
  await client.$executeRaw`
    update ${table} set lease_until = now() + make_interval(secs => ${ctx.timing.leaseMs / 1000}::float8)
    where id = ${id} and attempt = ${number} and status = ${status}`;
}

/** Whoever comes next need not wait for the rest of a lease that nobody uses, but for so many seconds. */
export async function releaseLease(
  ctx: MetadataContext,
  kind: Kind,
  { id, number }: Attempt,
  seconds: number,
): Promise<void> {
  const { table, status } = kinds[kind];
  await ctx.prisma.$executeRaw`
    update ${table} set lease_until = least(lease_until, now() + make_interval(secs => ${seconds}::float8))
    where id = ${id} and attempt = ${number} and status = ${status}`;
}

/** Extends the lease until the answer is called. */
export function holdLease(ctx: MetadataContext, kind: Kind, attempt: Attempt): () => void {
  const timer = setInterval(() => {
    renewLease(ctx.prisma, ctx, kind, attempt).catch((error) =>
      ctx.logger.warn({ err: error, [`${kind}_id`]: attempt.id }, 'a lease could not be extended'),
    );
  }, ctx.timing.leaseMs / 3);
  timer.unref();
  return () => clearInterval(timer);
}
