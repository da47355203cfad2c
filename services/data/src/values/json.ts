// JSON cells: any JSON of up to 1 MB that jsonb can hold.
import { scanJson } from '@almanac/service-kit/api/json-scan';
import { limits } from '@almanac/service-kit/limits';
import type { Check } from './check.ts';

/**
 * A value of a request as JSON text; numbers that were too long for JavaScript keep their digits.
 */
export const jsonFromJson = (value: unknown): string | undefined => JSON.stringify(value);

// An exponent of four digits or more. The same in both languages; SQL takes strings out first.
const longExponent = /[0-9][eE][+-]?0*[1-9][0-9]{3}/;
const longExponentSql = (x: string) =>
  `(${x} ~ '${longExponent.source}' and regexp_replace(${x}, '"([^"\\\\]|\\\\.)*"', '', 'g') ~ '${longExponent.source}')`;

/** The rule of a JSON cell. */
export const jsonCheck: Check = {
  code: 'wrong_format',
  message: `must be JSON of at most ${limits.textCellBytes} bytes, without numbers beyond 1e999`,
  brokenBy: (text) => Buffer.byteLength(text) > limits.textCellBytes || !isJson(text),
  brokenSql: (x) =>
    `(octet_length(${x}) > ${limits.textCellBytes} or not pg_input_is_valid(${x}, 'jsonb') or ${longExponentSql(x)})`,
};

function isJson(text: string): boolean {
  try {
    if (!holdsTexts(JSON.parse(text))) return false;
  } catch {
    return false;
  }
  const bytes = Buffer.from(text);
  let holds = true;
  scanJson(bytes, {
    number: (start, end, hasExponent) => {
      // A short number without an exponent fits.
      if (hasExponent || end - start > maxDigitsAfter) holds &&= isNumeric(bytes.toString('latin1', start, end));
    },
  });
  return holds;
}

function holdsTexts(value: unknown): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(holdsTexts);
  return Object.entries(value).every(([key, inner]) => isText(key) && holdsTexts(inner));
}

const isText = (text: string) => text.isWellFormed() && !text.includes('\u0000');

const [maxDigitsBefore, maxDigitsAfter] = [131_072, 16_383];

// jsonb stores numbers as numeric: 131072 digits before the point, 16383 after it. It writes them
// without exponents, so a short number could become a text that exceeds an answer.
function isNumeric(source: string): boolean {
  if (longExponent.test(source)) return false;
  const [mantissa = '', exponent = '0'] = source.split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = Number(exponent);
  return (whole === '0' || whole.length + shift <= maxDigitsBefore) && fraction.length - shift <= maxDigitsAfter;
}
