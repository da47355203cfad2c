// Dates in workbooks: day numbers that a cell's number format shows as dates. Pure.

/** `duration`: hours, minutes or seconds beyond a day. */
export type DateKind = 'date' | 'time' | 'both' | 'duration';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** The largest day number of spreadsheet programs. */
const maxDurationMs = 2_958_466 * dayMs;
const latestInstant = Date.parse('9999-12-31T23:59:59.999Z');

// The built-in formats; those of East Asia are dates in every language.
const builtIn: [from: number, to: number, kind: DateKind][] = [
  [14, 17, 'date'],
  [18, 21, 'time'],
  [22, 22, 'both'],
  [27, 31, 'date'],
  [32, 35, 'time'],
  [36, 36, 'date'],
  [45, 45, 'time'],
  [46, 46, 'duration'],
  [47, 47, 'time'],
  [50, 54, 'date'],
  [55, 56, 'time'],
  [57, 58, 'date'],
];

/**
 * What a number format shows of a date; undefined: it shows numbers. `code` is the format's own
 * code, if the workbook defines it.
 */
export function dateKind(id: number, code: string | undefined): DateKind | undefined {
  if (code === undefined) return builtIn.find(([from, to]) => id >= from && id <= to)?.[2];
  const [positive = ''] = code.split(';');
  const bare = positive.replace(/"[^"]*"|\\.|_.|\*./g, '');
  const counted = /\[(h+|m+|s+)\]/gi;
  const plain = bare
    .replace(counted, '$1')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/am\/pm|a\/p/gi, 'h')
    .toLowerCase();
  if (/general/.test(plain)) return undefined;
  if (bare.search(counted) >= 0 && !/[yd]/.test(plain)) return 'duration';
  const time = /[hs]/.test(plain);
  const date = /[yd]/.test(plain) || (/m/.test(plain) && !time);
  if (date) return time ? 'both' : 'date';
  return time ? 'time' : undefined;
}

/**
 * The instant of a day number, in milliseconds since 1970; a number below 1 is a time of day.
 * Undefined: no instant, or 29 February 1900, which exists in spreadsheet programs only.
 */
export function instantOf(days: number, since1904: boolean): number | undefined {
  if (!Number.isFinite(days) || days < 0) return undefined;
  if (!since1904 && days >= 60 && days < 61) return undefined;
  const shift = since1904 ? 24_107 : days < 60 ? 25_568 : 25_569;
  const moment = Math.round((days - shift) * dayMs);
  return moment <= latestInstant ? moment : undefined;
}

/**
 * The text of a date cell for a column of this type. A value that doesn't fit the type keeps all of
 * its parts, and breaks the type's rule.
 */
export function dateText(days: number, kind: DateKind, since1904: boolean, dataType: string): string | undefined {
  if (kind === 'duration' && Math.round(days * dayMs) >= dayMs) return durationText(days);
  const moment = instantOf(days, since1904);
  if (moment === undefined) return undefined;
  const instant = new Date(moment).toISOString();
  const clock = clockOf(days);
  const isInstant = dataType === 'datetime' || dataType === 'timestamptz';
  if (isInstant) return instant;
  if (days < 1 && (dataType === 'time' || kind === 'time' || kind === 'duration')) return clock;
  if (clock === '00:00:00' && (dataType === 'date' || kind === 'date')) return instant.slice(0, 10);
  return instant;
}

// 36:00:00 is neither a date nor a time of day; the rule of the type reports that.
function durationText(days: number): string | undefined {
  const ms = Math.round(days * dayMs);
  if (ms > maxDurationMs) return undefined;
  const hours = Math.floor(ms / hourMs);
  return `${hours}${clockOf((ms % hourMs) / dayMs).slice(2)}`;
}

function clockOf(days: number): string {
  const ms = Math.round((days % 1) * dayMs) % dayMs;
  return new Date(ms)
    .toISOString()
    .slice(11, 23)
    .replace(/\.000$/, '');
}
