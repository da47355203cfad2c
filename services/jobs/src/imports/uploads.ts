// Where the file of an import table lies. The pre-signed URL writes to one place as often as its holder likes; each file that comes
// through the API has a place of its own, whose key is that of the URL and a part more. What is found at the URL's place came last:
// the API removes what it replaces there, so that no clock has to tell which of two files is the newest.
import { randomBytes } from 'node:crypto';
import { ServiceError } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from '../context.ts';
import type { StoredObject } from '../files/object-store/object-store.ts';
import { keepDays } from '../files/stored-objects.ts';
import { finishedTableStates, openImportStates } from '../states/import-states.ts';

// Read by PostgreSQL too.
const partMore = '(?<=-[0-9a-f]{32})-[0-9a-f]{32}$';

/** The key of the pre-signed URL, told by the key of any file of the table. */
export const urlKeyOf = (objectKey: string): string => objectKey.replace(new RegExp(partMore), '');

/** A new key for a file that comes through the API. */
export const newKeyBeside = (objectKey: string): string => `${urlKeyOf(objectKey)}-${randomBytes(16).toString('hex')}`;

const importOf = /^accounts\/(\d+)\/imports\/(\d+)-/;

/** Whose file lies at the place of a pre-signed URL. */
export const accountOf = (urlKey: string) => ({ accountId: Number(importOf.exec(urlKey)?.[1]) });

/** Throws 422 when the import table of a pre-signed URL takes no more files: its URL outlives a cancellation. */
export async function requireOpenUpload({ prisma }: Pick<JobsContext, 'prisma'>, urlKey: string): Promise<void> {
  const [, accountId, importId] = importOf.exec(urlKey) ?? [];
  const tables = await prisma.import_table.findMany({
    where: { account_id: Number(accountId), import_id: Number(importId) },
    select: { object_key: true, status: true },
  });
  const table = tables.find(({ object_key }) => urlKeyOf(object_key) === urlKey);
  if (!table || finishedTableStates.some((state) => state === table.status))
    throw new ServiceError(
      'wrong_state',
      'The import of this file has ended and takes no more files; begin another one.',
    );
}

export type Uploaded = { key: string; file: StoredObject | undefined };

/** The newest file of the table, whichever way it came. */
export async function findUploaded({ store }: Pick<JobsContext, 'store'>, objectKey: string): Promise<Uploaded> {
  const urlKey = urlKeyOf(objectKey);
  const later = urlKey === objectKey ? undefined : await store.stat(urlKey);
  return later ? { key: urlKey, file: later } : { key: objectKey, file: await store.stat(objectKey) };
}

/**
 * Empties the URL's place for a newer file, as the last act of the transaction that notes it; the caller holds the import. The older of two
 * files goes first: wherever this breaks off, what is found afterwards is the newest that was there, or nothing.
 */
export async function removeReplaced({ store }: Pick<JobsContext, 'store'>, objectKey: string): Promise<void> {
  const urlKey = urlKeyOf(objectKey);
  if (!(await store.stat(urlKey))) return;
  if (objectKey !== urlKey) await store.remove(objectKey);
  await store.remove(urlKey);
}

/**
 * Counts the files that came straight to an object store by pre-signed URL and wait for
 * upload_complete; asked at every sweep.
 */
export async function countUploads({ prisma, store }: Pick<JobsContext, 'prisma' | 'store'>): Promise<void> {
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

/** Prolongs the notes of the files of open imports, however long they stay open or their tables wait; asked before every sweep. */
export async function keepOpenUploads({ prisma }: Pick<JobsContext, 'prisma'>): Promise<void> {
  await prismaSql(prisma)(
    `update stored_object o set expires_at = now() + make_interval(days => $1::int)
     from data_import i join import_table t on t.import_id = i.id
     where i.status = any($2::text[]) and o.key in (t.object_key, regexp_replace(t.object_key, $3, ''))
       and o.expires_at < now() + interval '1 day'`,
    [keepDays.upload, openImportStates, partMore],
  );
}
