// The list of all objects that may exist, with their expiry. An object is recorded before it is
// created, so a crash leaves no object that is never removed.
import type { JobsContext } from '../context.ts';
import type { Transaction } from '../transaction.ts';

type StoredObjectTable = Pick<Transaction, 'stored_object'>;

/** Days until files expire. */
export const retentionDays = { upload: 8, finishedUpload: 7, unfinishedResult: 2, result: 30 } as const;

/** The time so many days from now; negative: before now. */
export const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000);

/** Records an object that is about to be created, or changes its expiry. */
export async function recordObject(db: StoredObjectTable, accountId: number, key: string, until: Date): Promise<void> {
  await db.stored_object.upsert({
    where: { key },
    create: { key, account_id: accountId, expires_at: until },
    update: { expires_at: until },
  });
}

/**
 * Removes expired objects; answers how many. If the store is unavailable, the next sweep tries
 * again.
 */
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
