// Dates in workbooks: numbers that count days, shown as dates by their cell's number format. Pure.

/** `duration`: hours, minutes or seconds that count on beyond a day. */
export type DateKind = 'date' | 'time' | 'both' | 'duration';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** As far as spreadsheets count days. */
const longest = 2_958_466 * dayMs;
const latest = Date.parse('9999-12-31T23:59:59.999Z');

// The formats that every workbook has; those of East Asia are dates in every language.
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

/** What a number format shows of a date; undefined: it shows numbers. `code` is that of a format of the workbook's own. */
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
 * The moment that a number of days means, in milliseconds since 1970; less than a day's: a time of day. Undefined: no moment, or the
 * 29th of February 1900, which spreadsheets have and the calendar hasn't.
 */
export function momentOf(days: number, since1904: boolean): number | undefined {
  if (!Number.isFinite(days) || days < 0) return undefined;
  if (!since1904 && days >= 60 && days < 61) return undefined;
  const shift = since1904 ? 24_107 : days < 60 ? 25_568 : 25_569;
  const moment = Math.round((days - shift) * dayMs);
  return moment <= latest ? moment : undefined;
}

/** A cell that shows a date as the text that a column of this type reads; what doesn't fit the type keeps all it has, and breaks its rule. */
export function dateText(days: number, kind: DateKind, since1904: boolean, dataType: string): string | undefined {
  if (kind === 'duration' && Math.round(days * dayMs) >= dayMs) return durationText(days);
  const moment = momentOf(days, since1904);
  if (moment === undefined) return undefined;
  const instant = new Date(moment).toISOString();
  const clock = clockOf(days);
  const isInstant = dataType === 'datetime' || dataType === 'timestamptz';
  if (isInstant) return instant;
  if (days < 1 && (dataType === 'time' || kind === 'time' || kind === 'duration')) return clock;
  if (clock === '00:00:00' && (dataType === 'date' || kind === 'date')) return instant.slice(0, 10);
  return instant;
}

// 36:00:00 is neither a date nor a time of day; so is told to whoever sends it as one.
function durationText(days: number): string | undefined {
  const ms = Math.round(days * dayMs);
  if (ms > longest) return undefined;
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
