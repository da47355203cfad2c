// Signs values that a browser returns unchanged: CSRF tokens, the cookie of a known device,
// notices.
import { createHmac, hkdfSync } from 'node:crypto';
import { sameDigest } from './digest.ts';

export type PageSigner = {
  /** Signs the parts, for this purpose only. */
  sign(purpose: string, parts: string[]): string;
  /** True when the signature is that of the parts for this purpose. */
  verify(purpose: string, parts: string[], signature: string): boolean;
};

/** Signs with a key derived from the key-encryption key, which itself only encrypts. */
export function createPageSigner(keyEncryptionKey: Buffer): PageSigner {
  const key = Buffer.from(hkdfSync('sha256', keyEncryptionKey, '', 'almanac identity pages', 32));
  const mac = (purpose: string, parts: string[]) =>
    createHmac('sha256', key)
      .update(JSON.stringify([purpose, ...parts]))
      .digest();
  return {
    sign: (purpose, parts) => mac(purpose, parts).toString('base64url'),
    verify: (purpose, parts, signature) => sameDigest(mac(purpose, parts), Buffer.from(signature, 'base64url')),
  };
}
