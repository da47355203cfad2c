// Whole numbers, exact: no sign but minus, no blanks, no exponent. Leading zeros are harmless.
import { ExactNumber } from '@almanac/service-kit/api/json-body';
import { plainNumber } from '@almanac/service-kit/api/plain-number';
import { brokenUnlessSql, type Check, matchesSql } from './check.ts';

const source = '-?[0-9]{1,40}';
const pattern = new RegExp(`^${source}$`);

const ranges = {
  smallint: [-32768n, 32767n],
  integer: [-2147483648n, 2147483647n],
  bigint: [-9223372036854775808n, 9223372036854775807n],
} as const;
export type IntegerType = keyof typeof ranges;

// JSON numbers are exact up to 2^53.
const limitOf = (value: bigint) => (Number.isSafeInteger(Number(value)) ? Number(value) : String(value));

/** The rule of a whole number of this type. */
export function integerCheck(type: IntegerType): Check {
  const [low, high] = ranges[type];
  const message = `must be an integer from ${low} to ${high}`;
  return {
    code: 'wrong_format',
    params: { minimum: limitOf(low), maximum: limitOf(high) },
    message,
    messageIn: (form) => `${message}, ${form}`,
    brokenBy: (text) => {
      if (!pattern.test(text)) return true;
      const value = BigInt(text.startsWith('-') ? text.slice(1) : text) * (text.startsWith('-') ? -1n : 1n);
      return value < low || value > high;
    },
    // The text that PostgreSQL itself writes needs no pattern, which costs ten times as much.
    brokenSql: (x) => brokenUnlessSql(x, type, `${x}::${type}::text = ${x} or ${matchesSql(x, source)}`),
  };
}

/** The text of a JSON number or string; undefined for other values. */
export function numberFromJson(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || value instanceof ExactNumber) return plainNumber(value);
  return undefined;
}

/** The canonical text of a whole number; equal numbers have equal texts. */
export function canonicalInteger(text: string): string {
  const digits = text.replace(/^-/, '').replace(/^0+(?=.)/, '');
  return text.startsWith('-') && digits !== '0' ? `-${digits}` : digits;
}
