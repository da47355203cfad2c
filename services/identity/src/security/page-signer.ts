// Signs small facts that pages hand to a browser and want back unchanged: CSRF tokens, the mark of a known device.
import { createHmac, hkdfSync } from 'node:crypto';
import { sameDigest } from './digest.ts';

export type PageSigner = {
  /** A signature over the parts, usable for `purpose` only. */
  sign(purpose: string, parts: string[]): string;
  verify(purpose: string, parts: string[], signature: string): boolean;
};

/** Derives its own key, so that the key-encryption key is used for nothing else. */
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
