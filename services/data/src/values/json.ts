// JSON cells: any JSON of up to 1 MB that jsonb can hold.
import { limits } from '@almanac/service-kit/limits';
import type { Check } from './check.ts';

/** A value of a request as JSON text; numbers that were too long for JavaScript keep their digits. */
export const jsonFromJson = (value: unknown): string | undefined => JSON.stringify(value);

export const jsonCheck: Check = {
  message: `must be JSON of at most ${limits.textCellBytes} bytes`,
  brokenBy: (text) => Buffer.byteLength(text) > limits.textCellBytes || !isJson(text),
  brokenSql: (x) => `(octet_length(${x}) > ${limits.textCellBytes} or not pg_input_is_valid(${x}, 'jsonb'))`,
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

// jsonb keeps numbers as numeric: 131072 digits before the point, 16383 after it.
function isNumeric(source: string): boolean {
  const [mantissa = '', exponent = '0'] = source.split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = Number(exponent);
  return Math.abs(shift) < 10_000 && whole.length + shift < 131_000 && fraction.length - shift < 16_000;
}
