// The storage quota of an account. Its files (uploads, spooled copies, rejected rows, exports)
// count from the moment bytes are reserved for them until they are removed. One lock per account
// serializes reservations, so concurrent calls cannot exceed the limit.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from '../context.ts';
import { openImportStates } from '../states/import-states.ts';
import { lockAccount, type Transaction, transact } from '../transaction.ts';
import type { PutOptions, StoredObject } from './object-store/object-store.ts';

/**
 * The account that stores a file. A call brings the limit of its account; background work uses the
 * limit that was saved last.
 */
export type StorageOwner = Pick<CallContext, 'accountId' | 'storageBytes'>;

type StorageContext = Pick<JobsContext, 'prisma' | 'store'>;

/**
 * Bytes that a file of unknown size reserves ahead of those that have arrived, or all that are free
 * if they are fewer.
 */
const reserveAheadBytes = 8 * 1024 ** 2;

/**
 * Saves the limit that a call brings, even if the call is refused: uploads by URL and background
 * work use it.
 */
export async function saveLimit({ prisma }: Pick<JobsContext, 'prisma'>, owner: StorageOwner): Promise<void> {
  if (owner.storageBytes === undefined) return;
  await prismaSql(prisma)(
    `insert into account_storage (account_id, limit_bytes) values ($1::int, $2::bigint)
     on conflict (account_id) do update set limit_bytes = excluded.limit_bytes, told_at = now()
     where account_storage.limit_bytes <> excluded.limit_bytes`,
    [owner.accountId, owner.storageBytes],
  );
}

/** Throws 422 when the account has no free storage. */
export async function requireFreeStorage(tx: Transaction, owner: StorageOwner): Promise<void> {
  const { used, limit } = await readStorage(tx, owner);
  if (used >= limit) throw await storageFull(tx, owner, { used, limit });
}

/**
 * How many bytes the account may still store, plus those that count for `key`; undefined while no
 * limit is known.
 */
export async function readFreeBytes(ctx: Pick<JobsContext, 'prisma'>, owner: StorageOwner, key: string) {
  return transact(ctx, async (tx) => {
    const { used, limit } = await readStorage(tx, owner);
    if (limit === Number.POSITIVE_INFINITY) return undefined;
    return Math.max(limit - used, 0) + (await bytesOf(tx, owner, key));
  });
}

/**
 * Lets a recorded object count with at least `least` bytes, or up to `most` if they fit; answers
 * the number, which never decreases. Throws 422 when `least` does not fit.
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
  if (least > own && least > fitting) throw await storageFull(tx, owner, { used, limit, wanted: least - own });
  const reserved = Math.max(own, Math.min(most, fitting));
  if (reserved > own) await setCountedBytes(tx, owner, key, reserved);
  return reserved;
}

type StoreOptions = PutOptions & { declaredBytes?: number | undefined };

/**
 * Stores a recorded object within the free storage of the account. Bytes are reserved as they
 * arrive, those of a declared size in advance. When they do not fit, throws 422 and stores nothing.
 */
export async function putWithinLimit(
  ctx: StorageContext,
  owner: StorageOwner,
  key: string,
  source: AsyncIterable<Uint8Array>,
  { declaredBytes = 0, ...options }: StoreOptions,
): Promise<StoredObject> {
  // Refused when the first byte is read.
  const declared = declaredBytes > options.maxBytes ? 0 : declaredBytes;
  const before = await bytesOf(ctx.prisma, owner, key);
  const reserve = (least: number, most: number) => transact(ctx, (tx) => reserveBytes(tx, owner, key, { least, most }));
  let stored: StoredObject;
  try {
    let reserved = await reserve(Math.max(declared, 1), declared || reserveAheadBytes);
    const counted = async function* () {
      let total = 0;
      for await (const chunk of source) {
        total += chunk.length;
        if (total > reserved) reserved = await reserve(total, total + reserveAheadBytes);
        yield chunk;
      }
    };
    stored = await ctx.store.put(key, counted(), options);
  } catch (error) {
    // The reservation then stays until the object expires.
    await recountBytes(ctx, owner, key, before).catch(() => {});
    throw error;
  }
  await setCountedBytes(ctx.prisma, owner, key, stored.size);
  return stored;
}

