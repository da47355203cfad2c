// The storage of an account: its files (uploads, copies made while reading, rejected rows, exports)
// count from the moment that room is reserved for them until they are removed. Room is reserved
// under one lock per account, so that calls at the same time never exceed the limit together.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from '../context.ts';
import { openImportStates } from '../states/import-states.ts';
import { lockAccount, type Transaction, transact } from '../transaction.ts';
import type { PutOptions, StoredObject } from './object-store/object-store.ts';

/**
 * Whose storage it is; a call tells the limit of its account, work in the background goes by what
 * was told last.
 */
export type StorageOwner = Pick<CallContext, 'accountId' | 'storageBytes'>;

type StorageContext = Pick<JobsContext, 'prisma' | 'store'>;

/**
 * A file whose size is not known reserves so much ahead of what has come, or what is left if that
 * is less.
 */
const aheadBytes = 8 * 1024 ** 2;

/**
 * Remembers the limit that a call tells, also where the call is refused then: for uploads by URL
 * and work in the background.
 */
export async function rememberLimit({ prisma }: Pick<JobsContext, 'prisma'>, owner: StorageOwner): Promise<void> {
  if (owner.storageBytes === undefined) return;
  await prismaSql(prisma)(
    `insert into account_storage (account_id, limit_bytes) values ($1::int, $2::bigint)
     on conflict (account_id) do update set limit_bytes = excluded.limit_bytes, told_at = now()
     where account_storage.limit_bytes <> excluded.limit_bytes`,
    [owner.accountId, owner.storageBytes],
  );
}

/** Throws 422 when the account has no room left. */
export async function requireRoom(tx: Transaction, owner: StorageOwner): Promise<void> {
  const { used, limit } = await readStorage(tx, owner);
  if (used >= limit) throw await refusal(tx, owner, { used, limit });
}

/**
 * How many bytes the account may keep beside what it has, and what an object has that it stands for;
 * undefined while no limit was told.
 */
export async function readRoom(ctx: Pick<JobsContext, 'prisma'>, owner: StorageOwner, key: string) {
  return transact(ctx, async (tx) => {
    const { used, limit } = await readStorage(tx, owner);
    if (limit === Number.POSITIVE_INFINITY) return undefined;
    return Math.max(limit - used, 0) + (await bytesOf(tx, owner, key));
  });
}

/**
 * Has a noted object count with at least `least` bytes, or up to `most` if they fit, and answers
 * with how many it does. Never fewer than before. Throws 422 when there is no room for the least.
 */
export async function reserveBytes(
  tx: Transaction,
  owner: StorageOwner,
  key: string,
  { least, most = least }: { least: number; most?: number },
): Promise<number> {
  const { used, limit } = await readStorage(tx, owner);
  const own = await bytesOf(tx, owner, key);
  const fitting = Math.max(limit - used, 0) + own;
  if (least > own && least > fitting) throw await refusal(tx, owner, { used, limit, wanted: least - own });
  const reserved = Math.max(own, Math.min(most, fitting));
  if (reserved > own) await countBytes(tx, owner, key, reserved);
  return reserved;
}

type Writing = PutOptions & { declaredBytes?: number | undefined };

/**
 * Stores an object that is noted, within what the account has left: room for it is reserved as its
 * bytes come, that for a declared size before. Throws 422 and leaves nothing when there is no more.
 */
export async function putCounted(
  ctx: StorageContext,
  owner: StorageOwner,
  key: string,
  source: AsyncIterable<Uint8Array>,
  { declaredBytes = 0, ...options }: Writing,
): Promise<StoredObject> {
  const declared = declaredBytes > options.maxBytes ? 0 : declaredBytes; // refused when the first byte is read
  const before = await bytesOf(ctx.prisma, owner, key);
  const reserve = (least: number, most: number) => transact(ctx, (tx) => reserveBytes(tx, owner, key, { least, most }));
  let stored: StoredObject;
  try {
    let reserved = await reserve(Math.max(declared, 1), declared || aheadBytes);
    const counted = async function* () {
      let total = 0;
      for await (const chunk of source) {
        total += chunk.length;
        if (total > reserved) reserved = await reserve(total, total + aheadBytes);
        yield chunk;
      }
    };
    stored = await ctx.store.put(key, counted(), options);
  } catch (error) {
    await recount(ctx, owner, key, before).catch(() => {}); // counts for more than there is until its time is over
    throw error;
  }
  await countBytes(ctx.prisma, owner, key, stored.size);
  return stored;
}

// Another file may lie there, from before or come at the same time.
async function recount(ctx: StorageContext, owner: StorageOwner, key: string, before: number): Promise<void> {
  const found = await ctx.store.stat(key);
  await countBytes(ctx.prisma, owner, key, Math.max(before, found?.size ?? 0));
}

