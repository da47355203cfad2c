import { isFilled, offsetAround, rowsInWindow, slidesAt } from './window-place.ts';

const million = 1_000_000;

describe('the window of rows', () => {
  it('has all rows up to half a million', () => {
    expect(offsetAround(499_999, 500_000)).toBe(0);
    expect(rowsInWindow(500_000, 0)).toBe(500_000);
    expect(slidesAt({ first: 499_970, last: 499_999 }, 500_000, 0)).toBe(false);
  });

  it.each([
    ['the first row', 0, 0],
    ['a row in the first window', 150_000, 0],
    ['a row in the middle', 700_000, 500_000],
    ['the last row', 999_999, 600_000],
  ])('lies around %s of a million', (_, row, expected) => {
    const offset = offsetAround(row, million);
    expect(offset).toBe(expected);
    expect(rowsInWindow(million, offset)).toBe(400_000);
    expect(row - offset).toBeLessThan(400_000);
  });

  it.each([
    ['in its middle', 200_000, 0, false],
    ['at the first of all rows', 0, 0, false],
    ['at its end', 399_950, 0, true],
    ['at its start', 50, 300_000, true],
    ['at the last of all rows', 399_970, 600_000, false],
  ])('slides or stays %s', (_, first, offset, expected) => {
    expect(slidesAt({ first, last: first + 29 }, million, offset)).toBe(expected);
  });

  it('is no longer filled when rows are filtered away or deleted', () => {
    expect(isFilled(million, 600_000)).toBe(true);
    expect(isFilled(999_000, 600_000)).toBe(false);
    expect(isFilled(1_000, 600_000)).toBe(false);
    expect(isFilled(1_000, 0)).toBe(true);
    expect(rowsInWindow(1_000, 600_000)).toBe(0);
  });

  it('stays where it has slid to', () => {
    const row = 399_950;
    const offset = offsetAround(row, million);
    expect(slidesAt({ first: row - offset, last: row - offset + 29 }, million, offset)).toBe(false);
  });
});
