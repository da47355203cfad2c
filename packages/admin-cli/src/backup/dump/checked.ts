// Size and checksum of what passes.
import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

export type Checked = { bytes: number; sha256: string };

/** A stream that counts and hashes its bytes. */
export function counter(): { stream: Transform; result(): Checked } {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ bytes, sha256: hash.digest('hex') }) };
}
