import { cutIntoParts, maxPartBytes, maxParts, partBytes } from './s3-parts.ts';

const MB = 1024 ** 2;
const sizes = Array.from({ length: maxParts }, (_, index) => partBytes(index + 1));

describe('the parts of an S3 upload', () => {
  it('hold the largest export, 1 TiB, within the number of parts that S3 accepts', () => {
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(1024 ** 4);
    expect(maxParts).toBe(10_000);
  });

  it('are small for files of a usual size, and never larger than stated', () => {
    expect(sizes.slice(0, 500).every((size) => size === 8 * MB)).toBe(true);
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(Math.max(...sizes)).toBe(maxPartBytes);
    expect(maxPartBytes).toBe(128 * MB);
  });

  it('have the size of their numbers, whatever chunks the source gives', async () => {
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
