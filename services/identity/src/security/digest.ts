// Machine secrets: 256 random bits handed out once, kept as SHA-256 (nobody can guess them, so no slow hash is needed).
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new secret, code or token: 43 characters of `[A-Za-z0-9_-]`. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A new public identifier (client id, token id). */
export function newIdentifier(): string {
  return randomBytes(24).toString('base64url');
}

/** What is kept of a secret. */
export function digestOf(secret: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(secret).digest());
}

/** Compares two digests in constant time. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
