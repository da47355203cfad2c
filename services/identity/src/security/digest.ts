// Random secrets of 256 bits, returned once and stored as SHA-256: they can't be guessed, so they
// need no slow hash.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new secret, code or token: 43 characters of `[A-Za-z0-9_-]`. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A new public identifier (client id, token id). */
export function newIdentifier(): string {
  return randomBytes(24).toString('base64url');
}

/** The digest of a secret that the database stores. */
export function digestOf(secret: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(secret).digest());
}

/** Compares two digests in constant time. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
