// The store of files: one interface with two adapters, a folder (file://) and an S3 bucket (s3://).
// Readers see an object whole or not at all, and its etag changes when it is replaced.
import { randomBytes } from 'node:crypto';
import { ServiceError } from '@almanac/service-kit/errors';

export type StoredObject = { size: number; etag: string };

/** From one byte up to, not including, another; at least one byte, within the object. */
export type Range = { start: number; end: number };

export type Download = { expiresSeconds: number; fileName: string; contentType: string };

export type ObjectStore = {
  /** Makes sure that the folder or bucket exists. Does not wait for an unavailable server. */
  start(): Promise<void>;
  stop(): void;
  /**
   * Stores all bytes of the source. The object appears only when complete, and not at all if the
   * source fails. More than `maxBytes` is `too_large`.
   */
  put(key: string, source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>;
  /** Undefined when there is no such object. */
  stat(key: string): Promise<StoredObject | undefined>;
  /**
   * The bytes of the object with this etag, or a range of them; `ObjectChanged` when it was removed
   * or replaced.
   */
  read(key: string, etag: string, range?: Range): Promise<AsyncIterable<Uint8Array>>;
  /** Removing a missing object is fine. */
  remove(key: string): Promise<void>;
  /** Removes all objects whose keys begin with the prefix, and unfinished uploads of such. */
  removeUnder(prefix: string): Promise<void>;
  /** A URL to which a client may PUT the object. */
  presignPut(key: string, options: { expiresSeconds: number }): Promise<string>;
  /** A URL from which a client may GET the object, as a download with that name. */
  presignGet(key: string, options: Download): Promise<string>;
  /** Removes what interrupted uploads left behind, if older than this. */
  sweep(olderThanSeconds: number): Promise<number>;
};

export type PutOptions = { maxBytes: number; contentType?: string; signal?: AbortSignal };

/** The pinned object no longer exists. */
export class ObjectChanged extends Error {
  constructor() {
    super('The object was removed or replaced.');
    this.name = 'ObjectChanged';
  }
}

/** A new key. It contains nothing written by a caller, and its last part cannot be guessed. */
export function newObjectKey(accountId: number, place: 'imports' | 'exports' | 'rejections', id: number): string {
  return `${accountPrefix(accountId)}${place}/${id}-${randomBytes(16).toString('hex')}`;
}

/** The beginning of the keys of all objects of an account. */
export const accountPrefix = (accountId: number) => `accounts/${accountId}/`;

const keyPattern = /^[a-z0-9]+(?:[/-][a-z0-9]+)*$/;

/** Keys come from `newObjectKey`; this is a second barrier before paths of the folder. */
export function requireKey(key: string): string {
  if (keyPattern.test(key) && key.length <= 200) return key;
  throw new Error('not an object key');
}

/** The key of the object of a pre-signed link; throws when the link is not one of ours. */
export function keyOfLink(link: string): string {
  return requireKey(/accounts\/.*$/.exec(new URL(link).pathname)?.[0] ?? '');
}

/** The error of an unreachable store, which is retried later. */
export function storeUnavailable(cause: unknown): ServiceError {
  return new ServiceError('unavailable', 'The object store is not available; try again.', { cause });
}

/** Passes bytes on, and fails at the first one beyond the limit. */
export async function* limitBytes(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  seen: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of source) {
    total += chunk.length;
    if (total > maxBytes)
      throw new ServiceError('too_large', {
        code: 'too_large',
        message: `The file is larger than ${maxBytes} bytes.`,
        params: { maximum: maxBytes },
      });
    seen(chunk.length);
    yield chunk;
  }
}

/** RFC 6266: an ASCII name, and the exact one beside it when it differs. */
export function contentDisposition(fileName: string): string {
  const ascii = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const exact = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"${ascii === fileName ? '' : `; filename*=UTF-8''${exact}`}`;
}
