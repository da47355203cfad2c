// Encryption of text at rest (AES-256-GCM). The ciphertext is bound to its owner: it can't be
// decrypted as another owner's.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts a text of `owner`. */
export function seal(key: Buffer, owner: string, text: string): Uint8Array<ArrayBuffer> {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), sealed]));
}

/** Decrypts a text; undefined when it was sealed with another key or for another owner. */
export function unseal(key: Buffer, owner: string, sealed: Uint8Array): string | undefined {
  const bytes = Buffer.from(sealed);
  try {
    const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
      .setAAD(Buffer.from(owner))
      .setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([cipher.update(bytes.subarray(28)), cipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
