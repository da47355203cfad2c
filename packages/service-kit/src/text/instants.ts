// Days and instants in requests, for all services: dates of the calendar, years 0001 to 9999. An
// instant is an ISO 8601 date and time, in the extended or the basic form. Times have whole
// milliseconds.
import { z } from 'zod';
import { rule } from '../problems.ts';

const offset = '(?:Z|[+-](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?)';
const form = (dash: string, colon: string) =>
  new RegExp(
    `^(\\d{4})${dash}(\\d\\d)${dash}(\\d\\d)[T ](\\d\\d)${colon}([0-5]\\d)(?:${colon}([0-5]\\d)(?:[.,](\\d+))?)?(${offset})?$`,
  );
const extended = form('-', ':');
const basic = form('', '');
const saysOffset = new RegExp(`\\d${offset}$`);

const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Reads an instant, in UTC when it names no offset; undefined when the text is none. A finer
 * fraction than milliseconds is cut, or rounded `up`.
 */
export function readInstant(text: string, finer: 'cut' | 'up' = 'cut'): Date | undefined {
  const parts = extended.exec(text) ?? basic.exec(text);
  if (!parts) return undefined;
  const [year, month, day, hours, minutes, seconds] = parts.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
  const [fraction = '', zone = 'Z'] = parts.slice(7);
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  if (year === 0 || at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) return undefined;
  // 24:00 is the end of a day.
  if (hours > 24 || (hours === 24 && minutes + seconds + Number(fraction) > 0)) return undefined;
  const more = finer === 'up' && Number(fraction.slice(3)) > 0 ? 1 : 0;
  at.setUTCHours(hours, minutes, seconds, Number(fraction.slice(0, 3).padEnd(3, '0')) + more);
  const time = at.getTime() - minutesOf(zone) * 60_000;
  return time >= earliest && time <= latest ? new Date(time) : undefined;
}

/** The clocks of two machines may differ by this much. */
const clockSkewMs = 60_000;

/** Whether an instant is in the future, by a clock of another machine. */
export const isInFuture = (instant: string | Date, now: string | Date): boolean =>
  new Date(instant).getTime() > new Date(now).getTime() + clockSkewMs;

type Six = [number, number, number, number, number, number];

function minutesOf(zone: string): number {
  if (zone === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return zone.startsWith('-') ? -minutes : minutes;
}

/** A day of the calendar, years 0001 to 9999: PostgreSQL has no year 0. */
export const daySchema = z.iso
  .date({ error: 'must be a date, YYYY-MM-DD', abort: true })
  .refine((text) => !text.startsWith('0000'), rule('wrong_format', 'must be a date, YYYY-MM-DD'));

/** An instant with its offset, which makes it unambiguous. The output has the form of answers. */
export const instantSchema = z
  .string()
  .refine(
    (text) => saysOffset.test(text) && readInstant(text) !== undefined,
    rule('wrong_format', 'must be an ISO 8601 date and time with Z or an offset (in an address, + is written %2B)'),
  )
  .transform((text) => (readInstant(text) as Date).toISOString())
  .meta({ type: 'string', format: 'date-time' });