/** Has what was reserved for one object count for another. */
export async function passBytesOn(
  ctx: Pick<JobsContext, 'prisma'>,
  owner: StorageOwner,
  from: string,
  to: string,
): Promise<void> {
  await transact(ctx, async (tx) => {
    await lockAccount(tx, owner.accountId, 'storage');
    const passed = await bytesOf(tx, owner, from);
    await countBytes(tx, owner, from, 0);
    await countBytes(tx, owner, to, (await bytesOf(tx, owner, to)) + passed);
  });
}

/**
 * Removes objects before their time and has them count no more. Their notes stay until then: links
 * to some may still be written to. What can't be removed now counts until it is swept.
 */
export async function releaseObjects(
  ctx: StorageContext & Pick<JobsContext, 'logger'>,
  owner: StorageOwner,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys)
    try {
      await ctx.store.remove(key);
      await countBytes(ctx.prisma, owner, key, 0);
    } catch (error) {
      ctx.logger.warn({ err: error }, 'an object could not be removed now; it will be swept');
    }
}

/**
 * Removes what earlier runs of the work, which can't end well any more, have written or reserved;
 * not what a row still names.
 */
export async function releaseEarlierRuns(
  ctx: StorageContext & Pick<JobsContext, 'logger'>,
  owner: StorageOwner,
  key: string,
  named: string | null = null,
): Promise<void> {
  const earlier = await ctx.prisma.stored_object.findMany({
    where: {
      account_id: owner.accountId,
      key: { startsWith: key.replace(/[0-9a-f]{32}$/, ''), notIn: named === null ? [key] : [key, named] },
      bytes: { gt: 0 },
    },
    select: { key: true },
  });
  await releaseObjects(
    ctx,
    owner,
    earlier.map((each) => each.key),
  );
}

type Counting = Pick<Transaction, 'stored_object'>;

async function bytesOf(db: Counting, { accountId }: StorageOwner, key: string): Promise<number> {
  const noted = await db.stored_object.findFirst({ where: { key, account_id: accountId }, select: { bytes: true } });
  return Number(noted?.bytes ?? 0);
}

/** Has an object count with so many bytes, which are there or were reserved. */
export async function countBytes(db: Counting, { accountId }: StorageOwner, key: string, bytes: number): Promise<void> {
  await db.stored_object.updateMany({ where: { key, account_id: accountId }, data: { bytes } });
}

type Storage = { used: number; limit: number };

// Others wait until the transaction ends.
async function readStorage(tx: Transaction, owner: StorageOwner): Promise<Storage> {
  await lockAccount(tx, owner.accountId, 'storage');
  const limit = await readLimit(tx, owner);
  const where = { account_id: owner.accountId };
  const { _sum } = await tx.stored_object.aggregate({ where, _sum: { bytes: true } });
  return { used: Number(_sum.bytes ?? 0), limit };
}

// No limit has been told while gateways of the last release run: then nothing is refused, as
// before.
async function readLimit(tx: Transaction, { accountId, storageBytes }: StorageOwner): Promise<number> {
  if (storageBytes !== undefined) return storageBytes;
  const known = await tx.account_storage.findFirst({ where: { account_id: accountId } });
  return Number(known?.limit_bytes ?? Number.POSITIVE_INFINITY);
}

async function refusal(tx: Transaction, owner: StorageOwner, { used, limit, wanted }: Storage & { wanted?: number }) {
  const day = await nextRemoval(tx, owner);
  const more = wanted === undefined ? 'and nothing more fits' : `and ${inWords(wanted)} more do not fit`;
  const wait = day === undefined ? '' : ` wait until ${day}, after which the next older file is removed,`;
  return validationFailed(
    `The files of the account take ${inWords(used)} of the ${inWords(limit)} that its plan allows, ${more}. ` +
      `Cancel imports or exports that have not ended,${wait} or ask for a larger plan.`,
  );
}

// The files of open imports stay for as long as those do.
async function nextRemoval(tx: Transaction, { accountId }: StorageOwner): Promise<string | undefined> {
  const { rows } = await prismaSql(tx)(
    `select min(o.expires_at) as at from stored_object o
     where o.account_id = $1::int and o.bytes > 0 and not exists (
       select from import_table t join data_import i on i.id = t.import_id
       where o.key like t.object_key || '%' and t.account_id = o.account_id and i.status = any($2::text[])
     )`,
    [accountId, openImportStates],
  );
  return (rows[0]?.at as Date | null)?.toISOString().slice(0, 10);
}

const units = ['KB', 'MB', 'GB', 'TB'];

/**
 * A number of bytes for people: `12 bytes`, `99.5 GB`; rounded down, so that what is nearly full
 * does not look full.
 */
export function inWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} byte${bytes === 1 ? '' : 's'}`;
  let [value, unit] = [bytes / 1024, 0];
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${Math.floor(value * 100) / 100} ${units[unit]}`;
}
