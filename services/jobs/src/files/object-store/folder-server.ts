// Serves the folder store's files under pre-signed URLs. The signature is the only permission.
import { createHash } from 'node:crypto';
import { codesOfKinds, type ErrorKind, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Express, NextFunction, Request, Response } from 'express';
import { filesPath, verifyFileUrl } from './file-urls.ts';
import type { FolderStore } from './folder-store.ts';
import { contentDisposition, type PutOptions, type StoredObject } from './object-store.ts';
import { uploadBytes } from './upload-bytes.ts';

export type FolderServerOptions = {
  maxBytes?: number;
  /**
   * Throws when the key accepts no upload any more, although its URL is valid. Called before the
   * bytes arrive and after.
   */
  requireUpload: (key: string) => Promise<void>;
  /** Stores the upload; throws when the storage is full. */
  put?: (
    key: string,
    source: AsyncIterable<Uint8Array>,
    options: PutOptions & { declaredBytes: number },
  ) => Promise<StoredObject>;
};

/** Mounts GET, HEAD and PUT of `/files/<key>` beside the API. */
export function mountFolderServer(app: Express, store: FolderStore, options: FolderServerOptions): void {
  app.use(filesPath, async (req: Request, res: Response, next: NextFunction) => {
    res.locals.route = `${filesPath}/{key}`;
    if (!['GET', 'HEAD', 'PUT'].includes(req.method))
      throw new ServiceError(
        'method_not_allowed',
        {
          code: 'method_not_allowed',
          message: 'Use GET, HEAD or PUT here.',
          params: { allowed: ['GET', 'HEAD', 'PUT'] },
        },
        {
          headers: { Allow: 'GET, HEAD, PUT' },
        },
      );
    const [path = '', query = ''] = req.url.split('?', 2);
    const grant = verifyFileUrl(req.method, path.slice(1), new URLSearchParams(query), store.secret, Date.now());
    if (grant.method === 'PUT') await receiveFile(req, res, store, grant.key, options);
    else sendFile(res, next, store, grant);
  });
}

async function receiveFile(
  req: Request,
  res: Response,
  store: FolderStore,
  key: string,
  { maxBytes = limits.uploadBytes, requireUpload, put = store.put }: FolderServerOptions,
): Promise<void> {
  await requireUpload(key);
  const md5 = req.headers['content-md5'];
  const hash = typeof md5 === 'string' ? createHash('md5') : undefined;
  const source = async function* () {
    for await (const chunk of uploadBytes(req, res, maxBytes)) {
      hash?.update(chunk);
      yield chunk;
    }
    if (hash && hash.digest('base64') !== md5)
      throw new ServiceError('bad_request', {
        code: 'invalid',
        message: 'The bytes that came are not those Content-MD5 tells of.',
        field: 'Content-MD5',
      });
    await requireUpload(key);
  };
  const declaredBytes = Number(req.headers['content-length'] ?? 0);
  const stored = await put(key, source(), { maxBytes, declaredBytes });
  res.status(200).set('ETag', `"${stored.etag}"`).end();
}

function sendFile(
  res: Response,
  next: NextFunction,
  store: FolderStore,
  { key, name = 'download', type = 'application/octet-stream' }: { key: string; name?: string; type?: string },
): void {
  res.set({
    'Content-Type': type,
    'Content-Disposition': contentDisposition(name),
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'private, no-store',
  });
  // With ranges a broken download can continue.
  res.sendFile(store.pathOf(key), { dotfiles: 'allow', cacheControl: false, lastModified: false }, (error) => {
    if (!error || res.headersSent) return;
    for (const header of ['Content-Disposition', 'Content-Security-Policy']) res.removeHeader(header);
    const { status = 500 } = error as { status?: number };
    const [kind, message] = downloadErrors.get(status) ?? [];
    next(kind && message ? new ServiceError(kind, { code: codesOfKinds[kind], message }) : error);
  });
}

// Problems of requests whose URL is valid.
const downloadErrors = new Map<number, [ErrorKind, string]>([
  [404, ['not_found', 'The file is no longer there.']],
  [412, ['precondition_failed', 'The file is not the one that the request asks for.']],
  [416, ['range_not_satisfiable', 'The file has no such range of bytes; Content-Range tells how many it has.']],
]);
