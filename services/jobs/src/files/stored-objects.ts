// The list of all objects that may exist, with the time until which each is kept. An object is noted before it can come into
// being, so that nothing is left behind whatever dies when.
import type { JobsContext } from '../context.ts';
import type { Transaction } from '../transaction.ts';

type Noting = Pick<Transaction, 'stored_object'>;

/** Days that files are kept. */
export const keepDays = { upload: 8, finishedUpload: 7, unfinishedResult: 2, result: 30 } as const;

export const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

/** Notes an object that is about to be made, or changes how long it is kept. */
export async function keepObject(db: Noting, accountId: number, key: string, until: Date): Promise<void> {
  await db.stored_object.upsert({
    where: { key },
    create: { key, account_id: accountId, expires_at: until },
    update: { expires_at: until },
  });
}

/** Removes objects whose time is over; answers how many. A store that is away is asked again at the next sweep. */
export async function sweepObjects(ctx: Pick<JobsContext, 'prisma' | 'store'>, batch = 100): Promise<number> {
  let removed = 0;
  for (;;) {
    const expired = await ctx.prisma.stored_object.findMany({
      where: { expires_at: { lt: new Date() } },
      orderBy: { expires_at: 'asc' },
      take: batch,
    });
    for (const { key } of expired) await ctx.store.remove(key);
    await ctx.prisma.stored_object.deleteMany({
      where: { key: { in: expired.map(({ key }) => key) }, expires_at: { lt: new Date() } },
    });
    removed += expired.length;
    if (expired.length < batch) return removed;
  }
}
