// The parts into which uploads to S3 are cut.
const MB = 1024 ** 2;

/** More parts S3 does not take. */
export const mostParts = 10_000;

/** While one part is on its way another is filled: an upload holds at most two of them in memory. */
export const largestPartBytes = 128 * MB;

/**
 * The size of the part of an upload with this number, which counts from 1: small for the first 4 GB, then growing so that 1 TiB, the
 * largest export, fits into as many parts as there may be.
 */
export function partBytes(number: number): number {
  return Math.min(8 * MB * 2 ** Math.floor((number - 1) / 500), largestPartBytes);
}

/** Cuts the source; at least one part, the last of any size. */
export async function* cutIntoParts(
  source: AsyncIterable<Uint8Array>,
  sizeOf: (number: number) => number = partBytes,
): AsyncGenerator<{ part: Buffer; isLast: boolean }> {
  let number = 1;
  let part = Buffer.allocUnsafe(sizeOf(number));
  let filled = 0;
  for await (const chunk of source)
    for (let taken = 0; taken < chunk.length; ) {
      // Only what comes after it tells that a full part isn't the last one.
      if (filled === part.length) {
        yield { part, isLast: false };
        number += 1;
        part = Buffer.allocUnsafe(sizeOf(number));
        filled = 0;
      }
      const bytes = chunk.subarray(taken, taken + part.length - filled);
      part.set(bytes, filled);
      filled += bytes.length;
      taken += bytes.length;
    }
  yield { part: part.subarray(0, filled), isLast: true };
}
