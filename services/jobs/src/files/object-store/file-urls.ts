// Pre-signed URLs of the folder store: an HMAC binds method, key, expiry and the answer's headers.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '@almanac/service-kit/errors';

/**
 * Below the public URL. The gateway forwards it to jobs without a token, since the signature is the
 * permission.
 */
export const filesPath = '/files';

export type FileGrant = {
  method: 'GET' | 'PUT';
  key: string;
  /** Seconds since 1970. */
  expires: number;
  name?: string;
  type?: string;
};

const parts = (grant: FileGrant) =>
  JSON.stringify([grant.method, grant.key, grant.expires, grant.name ?? null, grant.type ?? null]);

const signatureOf = (grant: FileGrant, secret: Uint8Array) =>
  createHmac('sha256', secret).update(parts(grant)).digest('base64url');

/** The URL of a grant. */
export function signFileUrl(publicUrl: string, grant: FileGrant, secret: Uint8Array): string {
  const url = new URL(`${publicUrl}${filesPath}/${grant.key}`);
  url.searchParams.set('method', grant.method);
  url.searchParams.set('expires', String(grant.expires));
  if (grant.name !== undefined) url.searchParams.set('name', grant.name);
  if (grant.type !== undefined) url.searchParams.set('type', grant.type);
  url.searchParams.set('signature', signatureOf(grant, secret));
  return url.href;
}

const invalidLink = () =>
  new ServiceError('forbidden', {
    code: 'invalid_link',
    message: 'The link does not hold: it was changed, or its time is over.',
  });

/**
 * Reads the grant of a URL; 403 unless its signature matches the method and it has not expired. A
 * grant of GET allows HEAD.
 */
export function verifyFileUrl(
  method: string,
  path: string,
  query: URLSearchParams,
  secret: Uint8Array,
  now: number,
): FileGrant {
  const names = [...query.keys()];
  const known = ['method', 'expires', 'name', 'type', 'signature'];
  if (new Set(names).size !== names.length || names.some((name) => !known.includes(name))) throw invalidLink();
  const granted = query.get('method');
  const expires = query.get('expires') ?? '';
  if ((granted !== 'GET' && granted !== 'PUT') || !/^\d{1,12}$/.test(expires)) throw invalidLink();
  if (granted !== (method === 'HEAD' ? 'GET' : method)) throw invalidLink();
  const grant: FileGrant = { method: granted, key: path, expires: Number(expires) };
  const name = query.get('name');
  const type = query.get('type');
  if (name !== null) grant.name = name;
  if (type !== null) grant.type = type;
  const wanted = Buffer.from(signatureOf(grant, secret));
  const given = Buffer.from(query.get('signature') ?? '');
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) throw invalidLink();
  if (grant.expires * 1000 <= now) throw invalidLink();
  return grant;
}
