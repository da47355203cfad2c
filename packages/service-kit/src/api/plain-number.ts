// Writes JSON numbers without an exponent, so that one pattern reads numbers and strings alike.
import { ExactNumber } from './json-body.ts';

const longest = 2000;

/**
 * The exact number without an exponent. One that is too long to write out stays as it is, and fails
 * the check that follows.
 */
export function plainNumber(value: number | ExactNumber): string {
  const text = value instanceof ExactNumber ? value.text : Object.is(value, -0) ? '0' : String(value);
  if (text.length > longest) return text;
  const parts = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,6})$/.exec(text);
  if (!parts) return text;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const shift = Number(exponent);
  if (Math.abs(shift) > longest) return text;
  const digits = whole + fraction;
  const point = whole.length + shift;
  if (point <= 0) return trim(`${sign}0.${'0'.repeat(-point)}${digits}`);
  if (point >= digits.length) return `${sign}${(digits + '0'.repeat(point - digits.length)).replace(/^0+(?=.)/, '')}`;
  return trim(`${sign}${digits.slice(0, point)}.${digits.slice(point)}`);
}

// Trims the zeros of a fraction. A regular expression would be quadratic in the zeros in the
// middle.
function trim(text: string): string {
  let end = text.length;
  while (text[end - 1] === '0') end -= 1;
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end);
}
