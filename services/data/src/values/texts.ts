// Texts, whose length is counted in code points; a cell holds at most 1 MB.
import { limits } from '@almanac/service-kit/limits';
import type { Check } from './check.ts';

const sizeCheck: Check = {
  code: 'too_long',
  params: { maximum_bytes: limits.textCellBytes },
  message: `must be text of at most ${limits.textCellBytes} bytes`,
  // A UTF-16 unit is at most three bytes of UTF-8, so most texts need no counting.
  brokenBy: (text) => text.length * 3 > limits.textCellBytes && Buffer.byteLength(text) > limits.textCellBytes,
  brokenSql: (x) => `octet_length(${x}) > ${limits.textCellBytes}`,
};

/** The rules of a text of at most this length. */
export function textChecks(length: number | null): Check[] {
  if (length === null) return [sizeCheck];
  const lengthCheck: Check = {
    code: 'too_long',
    params: { maximum: length },
    message: `is too long (maximum is ${length} characters)`,
    brokenBy: (text) => text.length > length && codePoints(text) > length,
    brokenSql: (x) => `char_length(${x}) > ${length}`,
  };
  return length * 4 <= limits.textCellBytes ? [lengthCheck] : [sizeCheck, lengthCheck];
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The rule for a JSON value that is no text. */
export const textDemand = 'must be text';

/** A JSON string; undefined for other values. */
export const textFromJson = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
