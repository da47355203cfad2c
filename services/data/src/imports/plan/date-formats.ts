// Dates as files write them, rewritten as ISO text before the rules of the type apply. Formats
// become regular expressions that this file writes: no pattern of a user reaches a regular
// expression engine.
import type { Family } from '../../values/value-types.ts';

/**
 * Turns a text expression into one in ISO form; text that doesn't fit stays as it is, and then
 * breaks the rule of the type.
 */
export type DateReading = (x: string) => string;

const asIs: DateReading = (x) => x;

/**
 * How a column's dates are read; undefined when the format is invalid. ISO is always understood.
 */
export function readDateFormat(family: Family, dateStyle: string, format: string): DateReading | undefined {
  if (family !== 'date' && family !== 'instant' && family !== 'time') return format === '' ? asIs : undefined;
  if (format !== '') return readPattern(format, family);
  if (family === 'time' || (dateStyle !== 'MDY' && dateStyle !== 'DMY')) return asIs;
  const [month, day] = dateStyle === 'MDY' ? [1, 2] : [2, 1];
  return rearranged('([0-9]{1,2})[/.-]([0-9]{1,2})[/.-]([0-9]{4})(.*)', [
    'm[3]',
    "'-'",
    `lpad(m[${month}], 2, '0')`,
    "'-'",
    `lpad(m[${day}], 2, '0')`,
    'm[4]',
  ]);
}

/** The form of a column's dates, for messages; undefined when it is the form of the type. */
export function dateForm(family: Family, dateStyle: string, format: string): string | undefined {
  if (format !== '') return format;
  const day = dateStyle === 'DMY' ? 'DD.MM.YYYY' : dateStyle === 'MDY' ? 'MM/DD/YYYY' : undefined;
  if (day === undefined || (family !== 'date' && family !== 'instant')) return undefined;
  const [form, iso] = family === 'date' ? [day, 'YYYY-MM-DD'] : [`${day} HH:MM:SS`, 'YYYY-MM-DDTHH:MM:SS'];
  return `${form} (or with ${dateStyle === 'DMY' ? '/' : '.'} or - between) or ${iso}`;
}

function rearranged(pattern: string, parts: string[], otherwise = asIs): DateReading {
  return (x) =>
    `coalesce((select ${parts.join(' || ')} from regexp_match(${x}, '^${pattern}$', 'i') m), ${otherwise(x)})`;
}

// What jobs makes of cells that the file itself marks as days (`services/jobs/src/formats`), where
// a pattern for texts could misread ISO days.
const midnight: DateReading = (x) =>
  `case when ${x} ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T00:00:00[.]000Z$' then left(${x}, 10) else ${x} end`;

const two = (m: string) => `lpad(${m}, 2, '0')`;
const textArray = (words: string[]) => `array[${words.map((word) => `'${word}'`).join(', ')}]`;
const monthNames = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
];
// A word that is no month gives null, and so does the whole date: the text stays as it was.
const month = (names: string[]) => (m: string) => two(`array_position(${textArray(names)}, lower(${m}))::text`);

/**
 * `full`: the pattern where a number is adjacent, when digits may be missing elsewhere: 1122024
 * could be the 1st of December or the 11th of February. `signed` numbers are separated from a
 * number before them by their sign.
 */
type Token = { pattern: string; sql: (group: string) => string; number?: true; full?: string; signed?: true };

const digits = (count: number): Token => ({ pattern: `([0-9]{${count}})`, number: true, sql: (m) => m });
const fraction = (count: number): Token => ({
  ...digits(count),
  pattern: `([0-9]{1,${count}})`,
  full: `([0-9]{${count}})`,
});
const oneOrTwo: Token = { pattern: '([0-9]{1,2})', full: '([0-9]{2})', number: true, sql: two };
const ofTwelve: Token = { pattern: '(0?[1-9]|1[0-2])', full: '(0[1-9]|1[0-2])', number: true, sql: (m) => m };
const meridiem: Token = { pattern: '([ap][.]?m[.]?)', sql: (m) => m };
const weekday: Token = { pattern: '([a-z]{2,9})', sql: (m) => m };

