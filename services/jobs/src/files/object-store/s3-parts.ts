// How uploads to S3 are cut into parts.
const MB = 1024 ** 2;

/** S3 accepts no more parts. */
export const maxParts = 10_000;

/** One part is sent while the next is filled: an upload holds at most two in memory. */
export const maxPartBytes = 128 * MB;

/**
 * The size of a part by its number, from 1: small for the first 4 GB, then growing, so that 1 TiB,
 * the largest export, fits into the allowed number of parts.
 */
export function partBytes(number: number): number {
  return Math.min(8 * MB * 2 ** Math.floor((number - 1) / 500), maxPartBytes);
}

/** Cuts the source into at least one part; the last may have any size. */
export async function* cutIntoParts(
  source: AsyncIterable<Uint8Array>,
  sizeOf: (number: number) => number = partBytes,
): AsyncGenerator<{ part: Buffer; isLast: boolean }> {
  let number = 1;
  let part = Buffer.allocUnsafe(sizeOf(number));
  let filled = 0;
  for await (const chunk of source)
    for (let taken = 0; taken < chunk.length; ) {
      // A full part is only known not to be the last when more bytes follow.
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
