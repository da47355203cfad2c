// What a person types or pastes into a cell, as the API takes it. What can't be read is passed on
// as it is: the server judges it, and says what is wrong.
import type { Column } from '../api/queries.ts';
import { isNumeric } from './cell-text.ts';
import { type NumberSigns, numberSigns, readNumber } from './exact-numbers.ts';

/** The order of day and month in dates of numbers. */
export type DayOrder = 'day-first' | 'month-first';

export type TypingHabits = { signs: NumberSigns; dayOrder: DayOrder };

const words = new Map([
  ...['true', 'yes', 'y', 'ja', 'j', '1', '✓', 'x', 'wahr'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', 'nein', '0', '–', '-', 'falsch'].map((word) => [word, false] as const),
]);

/** How people write in a language. */
export function habitsOf(locale: string): TypingHabits {
  return { signs: numberSigns(locale), dayOrder: dayOrderOf(locale) };
}

function dayOrderOf(locale: string): DayOrder {
  const parts = new Intl.DateTimeFormat(locale).formatToParts(0).map(({ type }) => type);
  return parts.indexOf('month') < parts.indexOf('day') && parts.indexOf('year') !== 0 ? 'month-first' : 'day-first';
}

/** The value of a text; blank is no value. */
export function readTyped(text: string, column: Column, { signs, dayOrder }: TypingHabits): unknown {
  const { data_type } = column;
  if (data_type === 'string' || data_type === 'text') return text === '' ? null : text;
  const typed = text.trim();
  if (typed === '') return null;
  if (data_type === 'boolean') return words.get(typed.toLowerCase()) ?? typed;
  if (data_type === 'date') return readDay(typed, dayOrder);
  if (!isNumeric(column)) return typed;
  const number = readNumber(typed, signs) ?? typed;
  // Decimals and bigints stay texts, with all their digits.
  const isExact = data_type === 'decimal' || data_type === 'bigint';
  return isExact || !Number.isFinite(Number(number)) ? number : Number(number);
}

/**
 * `31.12.2026`, `31/12/2026`, or `12/31/2026` where the month is first, as `2026-12-31`. With dots
 * the day is first everywhere; what is no day either way stays as it was typed.
 */
function readDay(typed: string, order: DayOrder): string {
  const [, first, separator, second, year] = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/.exec(typed) ?? [];
  if (first === undefined || second === undefined) return typed;
  const [day, month] = order === 'day-first' || separator === '.' ? [first, second] : [second, first];
  if (Number(month) > 12) return typed;
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}
