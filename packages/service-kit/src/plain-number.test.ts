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
  ])('of %j is %s', (value, digits) => {
    expect(plainNumber(value)).toBe(digits);
  });
});
