// The file of an import table as a `FileSource`: the bytes pinned by upload_complete, which can be
// read repeatedly.
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { JobsContext } from '../../context.ts';
import { putWithinLimit } from '../../files/account-storage.ts';
import { newObjectKey, ObjectChanged, type Range, type StoredObject } from '../../files/object-store/object-store.ts';
import { daysFromNow, recordObject, retentionDays } from '../../files/stored-objects.ts';
import { fileError } from '../../formats/table-file/file-error.ts';
import type { FileSource } from '../../formats/table-file/table-file.ts';
import type { import_table } from '../../generated/prisma/client.ts';

/** Bytes of the file read so far. */
export type Progress = { bytes: number };

type StoreContext = Pick<JobsContext, 'store' | 'prisma'>;

/** `discardCopies` releases what was spooled besides the file itself. */
export type StoredFile = FileSource & { discardCopies(): Promise<void> };

/**
 * The uploaded file of the table. If its bytes are no longer the pinned ones, reading is a file
 * error.
 */
export function storedFile(
  ctx: StoreContext,
  table: import_table,
  progress: Progress,
  signal: AbortSignal,
): StoredFile {
  const spooled: string[] = [];
  const object = { size: Number(table.object_size), etag: table.object_etag as string };
  const spool = async (bytes: AsyncIterable<Uint8Array>): Promise<FileSource> => {
    const key = newObjectKey(table.account_id, 'imports', table.import_id);
    await recordObject(ctx.prisma, table.account_id, key, daysFromNow(retentionDays.unfinishedResult));
    spooled.push(key);
    const owner = { accountId: table.account_id };
    const stored = await putWithinLimit(ctx, owner, key, bytes, { maxBytes: limits.uploadBytes, signal });
    return sourceOf(ctx, key, stored, { spool, signal, progress: { bytes: 0 } });
  };
  return {
    ...sourceOf(ctx, table.object_key, object, { spool, signal, progress }),
    discardCopies: async () => {
      // Expired copies are removed by the sweeper.
      for (const key of spooled) await recordObject(ctx.prisma, table.account_id, key, new Date()).catch(() => {});
    },
  };
}

type ReadOptions = { spool: FileSource['spool']; signal: AbortSignal; progress: Progress };

function sourceOf(
  ctx: StoreContext,
  key: string,
  object: StoredObject,
  { spool, signal, progress }: ReadOptions,
): FileSource {
  async function* read(range?: Range): AsyncGenerator<Uint8Array> {
    const expected = range ? range.end - range.start : object.size;
    if (expected === 0) return; // stores refuse an empty range
    let seen = 0;
    // Reading the whole file again restarts the count. Ranges only add their size, since readers
    // often start with the end of a file.
    if (!range) progress.bytes = 0;
    for await (const chunk of await openPinned(ctx, key, object.etag, range)) {
      signal.throwIfAborted();
      seen += chunk.length;
      progress.bytes = Math.min(progress.bytes + chunk.length, object.size);
      yield chunk;
    }
    if (seen !== expected) throw new ServiceError('unavailable', 'The file could not be read to its end; try again.');
  }
  return { size: object.size, open: () => read(), range: (start, end) => read({ start, end }), spool };
}

async function openPinned(ctx: StoreContext, key: string, etag: string, range?: Range) {
  try {
    return await ctx.store.read(key, etag, range);
  } catch (error) {
    if (!(error instanceof ObjectChanged)) throw error;
    throw fileError(
      'The file was removed or replaced after upload_complete; the bytes that were checked are no longer there.',
    );
  }
}
