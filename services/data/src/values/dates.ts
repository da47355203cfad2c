// Dates, times of day and instants of cells: in ISO 8601, of the real calendar, years 0001 to 9999.
// Instants are kept to the millisecond in UTC; one without an offset is UTC; finer fractions are
// refused, not cut.
import { readInstant } from '@almanac/service-kit/text/instants';
import { brokenUnlessSql, type Check, matchesSql } from './check.ts';

const dateSource = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const timeSource = '(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6}0{0,6})?)?';
const clockSource = '(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,3}0{0,6})?)?';
const zoneSource = '(?:Z|[+-](?:0[0-9]|1[0-4]):?[0-5][0-9]|[+-](?:0[0-9]|1[0-4]))';
const instantSource = `${dateSource}[T ]${clockSource}${zoneSource}?`;

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const timePattern = new RegExp(`^${timeSource}$`);
const instantPattern = new RegExp(`^${instantSource}$`);

/** True for a day of the calendar (proleptic Gregorian), written YYYY-MM-DD. */
export function isDate(text: string): boolean {
  const parts = datePattern.exec(text);
  if (!parts) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day <= ([31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] as number);
}

const isInstant = (text: string) => instantPattern.test(text) && readInstant(text) !== undefined;

/** YYYY-MM-DDTHH:MM:SS.mmmZ */
export function canonicalInstant(text: string): string {
  return new Date(readInstant(text) ?? Number.NaN).toISOString();
}

/** HH:MM:SS, with a fraction if it isn't zero. */
export function canonicalTime(text: string): string {
  const [hours, minutes, seconds = '00'] = text.split(':');
  return `${hours}:${minutes}:${seconds.includes('.') ? seconds.replace(/\.?0+$/, '') : seconds}`;
}

/** The rule of a date. */
export const dateCheck: Check = {
  code: 'wrong_format',
  message: 'must be a date, YYYY-MM-DD',
  messageIn: (form) => `must be a date, ${form}`,
  brokenBy: (text) => !isDate(text),
  brokenSql: (x) =>
    brokenUnlessSql(x, 'date', `length(${x}) = 10 and (${x}::date::text = ${x} or ${matchesSql(x, dateSource)})`),
};

/** The rule of a time of day. */
export const timeCheck: Check = {
  code: 'wrong_format',
  message: 'must be a time of day, HH:MM:SS',
  messageIn: (form) => `must be a time of day, ${form}`,
  brokenBy: (text) => !timePattern.test(text),
  brokenSql: (x) => brokenUnlessSql(x, 'time', matchesSql(x, timeSource)),
};

/** The rule of an instant. */
export const instantCheck: Check = {
  code: 'wrong_format',
  message: 'must be a date and time, YYYY-MM-DDTHH:MM:SS.mmm with Z or an offset',
  messageIn: (form) => `must be a date and time, ${form}`,
  brokenBy: (text) => !isInstant(text),
  // In the order of cost: the two forms that programs write, recognized by their digits (PostgreSQL
  // takes 24 hours and 60 seconds, we don't); then the pattern, and the range, which an offset may
  // leave.
  brokenSql: (x) =>
    brokenUnlessSql(
      x,
      'timestamptz',
      `translate(${x}, '123456789', '000000000') in ('0000-00-00T00:00:00.000Z', '0000-00-00T00:00:00Z')` +
        ` and substr(${x}, 12, 2) < '24' collate "C" and substr(${x}, 18, 1) < '6' collate "C" or ${matchesSql(x, instantSource)}` +
        ` and ${x}::timestamptz >= '0001-01-01T00:00:00Z' and ${x}::timestamptz <= '9999-12-31T23:59:59.999Z'`,
    ),
};
