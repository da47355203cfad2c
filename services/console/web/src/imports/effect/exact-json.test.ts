import { keepDigits, parseExactly } from './exact-json.ts';

describe('JSON with exact numbers', () => {
  it('keeps the digits of numbers that JavaScript would change', () => {
    expect(keepDigits('', 9_007_199_254_740_992, { source: '9007199254740993' })).toBe('9007199254740993');
    expect(keepDigits('', 1.5, { source: '1.500' })).toBe('1.500');
  });

  it('leaves all other values as they are', () => {
    expect(keepDigits('', 4, { source: '4' })).toBe(4);
    expect(keepDigits('', 4)).toBe(4);
    expect(parseExactly('{"a": [null, "1.50", true, 7]}')).toEqual({ a: [null, '1.50', true, 7] });
  });
});