// The key may hold another file, stored earlier or at the same time.
async function recountBytes(ctx: StorageContext, owner: StorageOwner, key: string, before: number): Promise<void> {
  const found = await ctx.store.stat(key);
  await setCountedBytes(ctx.prisma, owner, key, Math.max(before, found?.size ?? 0));
}

/** Moves a reservation from one object to another. */
export async function transferReservation(
  ctx: Pick<JobsContext, 'prisma'>,
  owner: StorageOwner,
  from: string,
  to: string,
): Promise<void> {
  await transact(ctx, async (tx) => {
    await lockAccount(tx, owner.accountId, 'storage');
    const passed = await bytesOf(tx, owner, from);
    await setCountedBytes(tx, owner, from, 0);
    await setCountedBytes(tx, owner, to, (await bytesOf(tx, owner, to)) + passed);
  });
}

/**
 * Removes objects before they expire and lets them count no bytes. Their records stay until then,
 * since links may still write to them. An object that cannot be removed now counts until it is
 * swept.
 */
export async function releaseObjects(
  ctx: StorageContext & Pick<JobsContext, 'logger'>,
  owner: StorageOwner,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys)
    try {
      await ctx.store.remove(key);
      await setCountedBytes(ctx.prisma, owner, key, 0);
    } catch (error) {
      ctx.logger.warn({ err: error }, 'an object could not be removed now; it will be swept');
    }
}

/**
 * Removes what earlier runs of this work stored or reserved, since they can no longer commit. Keeps
 * the object that a row still names.
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

type StoredObjectTable = Pick<Transaction, 'stored_object'>;

async function bytesOf(db: StoredObjectTable, { accountId }: StorageOwner, key: string): Promise<number> {
  const noted = await db.stored_object.findFirst({ where: { key, account_id: accountId }, select: { bytes: true } });
  return Number(noted?.bytes ?? 0);
}

/** Sets the number of bytes that an object counts with, stored or reserved. */
export async function setCountedBytes(
  db: StoredObjectTable,
  { accountId }: StorageOwner,
  key: string,
  bytes: number,
): Promise<void> {
  await db.stored_object.updateMany({ where: { key, account_id: accountId }, data: { bytes } });
}

type Storage = { used: number; limit: number };

// Holds the account's lock until the transaction ends.
async function readStorage(tx: Transaction, owner: StorageOwner): Promise<Storage> {
  await lockAccount(tx, owner.accountId, 'storage');
  const limit = await readLimit(tx, owner);
  const where = { account_id: owner.accountId };
  const { _sum } = await tx.stored_object.aggregate({ where, _sum: { bytes: true } });
  return { used: Number(_sum.bytes ?? 0), limit };
}

// Gateways of the previous release send no limit; until one is known, nothing is refused.
async function readLimit(tx: Transaction, { accountId, storageBytes }: StorageOwner): Promise<number> {
  if (storageBytes !== undefined) return storageBytes;
  const known = await tx.account_storage.findFirst({ where: { account_id: accountId } });
  return Number(known?.limit_bytes ?? Number.POSITIVE_INFINITY);
}

async function storageFull(
  tx: Transaction,
  owner: StorageOwner,
  { used, limit, wanted }: Storage & { wanted?: number },
) {
  const day = await nextExpiryDay(tx, owner);
  const more = wanted === undefined ? 'and nothing more fits' : `and ${formatBytes(wanted)} more do not fit`;
  const wait = day === undefined ? '' : ` wait until ${day}, after which the next older file is removed,`;
  return validationFailed({
    code: 'limit_reached',
    message:
      `The files of the account take ${formatBytes(used)} of the ${formatBytes(limit)} that its plan allows, ${more}. ` +
      `Cancel imports or exports that have not ended,${wait} or ask for a larger plan.`,
    params: { maximum: limit, used },
  });
}

// Files of open imports do not expire while the import is open.
async function nextExpiryDay(tx: Transaction, { accountId }: StorageOwner): Promise<string | undefined> {
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
 * A number of bytes for people: `12 bytes`, `99.5 GB`. Rounded down, so that nearly full storage
 * does not look full.
 */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} byte${bytes === 1 ? '' : 's'}`;
  let [value, unit] = [bytes / 1024, 0];
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${Math.floor(value * 100) / 100} ${units[unit]}`;
}
