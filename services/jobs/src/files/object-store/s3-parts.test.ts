import { cutIntoParts, largestPartBytes, mostParts, partBytes } from './s3-parts.ts';

const MB = 1024 ** 2;
const sizes = Array.from({ length: mostParts }, (_, index) => partBytes(index + 1));

describe('the parts of an S3 upload', () => {
  it('hold the largest export, 1 TiB, in as many parts as S3 takes', () => {
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(1024 ** 4);
    expect(mostParts).toBe(10_000);
  });

  it('are small for files of a usual size, and never larger than is said', () => {
    expect(sizes.slice(0, 500).every((size) => size === 8 * MB)).toBe(true);
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(Math.max(...sizes)).toBe(largestPartBytes);
    expect(largestPartBytes).toBe(128 * MB);
  });

  it('are cut as large as their numbers say, whatever the source gives at once', async () => {
    const bytes = Buffer.from(Array.from({ length: 50 }, (_, index) => index));
    for (const step of [1, 7, 50]) {
      const source = async function* () {
        for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
      };
      const parts: Buffer[] = [];
      const lasts: boolean[] = [];
      for await (const { part, isLast } of cutIntoParts(source(), (number) => number * 4)) {
        parts.push(part);
        lasts.push(isLast);
      }
      expect(parts.map(({ length }) => length)).toEqual([4, 8, 12, 16, 10]);
      expect(lasts).toEqual([false, false, false, false, true]);
      expect(Buffer.concat(parts)).toEqual(bytes);
    }
  });

  it('are one, and the last, for a source that fits into the first', async () => {
    for (const length of [0, 3, 4]) {
      const source = async function* () {
        yield Buffer.alloc(length, 1);
      };
      const found: [number, boolean][] = [];
      for await (const { part, isLast } of cutIntoParts(source(), () => 4)) found.push([part.length, isLast]);
      expect(found).toEqual([[length, true]]);
    }
  });
});
