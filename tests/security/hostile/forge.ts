// Forged tokens, signed with the system's own key or another: right in everything but one thing.
import { createDecipheriv, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runWatcher } from '@almanac/testkit/secrets/test-run';
import type { Stores } from '@almanac/testkit/system/stored-state';

type Part = Record<string, unknown>;

export type Forge = {
  /** The claims of a good token. */
  claims: Part;
  header: Part;
  /** Signed with identity's own key; a member that is undefined is left out. */
  token(claims?: Part, header?: Part): string;
};

/** Reads the key that signed a good token from identity's database. */
export async function openForge(stores: Stores, home: string, good: string): Promise<Forge> {
  const [header, claims] = good.split('.').slice(0, 2).map(decode) as [Part, Part];
  const [row] = await stores.query('identity', 'select private_key from signing_key where kid = $1', [header.kid]);
  const secrets = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8')) as { key_encryption_key: string };
  const key = openKey(secrets.key_encryption_key, String(header.kid), row?.private_key as Buffer);
  return {
    claims,
    header,
    token: (otherClaims = {}, otherHeader = {}) => {
      const text = signed(key, { ...header, ...otherHeader }, { ...claims, ...otherClaims });
      runWatcher.secret({ kind: 'a forged token', value: text });
      return text;
    },
  };
}

/** As identity stores it: nonce, tag and ciphertext of AES-256-GCM, bound to the key's id. */
function openKey(encryptionKey: string, kid: string, sealed: Buffer): KeyObject {
  const cipher = createDecipheriv('aes-256-gcm', Buffer.from(encryptionKey, 'base64url'), sealed.subarray(0, 12))
    .setAAD(Buffer.from(kid))
    .setAuthTag(sealed.subarray(12, 28));
  const text = Buffer.concat([cipher.update(sealed.subarray(28)), cipher.final()]).toString();
  return createPrivateKey({ key: JSON.parse(text), format: 'jwk' });
}

export const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

export const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as Part;

/** ES256. */
export function signed(key: KeyObject, header: Part, claims: Part): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
