// Unpacks gzip as a stream, and stops at decompression bombs.
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { limits } from '@almanac/service-kit/limits';
import { fileError } from './file-error.ts';

export type UnpackLimits = {
  /** Of the unpacked file. */
  maxBytes: number;
  /**
   * The largest ratio of unpacked to packed size, for files that unpack to more than `ratioFrom`
   * bytes.
   */
  maxRatio: number;
  ratioFrom: number;
};

export const unpackLimits: UnpackLimits = { maxBytes: limits.uploadBytes, maxRatio: 200, ratioFrom: 64 * 1024 * 1024 };

/** Throws when the ratio is so large that the file can only be a bomb. */
export function rejectBomb(size: number, packed: number, allowed: UnpackLimits = unpackLimits): void {
  if (size > allowed.maxBytes) throw fileError(`The unpacked file is larger than ${allowed.maxBytes} bytes.`);
  if (size > allowed.ratioFrom && size > packed * allowed.maxRatio)
    throw fileError(`The file unpacks to more than ${allowed.maxRatio} times its size; send it unpacked.`);
}

/**
 * The unpacked bytes, of several members too. Gzip that is damaged, cut off or followed by anything
 * but zeros is a file error.
 */
export async function* gunzip(
  source: AsyncIterable<Uint8Array>,
  allowed: UnpackLimits = unpackLimits,
): AsyncGenerator<Uint8Array> {
  const packedBytes = source[Symbol.asyncIterator]();
  const unpacking = createGunzip({ chunkSize: 256 * 1024 });
  let packed = 0;
  let unread: Uint8Array[] = []; // the chunks that zlib may not have read to their end
  let unreadFrom = 0;
  const feed = async function* () {
    for (;;) {
      const next = await packedBytes.next();
      if (next.done) return;
      for (; unread[0] && unreadFrom + unread[0].length <= unpacking.bytesWritten; unread = unread.slice(1))
        unreadFrom += unread[0].length;
      unread.push(next.value);
      packed += next.value.length;
      yield next.value;
    }
  };
  const feeding = feed();
  pipeline(Readable.from(feeding, { objectMode: false }), unpacking, () => {});
  let size = 0;
  try {
    for await (const chunk of unpacking as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      rejectBomb(size, packed, allowed);
      yield chunk;
    }
    // zlib treats a zero byte as the end of the file, whatever follows.
    await feeding.return();
    requireZeros(Buffer.concat(unread).subarray(unpacking.bytesWritten - unreadFrom));
    for (let next = await packedBytes.next(); !next.done; next = await packedBytes.next()) requireZeros(next.value);
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith('Z_'))
      throw fileError('The gzip file is damaged or cut short.', error);
    throw error;
  } finally {
    unpacking.destroy();
    await packedBytes.return?.();
  }
}

function requireZeros(bytes: Uint8Array): void {
  if (bytes.some((byte) => byte !== 0)) throw fileError('The gzip file is damaged: it goes on after zero bytes.');
}
