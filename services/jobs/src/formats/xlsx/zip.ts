// Reads a ZIP archive in the object store: its directory, then single entries as streams. Nothing
// is written to disk, so names are harmless; an entry that unpacks to more than declared, or far
// beyond the upload, is stopped.
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { ServiceError } from '@almanac/service-kit/errors';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { fileError } from '../table-file/file-error.ts';
import { rejectBomb } from '../table-file/gunzip.ts';
import type { FileSource } from '../table-file/table-file.ts';

/** Names are compared without regard to case, like those of package parts. */
export type Zip = {
  has(name: string): boolean;
  /** The unpacked bytes of an existing entry; damage may show only at the end. */
  read(name: string): AsyncGenerator<Uint8Array>;
};

const maxEntries = 1000;
const tailBytes = 128 * 1024;

const damaged = (cause?: unknown) => fileError('The workbook is damaged or cut short.', cause);

/** Reads the directory. An incomplete or oversized archive is a file error. */
export async function openZip(source: FileSource): Promise<Zip> {
  const reader = new SourceReader(source);
  const entries = new Map<string, Entry>();
  let zip: ZipFile;
  try {
    await reader.begin();
    zip = await yauzl.fromRandomAccessReaderPromise(reader, source.size, { autoClose: false });
    if (zip.entryCount > maxEntries)
      throw fileError(`The file holds ${zip.entryCount} entries; a workbook has at most ${maxEntries}.`);
    for await (const entry of zip.eachEntry()) {
      if (entry.isEncrypted()) throw fileError('The workbook is protected by a password; save it without.');
      entries.set(entry.fileName.toLowerCase(), entry);
    }
  } catch (error) {
    throw reader.explain(error);
  }
  return {
    has: (name) => entries.has(name.toLowerCase()),
    read: async function* (name) {
      const entry = entries.get(name.toLowerCase()) as Entry;
      let size = 0;
      let sum = 0;
      try {
        const stream = await zip.openReadStreamPromise(entry);
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          size += chunk.length;
          rejectBomb(size, entry.compressedSize);
          sum = crc32(chunk, sum);
          yield chunk;
        }
        // The library compares sizes only.
        if (sum !== entry.crc32) throw damaged();
      } catch (error) {
        throw reader.explain(error);
      }
    },
  };
}

// The end of the archive, which contains the directory, is read at once, so its many small parts
// cost no further reads.
class SourceReader extends yauzl.RandomAccessReader {
  private readonly source: FileSource;
  private readonly tailAt: number;
  private tail: Buffer = Buffer.alloc(0);
  private failure: unknown;

  constructor(source: FileSource) {
    super();
    this.source = source;
    this.tailAt = Math.max(0, source.size - tailBytes);
  }

  async begin(): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.bytes(this.tailAt, this.source.size)) chunks.push(chunk);
    this.tail = Buffer.concat(chunks);
  }

  override _readStreamForRange(start: number, end: number): Readable {
    if (start >= this.tailAt && this.tail.length > 0)
      return Readable.from([this.tail.subarray(start - this.tailAt, end - this.tailAt)], { objectMode: false });
    return Readable.from(this.bytes(start, end), { objectMode: false });
  }

  /** Failures of the store stay as they are; any other error is the file's fault. */
  explain(error: unknown): unknown {
    if (this.failure !== undefined) return this.failure;
    if (error instanceof ServiceError) return error;
    return damaged(error);
  }

  private async *bytes(start: number, end: number): AsyncGenerator<Uint8Array> {
    if (start >= end) return;
    try {
      yield* this.source.range(start, Math.min(end, this.source.size));
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}
