// JSON cells: any JSON of up to 1 MB that jsonb can hold.
import { limits } from '@almanac/service-kit/limits';
import type { Check } from './check.ts';

/** A value of a request as JSON text; numbers that were too long for JavaScript keep their digits. */
export const jsonFromJson = (value: unknown): string | undefined => JSON.stringify(value);

// One of four digits or more. The same in both languages; in SQL texts are taken out before.
const longExponent = /[0-9][eE][+-]?0*[1-9][0-9]{3}/;
const longExponentSql = (x: string) =>
  `(${x} ~ '${longExponent.source}' and regexp_replace(${x}, '"([^"\\\\]|\\\\.)*"', '', 'g') ~ '${longExponent.source}')`;

export const jsonCheck: Check = {
  message: `must be JSON of at most ${limits.textCellBytes} bytes, without numbers beyond 1e999`,
  brokenBy: (text) => Buffer.byteLength(text) > limits.textCellBytes || !isJson(text),
  brokenSql: (x) =>
    `(octet_length(${x}) > ${limits.textCellBytes} or not pg_input_is_valid(${x}, 'jsonb') or ${longExponentSql(x)})`,
};

function isJson(text: string): boolean {
  try {
    let holds = true;
    JSON.parse(text, ((key: string, value: unknown, context: { source?: string }) => {
      if (!isText(key) || (typeof value === 'string' && !isText(value))) holds = false;
      if (typeof value === 'number' && !isNumeric(context.source ?? '')) holds = false;
      return value;
    }) as never);
    return holds;
  } catch {
    return false;
  }
}

const isText = (text: string) => text.isWellFormed() && !text.includes('\u0000');

// jsonb keeps numbers as numeric: 131072 digits before the point, 16383 after it. It writes them without exponents, so a
// few letters could become a text that no answer holds.
function isNumeric(source: string): boolean {
  if (longExponent.test(source)) return false;
  const [mantissa = '', exponent = '0'] = source.split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = Number(exponent);
  return (whole === '0' || whole.length + shift <= 131_072) && fraction.length - shift <= 16_383;
}
