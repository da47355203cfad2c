// Floating point numbers: finite, with or without an exponent; a text that would round to 0 or
// infinity is refused.
import { brokenUnlessSql, type Check, matchesSql } from './check.ts';

const source = '-?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]{1,5})?';
const pattern = new RegExp(`^${source}$`);
const maxLength = 400;

const types = {
  real: { sql: 'real', round: Math.fround, message: 'must be a number that fits 32 bits' },
  double: { sql: 'double precision', round: (value: number) => value, message: 'must be a number that fits 64 bits' },
} as const;
export type FloatType = keyof typeof types;

/** The rule of a floating point number. */
export function floatCheck(type: FloatType): Check {
  const { sql, round, message } = types[type];
  return {
    code: 'wrong_format',
    message,
    messageIn: (form) => `${message}, ${form}`,
    brokenBy: (text) => {
      if (text.length > maxLength || !pattern.test(text)) return true;
      const value = round(Number(text));
      return !Number.isFinite(value) || (value === 0 && /[1-9]/.test(text.split(/[eE]/)[0] as string));
    },
    brokenSql: (x) =>
      brokenUnlessSql(
        x,
        sql,
        `length(${x}) <= ${maxLength} and (right(${x}, 1) < ':' collate "C" and ${x}::${sql}::text = ${x} or ${matchesSql(x, source)})`,
      ),
  };
}

/** The canonical text of a floating point number; equal numbers have equal texts. */
export function canonicalFloat(type: FloatType, text: string): string {
  return String(types[type].round(Number(text)));
}