// PostgreSQL's template patterns, those that give a date without guessing; AD years, English names.
const tokens: Record<string, Token & { part: string }> = {
  YYYY: { part: 'year', ...digits(4) },
  YY: { part: 'year', ...digits(2), sql: (m) => `case when ${m} < '70' then '20' else '19' end || ${m}` },
  MONTH: { part: 'month', pattern: '([a-z]{3,9})', sql: month(monthNames) },
  MON: { part: 'month', pattern: '([a-z]{3})', sql: month(monthNames.map((name) => name.slice(0, 3))) },
  MM: { part: 'month', ...oneOrTwo },
  DAY: { part: 'weekday', ...weekday },
  DY: { part: 'weekday', ...weekday },
  DD: { part: 'day', ...oneOrTwo },
  HH24: { part: 'hour', ...oneOrTwo },
  HH12: { part: 'hour of twelve', ...ofTwelve },
  HH: { part: 'hour of twelve', ...ofTwelve },
  AM: { part: 'half', ...meridiem },
  PM: { part: 'half', ...meridiem },
  'A.M.': { part: 'half', ...meridiem },
  'P.M.': { part: 'half', ...meridiem },
  MI: { part: 'minute', ...digits(2) },
  SS: { part: 'second', ...digits(2) },
  MS: { part: 'fraction', ...fraction(3) },
  US: { part: 'fraction', ...fraction(6) },
  TZH: {
    part: 'zone hour',
    pattern: '([+-][0-9]{1,2})',
    full: '([+-][0-9]{2})',
    number: true,
    signed: true,
    sql: (m) => `left(${m}, 1) || ${two(`substr(${m}, 2)`)}`,
  },
  TZM: { part: 'zone minute', ...digits(2) },
};

const words = /FM|YYYY|YY|MONTH|MON|MM|MI|MS|DAY|DY|DD|HH24|HH12|HH|[AP]\.?M\.?|SS|US|TZH|TZM|"[^"]*"|[\s\S]/gi;

// Each part at most once; undefined for an invalid pattern.
function readPattern(format: string, family: Family): DateReading | undefined {
  if (format.length > 60) return undefined;
  const parts = new Map<string, string>();
  const pieces: (Token | string)[] = [];
  for (const [piece] of format.matchAll(words)) {
    const name = piece.toUpperCase();
    if (name === 'FM') continue; // leading zeros may be missing anyway where that is unambiguous
    const token = tokens[name];
    if (!token) {
      const literal = /^"([A-Za-z0-9 /.:,-]*)"$/.exec(piece)?.[1] ?? (/^[ T/.:,-]$/.test(piece) ? piece : undefined);
      if (literal === undefined) return undefined;
      pieces.push(...literal);
      continue;
    }
    if (parts.has(token.part)) return undefined;
    parts.set(token.part, token.sql(`m[${parts.size + 1}]`));
    pieces.push(token);
  }
  const pattern = pieces.map((piece, i) => patternOf(piece, pieces[i - 1], pieces[i + 1])).join('');
  const date = dateParts(parts);
  const clock = clockParts(parts);
  if (clock === undefined) return undefined;
  if (family === 'time') return clock.length > 0 && !parts.has('zone hour') ? rearranged(pattern, clock) : undefined;
  if (date === undefined) return undefined;
  if (family === 'date') return rearranged(pattern, date, midnight);
  const time = clock.length > 0 ? clock : ["'00:00:00'"];
  return rearranged(pattern, [...date, "'T'", ...time, ...zoneParts(parts)]);
}

// Literals come character by character.
function patternOf(
  piece: Token | string,
  before: Token | string | undefined,
  behind: Token | string | undefined,
): string {
  if (typeof piece === 'string') return `[${piece}]`;
  const touches =
    (isNumber(before) && !piece.signed) || (isNumber(behind) && !(typeof behind === 'object' && behind.signed));
  return touches ? (piece.full ?? piece.pattern) : piece.pattern;
}

const isNumber = (piece: Token | string | undefined): boolean =>
  typeof piece === 'string' ? /[0-9]/.test(piece) : piece?.number === true;

function dateParts(parts: Map<string, string>): string[] | undefined {
  const [year, month, day] = ['year', 'month', 'day'].map((part) => parts.get(part));
  return year && month && day ? [year, "'-'", month, "'-'", day] : undefined;
}

// Empty when the pattern has no time; undefined when it has half of one.
function clockParts(parts: Map<string, string>): string[] | undefined {
  const ofTwelve = parts.get('hour of twelve');
  const half = parts.get('half');
  if ((ofTwelve === undefined) !== (half === undefined)) return undefined;
  const hour = ofTwelve
    ? two(`(${ofTwelve}::int % 12 + case when lower(${half}) like 'p%' then 12 else 0 end)::text`)
    : parts.get('hour');
  const minute = parts.get('minute');
  if (hour === undefined && minute === undefined && !parts.has('second') && !parts.has('fraction')) return [];
  if (hour === undefined || minute === undefined || (parts.has('fraction') && !parts.has('second'))) return undefined;
  if ((ofTwelve && parts.has('hour')) || (parts.has('zone minute') && !parts.has('zone hour'))) return undefined;
  const fraction = parts.get('fraction');
  return [hour, "':'", minute, "':'", parts.get('second') ?? "'00'", ...(fraction ? ["'.'", fraction] : [])];
}

const zoneParts = (parts: Map<string, string>): string[] => {
  const hour = parts.get('zone hour');
  return hour ? [hour, "':'", parts.get('zone minute') ?? "'00'"] : ["'Z'"];
};
