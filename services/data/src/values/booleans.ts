// true and false, as in JSON; in text also as spreadsheets write them. Not yes, 1, t or on.
import type { Check } from './check.ts';

const words = ['true', 'false', 'TRUE', 'FALSE', 'True', 'False'];

/** The rule of a boolean. */
export const booleanCheck: Check = {
  code: 'wrong_format',
  message: 'must be true or false',
  brokenBy: (text) => !words.includes(text),
  brokenSql: (x) => `${x} not in (${words.map((word) => `'${word}'`).join(', ')})`,
};

/** The text of a JSON boolean or string; undefined for other values. */
export function booleanFromJson(value: unknown): string | undefined {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : undefined;
}
