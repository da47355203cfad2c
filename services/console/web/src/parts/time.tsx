import { useLingui } from '@lingui/react';
import { localeOf } from '../language/locale.ts';

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const weekSeconds = 7 * 86_400;

/** An instant: lately as a distance, before that as a date; in full, with UTC, on hover. */
export function Time({ instant }: { instant: string }) {
  const locale = localeOf(useLingui().i18n.locale);
  const date = new Date(instant);
  const full = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }).format(date);
  return (
    <time dateTime={instant} title={`${full} · ${date.toISOString()}`}>
      {distance(date, locale) ?? new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(date)}
    </time>
  );
}

function distance(date: Date, locale: string): string | undefined {
  const seconds = (date.getTime() - Date.now()) / 1000;
  if (Math.abs(seconds) > weekSeconds) return undefined;
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return unit === 'second' ? format.format(0, 'minute') : format.format(Math.round(seconds / length), unit);
}
