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
 * Removes expired objects; answers how many. Those that can't be removed are left to the next
 * sweep. A page without any success ends this one: the store is probably unavailable.
 */
export async function sweepObjects(
  ctx: Pick<JobsContext, 'prisma' | 'store' | 'logger'>,
  batch = 100,
): Promise<number> {
  const expired = { expires_at: { lt: new Date() } };
  let after = {};
  let removed = 0;
  for (;;) {
    const page = await ctx.prisma.stored_object.findMany({
      where: { ...expired, ...after },
      orderBy: [{ expires_at: 'asc' }, { key: 'asc' }],
      take: batch,
    });
    const keys = await removeObjects(
      ctx,
      page.map(({ key }) => key),
    );
    await ctx.prisma.stored_object.deleteMany({ where: { key: { in: keys }, ...expired } });
    removed += keys.length;
    const last = page.at(-1);
    if (!last || page.length < batch || keys.length === 0) return removed;
    after = { OR: [{ expires_at: { gt: last.expires_at } }, { expires_at: last.expires_at, key: { gt: last.key } }] };
  }
}

/** Answers the keys of those that were removed. */
async function removeObjects({ store, logger }: Pick<JobsContext, 'store' | 'logger'>, keys: string[]) {
  const removed: string[] = [];
  for (const key of keys)
    try {
      await store.remove(key);
      removed.push(key);
    } catch (error) {
      logger.warn({ err: error, key }, 'an expired object could not be removed; the next sweep tries again');
    }
  return removed;
}
