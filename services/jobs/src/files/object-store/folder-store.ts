// The folder store: one file per object, written aside and renamed into place, so that readers only
// see complete files.
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { signFileUrl } from './file-urls.ts';
import {
  limitBytes,
  ObjectChanged,
  type ObjectStore,
  type Range,
  requireKey,
  type StoredObject,
  storeUnavailable,
} from './object-store.ts';

export type FolderStore = ObjectStore & {
  kind: 'file';
  secret: Uint8Array;
  /** The path of an object's file, for the server of pre-signed URLs. */
  pathOf(key: string): string;
};

type FolderStoreOptions = { folder: string; publicUrl: string; secret: Uint8Array };

type Stats = { size: bigint; ino: bigint; mtimeNs: bigint };
// A replaced file has another inode; time and size distinguish reused inodes.
const toStoredObject = ({ size, ino, mtimeNs }: Stats): StoredObject => ({
  size: Number(size),
  etag: `${size.toString(16)}-${ino.toString(16)}-${mtimeNs.toString(16)}`,
});

const isMissing = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException)?.code ?? '');
const isDiskFault = (error: unknown) => typeof (error as NodeJS.ErrnoException)?.errno === 'number';
// Other errors are those of the source, such as a database that is away, and stay as they are.
const asStoreError = (error: unknown) => (isDiskFault(error) ? storeUnavailable(error) : error);

/** A store in a folder of this machine (or a shared volume). */
export function createFolderStore({ folder, publicUrl, secret }: FolderStoreOptions): FolderStore {
  const objects = join(folder, 'objects');
  const unfinished = join(folder, 'unfinished');
  const pathOf = (key: string) => join(objects, requireKey(key));

  const put: ObjectStore['put'] = async (key, source, { maxBytes, signal }) => {
    const path = pathOf(key);
    const draft = join(unfinished, randomBytes(16).toString('hex'));
    try {
      await mkdir(unfinished, { recursive: true });
      // Opened first: a sender that disconnects at once must not trigger the clean-up before the
      // file exists.
      const file = await open(draft, 'wx', 0o600);
      const flusher = createFlusher(file);
      const limited = limitBytes(source, maxBytes, flusher.written);
      await pipeline(limited, file.createWriteStream({ flush: true }), { signal });
      await flusher.all();
      const stored = toStoredObject(await stat(draft, { bigint: true }));
      await moveInto(draft, path);
      return stored;
    } catch (error) {
      await rm(draft, { force: true });
      throw asStoreError(error);
    }
  };

  return {
    kind: 'file',
    secret,
    pathOf,
    put,
    start: async () => {
      await mkdir(objects, { recursive: true, mode: 0o700 });
      await mkdir(unfinished, { recursive: true, mode: 0o700 });
    },
    stop: () => {},
    stat: async (key) => {
      try {
        return toStoredObject(await stat(pathOf(key), { bigint: true }));
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw asStoreError(error);
      }
    },
    read: (key, etag, range) => readPinned(pathOf(key), etag, range),
    remove: async (key) => {
      await rm(pathOf(key), { force: true });
      await removeEmptyFolders(dirname(pathOf(key)), objects);
    },
    removeUnder: async (prefix) => {
      await rm(pathOf(prefix.replace(/\/$/, '')), { recursive: true, force: true });
    },
    presignPut: async (key, { expiresSeconds }) =>
      signFileUrl(publicUrl, { method: 'PUT', key: requireKey(key), expires: inSeconds(expiresSeconds) }, secret),
    presignGet: async (key, { expiresSeconds, fileName, contentType }) =>
      signFileUrl(
        publicUrl,
        {
          method: 'GET',
          key: requireKey(key),
          expires: inSeconds(expiresSeconds),
          name: fileName,
          type: contentType,
        },
        secret,
      ),
    sweep: async (olderThanSeconds) => {
      const before = Date.now() - olderThanSeconds * 1000;
      let removed = 0;
      for (const name of await readdir(unfinished).catch(() => [])) {
        const path = join(unfinished, name);
        const found = await stat(path).catch(() => undefined);
        if (!found || found.mtimeMs >= before) continue;
        await rm(path, { force: true });
        removed += 1;
      }
      return removed;
    },
  };
}

/** Small enough that the rest is flushed in a moment, large enough that flushing costs little. */
const flushEveryBytes = 16 * 1024 * 1024;

/**
 * Flushes what is written while more arrives, so that little is left to flush at the end of a large
 * file. Linux reports a failed write only once, so the last flush waits for all of them.
 */
function createFlusher(file: FileHandle) {
  let written = 0;
  let isFlushing = false;
  let flushed: Promise<unknown> = Promise.resolve();
  return {
    written: (bytes: number) => {
      written += bytes;
      if (isFlushing || written < flushEveryBytes) return;
      written = 0;
      isFlushing = true;
      const flush = file.datasync().finally(() => {
        isFlushing = false;
      });
      flushed = Promise.all([flushed, flush]);
      flushed.catch(() => {}); // thrown by `all`
    },
    all: () => flushed,
  };
}

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

// Removing the folder's last object may delete the folder between the two calls.
async function moveInto(draft: string, path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await mkdir(dirname(path), { recursive: true });
    try {
      await rename(draft, path);
      return;
    } catch (error) {
      if (!isMissing(error) || attempt >= 5) throw error;
    }
  }
}

// The check and the read use one open file: a file that replaces it is another inode.
async function readPinned(path: string, etag: string, range?: Range): Promise<AsyncIterable<Uint8Array>> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const found = toStoredObject(await file.stat({ bigint: true }));
    if (found.etag !== etag) throw new ObjectChanged();
    const part = range ? { start: range.start, end: range.end - 1 } : {};
    return createReadStream(path, { fd: file, highWaterMark: 256 * 1024, ...part });
  } catch (error) {
    await file?.close();
    if (error instanceof ObjectChanged || isMissing(error)) throw new ObjectChanged();
    throw asStoreError(error);
  }
}

async function removeEmptyFolders(from: string, root: string): Promise<void> {
  for (let folder = from; folder.length > root.length; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      return;
    }
  }
}
