// The S3 store, for any S3 server (MinIO, Ceph RGW, AWS). It cuts uploads into parts itself, so
// that memory stays flat, a failed source aborts the upload, and no part of an earlier upload is
// reused.
import { createHash } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { readAuthorities } from '@almanac/service-kit/config/ca-file';
import { ServiceError } from '@almanac/service-kit/errors';
import { Client, type ClientOptions } from 'minio';
import {
  contentDisposition,
  limitBytes,
  ObjectChanged,
  type ObjectStore,
  requireKey,
  storeUnavailable,
} from './object-store.ts';
import { cutIntoParts } from './s3-parts.ts';
import type { S3Options } from './s3-url.ts';

const stallTimeoutMs = 30_000;

const codeOf = (error: unknown) => String((error as { code?: unknown })?.code ?? '');
const isMissing = (error: unknown) => ['NotFound', 'NoSuchKey'].includes(codeOf(error));
const asStoreError = (error: unknown) =>
  error instanceof ServiceError || error instanceof ObjectChanged ? error : storeUnavailable(error);

/** A store in one bucket. */
export function createS3Store(options: S3Options): ObjectStore {
  const { bucket } = options;
  const client = new Client(clientOptions(options));
  const signing = options.publicUrl ? new Client(publicClientOptions(options, new URL(options.publicUrl))) : client;

  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asStoreError(error);
    }
  };

  const stat: ObjectStore['stat'] = async (key) => {
    try {
      const { size, etag } = await client.statObject(bucket, requireKey(key));
      return { size, etag };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw storeUnavailable(error);
    }
  };

  return {
    // The bucket may exist already, or is created here.
    start: async () => {
      try {
        if (!(await client.bucketExists(bucket))) await client.makeBucket(bucket, options.region);
      } catch (error) {
        if (codeOf(error) === 'BucketAlreadyOwnedByYou' || codeOf(error) === 'BucketAlreadyExists') return;
        throw storeUnavailable(error);
      }
    },
    stop: () => {},
    stat,
    put: (key, source, putOptions) =>
      attempt(async () => {
        await upload(client, bucket, requireKey(key), source, putOptions);
        const stored = await stat(key);
        if (!stored) throw new Error('the object is not there after its upload');
        return stored;
      }),
    read: async (key, etag, range) => {
      let answer: IncomingMessage;
      try {
        answer = (await (range
          ? client.getPartialObject(bucket, requireKey(key), range.start, range.end - range.start)
          : client.getObject(bucket, requireKey(key)))) as IncomingMessage;
      } catch (error) {
        if (isMissing(error)) throw new ObjectChanged();
        throw storeUnavailable(error);
      }
      if (String(answer.headers.etag).replace(/"/g, '') === etag) return bytesOf(answer);
      answer.destroy();
      throw new ObjectChanged();
    },
    remove: (key) => attempt(() => client.removeObject(bucket, requireKey(key))),
    removeUnder: (prefix) =>
      attempt(async () => {
        requireKey(prefix.replace(/\/$/, ''));
        await abortUploads(client, bucket, Number.POSITIVE_INFINITY, prefix);
        for await (const { name } of client.listObjectsV2(bucket, prefix, true) as AsyncIterable<{ name: string }>)
          await client.removeObject(bucket, name);
      }),
    presignPut: (key, { expiresSeconds }) => signing.presignedPutObject(bucket, requireKey(key), expiresSeconds),
    presignGet: (key, { expiresSeconds, fileName, contentType }) =>
      signing.presignedGetObject(bucket, requireKey(key), expiresSeconds, {
        'response-content-type': contentType,
        'response-content-disposition': contentDisposition(fileName),
      }),
    sweep: (olderThanSeconds) => attempt(() => abortUploads(client, bucket, Date.now() - olderThanSeconds * 1000)),
  };
}

// The queue decides about retries; retries of the client would only hide an outage.
const clientOptions = (options: S3Options): ClientOptions => ({
  transport: transportWithTimeouts(options),
  endPoint: options.endPoint,
  ...(options.port ? { port: options.port } : {}),
  useSSL: options.tls,
  accessKey: options.accessKey,
  secretKey: options.secretKey,
  region: options.region,
  pathStyle: true,
  retryOptions: { disableRetry: true },
});

// A server that accepts a request and then stalls would block a job for ever.
function transportWithTimeouts({ tls, caFile }: S3Options): NonNullable<ClientOptions['transport']> {
  const request = (options: https.RequestOptions, onResponse: (answer: IncomingMessage) => void) => {
    if (caFile) options.ca = readAuthorities(caFile);
    const made = (tls ? https : http).request(options, (answer) => {
      made.setTimeout(0); // from here on `bytesOf` watches for stalls
      onResponse(answer);
    });
    return made.setTimeout(stallTimeoutMs, () => made.destroy(new Error('the object store stalled')));
  };
  return { request } as NonNullable<ClientOptions['transport']>;
}

async function* bytesOf(answer: IncomingMessage): AsyncGenerator<Uint8Array> {
  const iterator = answer[Symbol.asyncIterator]();
  try {
    for (;;) {
      const timer = setTimeout(() => answer.destroy(new Error('the object store stalled')), stallTimeoutMs);
      const next = await iterator.next().finally(() => clearTimeout(timer));
      if (next.done) return;
      yield next.value as Uint8Array;
    }
  } catch (error) {
    throw storeUnavailable(error);
  } finally {
    answer.destroy();
  }
}

const publicClientOptions = (options: S3Options, url: URL): ClientOptions => ({
  ...clientOptions(options),
  endPoint: url.hostname,
  port: url.port ? Number(url.port) : url.protocol === 'https:' ? 443 : 80,
  useSSL: url.protocol === 'https:',
});

async function upload(
  client: Client,
  bucket: string,
  key: string,
  source: AsyncIterable<Uint8Array>,
  {
    maxBytes,
    contentType = 'application/octet-stream',
    signal,
  }: { maxBytes: number; contentType?: string; signal?: AbortSignal },
): Promise<void> {
  const headers = { 'Content-Type': contentType };
  const etags: { part: number; etag: string }[] = [];
  let uploadId: string | undefined;
  let sending: Promise<void> | undefined;
  try {
    for await (const { part, isLast } of cutIntoParts(limitBytes(source, maxBytes))) {
      await sending;
      signal?.throwIfAborted();
      if (isLast && uploadId === undefined) {
        await client.putObject(bucket, key, part, part.length, headers);
        return;
      }
      uploadId ??= await client.initiateNewMultipartUpload(bucket, key, headers);
      // The next part is read while this one is sent.
      sending = sendPart(client, { bucketName: bucket, objectName: key, uploadID: uploadId }, etags, part);
      sending.catch(() => {}); // handled where it is awaited
    }
    await sending;
    signal?.throwIfAborted();
    await client.completeMultipartUpload(bucket, key, uploadId as string, etags);
  } catch (error) {
    await sending?.catch(() => {}); // a part that arrives after the abort would stay
    if (uploadId !== undefined) await client.abortMultipartUpload(bucket, key, uploadId).catch(() => {});
    throw error;
  }
}

async function sendPart(
  client: Client,
  upload: { bucketName: string; objectName: string; uploadID: string },
  etags: { part: number; etag: string }[],
  part: Buffer,
): Promise<void> {
  const partNumber = etags.length + 1;
  const headers = {
    'Content-Length': part.length,
    'Content-MD5': createHash('md5').update(part).digest('base64'),
  };
  const { etag } = await client.uploadPart({ ...upload, partNumber, headers }, part);
  etags.push({ part: partNumber, etag });
}

type Incomplete = { key: string; uploadId: string; initiated: Date };

async function abortUploads(client: Client, bucket: string, before: number, prefix = 'accounts/'): Promise<number> {
  let aborted = 0;
  for await (const found of client.listIncompleteUploads(bucket, prefix, true) as AsyncIterable<Incomplete>) {
    if (new Date(found.initiated).getTime() >= before) continue;
    await client.abortMultipartUpload(bucket, found.key, found.uploadId);
    aborted += 1;
  }
  return aborted;
}
