import { ExactNumber } from './json-body.ts';
import { plainNumber } from './plain-number.ts';

describe('a number in plain digits', () => {
  it.each([
    [5, '5'],
    [-0, '0'],
    [1e21, '1000000000000000000000'],
    [1.5e-7, '0.00000015'],
    [-2.5e22, '-25000000000000000000000'],
    [new ExactNumber('12345678901234567.890'), '12345678901234567.890'],
    [new ExactNumber('9007199254740993'), '9007199254740993'],
    [new ExactNumber('1.25e1'), '12.5'],
    [new ExactNumber('1e3'), '1000'],
    [new ExactNumber('1e99999'), '1e99999'],
    [new ExactNumber('100e-2'), '1'],
    [new ExactNumber('1.2300e1'), '12.3'],
    [new ExactNumber('0e-3'), '0'],
    [new ExactNumber('-100.00e-1'), '-10'],
  ])('of %j is %s', (value, digits) => {
    expect(plainNumber(value)).toBe(digits);
  });

  it('is left as it is when it is too long, however long', () => {
    const long = `1.${'0'.repeat(1_000_000)}1e1`;
    expect(plainNumber(new ExactNumber(long))).toBe(long);
    const noughts = `1.${'0'.repeat(1_900)}1e1`;
    expect(plainNumber(new ExactNumber(noughts))).toBe(`10.${'0'.repeat(1_899)}1`);
  });
});
