// The file of an import table as readers of formats want it: the bytes that were pinned by upload_complete, as often as they like.
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { JobsContext } from '../context.ts';
import { putCounted } from '../files/account-storage.ts';
import { newObjectKey, ObjectChanged, type Range, type StoredObject } from '../files/object-store/object-store.ts';
import { inDays, keepDays, keepObject } from '../files/stored-objects.ts';
import { fileError } from '../formats/table-file/file-error.ts';
import type { FileSource } from '../formats/table-file/table-file.ts';
import type { import_table } from '../generated/prisma/client.ts';

/** How much of a file was read. */
export type Progress = { bytes: number };

type StoreContext = Pick<JobsContext, 'store' | 'prisma'>;

/** `forget` lets go of what was kept besides the file itself. */
export type StoredFile = FileSource & { forget(): Promise<void> };

/** The uploaded file of the table. Bytes that are no longer those that were pinned are a file error. */
export function storedFile(
  ctx: StoreContext,
  table: import_table,
  progress: Progress,
  signal: AbortSignal,
): StoredFile {
  const kept: string[] = [];
  const object = { size: Number(table.object_size), etag: table.object_etag as string };
  const keep = async (bytes: AsyncIterable<Uint8Array>): Promise<FileSource> => {
    const key = newObjectKey(table.account_id, 'imports', table.import_id);
    await keepObject(ctx.prisma, table.account_id, key, inDays(keepDays.unfinishedResult));
    kept.push(key);
    const owner = { accountId: table.account_id };
    const stored = await putCounted(ctx, owner, key, bytes, { maxBytes: limits.uploadBytes, signal });
    return sourceOf(ctx, key, stored, { keep, signal, progress: { bytes: 0 } });
  };
  return {
    ...sourceOf(ctx, table.object_key, object, { keep, signal, progress }),
    forget: async () => {
      // Whatever can't be removed now is swept when its time is over.
      for (const key of kept) await keepObject(ctx.prisma, table.account_id, key, new Date()).catch(() => {});
    },
  };
}

type Reading = { keep: FileSource['keep']; signal: AbortSignal; progress: Progress };

function sourceOf(
  ctx: StoreContext,
  key: string,
  object: StoredObject,
  { keep, signal, progress }: Reading,
): FileSource {
  async function* read(range?: Range): AsyncGenerator<Uint8Array> {
    const expected = range ? range.end - range.start : object.size;
    if (expected === 0) return; // no store knows a range of nothing
    let seen = 0;
    // Reading anew begins to count anew. Of parts only their size tells anything: the end of a file is often read first.
    if (!range) progress.bytes = 0;
    for await (const chunk of await openPinned(ctx, key, object.etag, range)) {
      signal.throwIfAborted();
      seen += chunk.length;
      progress.bytes = Math.min(progress.bytes + chunk.length, object.size);
      yield chunk;
    }
    if (seen !== expected) throw new ServiceError('unavailable', 'The file could not be read to its end; try again.');
  }
  return { size: object.size, open: () => read(), range: (start, end) => read({ start, end }), keep };
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
