// Unpacks gzip as a stream, and stops what unpacks to more than anybody sends.
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { limits } from '@almanac/service-kit/limits';
import { fileError } from './file-error.ts';

export type UnpackLimits = {
  /** Of the unpacked file. */
  maxBytes: number;
  /** How many times larger than its packed form a file may be, once it is larger than `ratioFrom` bytes. */
  maxRatio: number;
  ratioFrom: number;
};

export const unpackLimits: UnpackLimits = { maxBytes: limits.uploadBytes, maxRatio: 200, ratioFrom: 64 * 1024 * 1024 };

/** Throws when so much was unpacked from so little that it can only be meant to harm. */
export function refuseBomb(size: number, packed: number, allowed: UnpackLimits = unpackLimits): void {
  if (size > allowed.maxBytes) throw fileError(`The unpacked file is larger than ${allowed.maxBytes} bytes.`);
  if (size > allowed.ratioFrom && size > packed * allowed.maxRatio)
    throw fileError(`The file unpacks to more than ${allowed.maxRatio} times its size; send it unpacked.`);
}

/** The unpacked bytes; damaged or cut gzip is a file error. */
export async function* gunzip(
  source: AsyncIterable<Uint8Array>,
  allowed: UnpackLimits = unpackLimits,
): AsyncGenerator<Uint8Array> {
  let packed = 0;
  const counted = async function* () {
    for await (const chunk of source) {
      packed += chunk.length;
      yield chunk;
    }
  };
  const unpacking = createGunzip({ chunkSize: 256 * 1024 });
  pipeline(Readable.from(counted(), { objectMode: false }), unpacking, () => {});
  let size = 0;
  try {
    for await (const chunk of unpacking as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      refuseBomb(size, packed, allowed);
      yield chunk;
    }
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith('Z_'))
      throw fileError('The gzip file is damaged or cut short.', error);
    throw error;
  } finally {
    unpacking.destroy();
  }
}
