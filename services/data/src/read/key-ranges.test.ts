import fc from 'fast-check';
import { cutByKey } from './key-ranges.ts';

const megabyte = 1024 * 1024;
const expected = { first: 1n, last: 1_000_000n, rows: 1_000_000, rowBytes: 100, tableRows: 1_000_000 };

describe('ranges of a key', () => {
  it('have each key once, in order', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -10_000n, max: 10_000n }),
        fc.bigInt({ min: 0n, max: 20_000n }),
        fc.integer({ min: 0, max: 100_000 }),
        fc.integer({ min: 1, max: 10_000 }),
        (first, span, rows, rowBytes) => {
          const ranges = cutByKey({ first, last: first + span, rows, rowBytes, tableRows: rows });
          expect([ranges[0]?.from, ranges.at(-1)?.to]).toEqual([undefined, undefined]);
          const bounds = ranges.slice(1).map(({ from }) => from as bigint);
          expect(ranges.slice(0, -1).map(({ to }) => to)).toEqual(bounds);
          expect(bounds.every((bound, i) => bound > (bounds[i - 1] ?? first) && bound <= first + span)).toBe(true);
        },
      ),
    );
  });

  it('are some megabytes each', () => {
    const { length } = cutByKey(expected);
    expect(100 / length).toBeGreaterThan(1);
    expect(100 / length).toBeLessThan(4);
    expect(
      cutByKey({ ...expected, rows: 100 * megabyte, tableRows: 0, last: 10n ** 12n, rowBytes: megabyte }).length,
    ).toBe(10_000);
  });

  it.each([
    ['little', { rows: 1_000 }],
    ['few rows of many', { rows: 400_000 }],
    ['nothing', { first: 0n, last: 0n, rows: 0 }],
    ['one key', { first: 7n, last: 7n }],
  ])('are one for %s', (_, what) => {
    expect(cutByKey({ ...expected, ...what })).toEqual([{}]);
  });
});
