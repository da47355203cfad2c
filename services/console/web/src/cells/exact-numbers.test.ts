import { layOutNumber, numberSigns, readNumber } from './exact-numbers.ts';

const english = numberSigns('en');
const german = numberSigns('de');

describe('exact numbers', () => {
  it('keep every digit, beyond what a number of JavaScript holds', () => {
    expect(layOutNumber('9007199254740993', english)).toBe('9,007,199,254,740,993');
    expect(layOutNumber('-12345678901234567890.0100', german)).toBe('-12.345.678.901.234.567.890,0100');
  });

  it('keep the scale of decimals', () => {
    expect(layOutNumber('5968.00', english)).toBe('5,968.00');
    expect(layOutNumber('0.5', german)).toBe('0,5');
    expect(layOutNumber('999', english)).toBe('999');
  });

  it('leave alone what is no plain number', () => {
    for (const text of ['1e21', 'NaN', '', 'x1']) expect(layOutNumber(text, english)).toBe(text);
  });

  it('are read as people type them', () => {
    expect(readNumber('1.234,50', german)).toBe('1234.50');
    expect(readNumber(' 1,234.50 ', english)).toBe('1234.50');
    expect(readNumber('9007199254740993', english)).toBe('9007199254740993');
    expect(readNumber('1 234', english)).toBe('1234');
  });

  it('are never read as a hundred times as much: thousands are set off by three digits', () => {
    expect(readNumber('1234.50', german)).toBe('1234.50');
    expect(readNumber('1.234', german)).toBe('1234');
    expect(readNumber('12.34', german)).toBe('12.34');
    expect(readNumber('1234,50', english)).toBeNull();
  });

  it('are refused when they are none', () => {
    for (const typed of ['', 'abc', '1e5', '1,2.3,4.5', '--1']) expect(readNumber(typed, english)).toBeNull();
  });
});
