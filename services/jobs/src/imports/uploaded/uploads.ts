// Object keys of an import table's files. Uploads by pre-signed URL overwrite one key; each file
// sent through the API gets a key of its own, the URL's key plus a suffix. A file at the URL's key
// is always the newest, because a file sent through the API removes the one that it replaces. So no
// clock has to decide which file is newer.
import { randomBytes } from 'node:crypto';
import { ServiceError } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from '../../context.ts';
import type { StoredObject } from '../../files/object-store/object-store.ts';
import { retentionDays } from '../../files/stored-objects.ts';
import { finishedTableStates, openImportStates } from '../../states/import-states.ts';

// Also used as a PostgreSQL pattern.
const apiFileSuffix = '(?<=-[0-9a-f]{32})-[0-9a-f]{32}$';

/** The key of the pre-signed URL, derived from the key of any file of the table. */
export const urlKeyOf = (objectKey: string): string => objectKey.replace(new RegExp(apiFileSuffix), '');

/** A new key for a file sent through the API. */
export const newApiFileKey = (objectKey: string): string => `${urlKeyOf(objectKey)}-${randomBytes(16).toString('hex')}`;

const importOf = /^accounts\/(\d+)\/imports\/(\d+)-/;

/** The account whose file a pre-signed URL writes. */
export const accountOf = (urlKey: string) => ({ accountId: Number(importOf.exec(urlKey)?.[1]) });

/**
 * Throws 422 when the import table of a pre-signed URL accepts no more files: the URL outlives a
 * cancellation.
 */
export async function requireOpenUpload({ prisma }: Pick<JobsContext, 'prisma'>, urlKey: string): Promise<void> {
  const [, accountId, importId] = importOf.exec(urlKey) ?? [];
  const tables = await prisma.import_table.findMany({
    where: { account_id: Number(accountId), import_id: Number(importId) },
    select: { object_key: true, status: true },
  });
  const table = tables.find(({ object_key }) => urlKeyOf(object_key) === urlKey);
  if (!table || finishedTableStates.some((state) => state === table.status))
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: 'The import of this file has ended and takes no more files; begin another one.',
    });
}

export type UploadedFile = { key: string; file: StoredObject | undefined };

/** The newest file of the table, however it was uploaded. */
export async function findUploadedFile(
  { store }: Pick<JobsContext, 'store'>,
  objectKey: string,
): Promise<UploadedFile> {
  const urlKey = urlKeyOf(objectKey);
  const later = urlKey === objectKey ? undefined : await store.stat(urlKey);
  return later ? { key: urlKey, file: later } : { key: objectKey, file: await store.stat(objectKey) };
}

/**
 * Removes the files that a newer one replaces, as the last step of the transaction that records it;
 * the caller holds the lock of the import. The older of two files is removed first, so after a
 * failure at any point the newest remaining file is found, or none.
 */
export async function removeReplacedFiles({ store }: Pick<JobsContext, 'store'>, objectKey: string): Promise<void> {
  const urlKey = urlKeyOf(objectKey);
  if (!(await store.stat(urlKey))) return;
  if (objectKey !== urlKey) await store.remove(objectKey);
  await store.remove(urlKey);
}

/**
 * Counts the bytes of files uploaded by pre-signed URL that wait for upload_complete; called by
 * every sweep.
 */
export async function countUploadedBytes({ prisma, store }: Pick<JobsContext, 'prisma' | 'store'>): Promise<void> {
  const open = await prisma.import_table.findMany({
    where: { data_import: { status: { in: ['created', 'uploading'] } } },
    select: { account_id: true, object_key: true },
  });
  for (const { account_id, object_key } of open) {
    const key = urlKeyOf(object_key);
    const file = await store.stat(key);
    if (!file) continue;
    await prisma.stored_object.updateMany({
      where: { key, account_id, bytes: { lt: file.size } },
      data: { bytes: file.size },
    });
  }
}

/**
 * Extends the expiry of the files of open imports, however long these stay open or queued; called
 * before every sweep.
 */
export async function extendOpenUploads({ prisma }: Pick<JobsContext, 'prisma'>): Promise<void> {
  await prismaSql(prisma)(
    `update stored_object o set expires_at = now() + make_interval(days => $1::int)
     from data_import i join import_table t on t.import_id = i.id
     where i.status = any($2::text[]) and o.key in (t.object_key, regexp_replace(t.object_key, $3, ''))
       and o.expires_at < now() + interval '1 day'`,
    [retentionDays.upload, openImportStates, apiFileSuffix],
  );
}
