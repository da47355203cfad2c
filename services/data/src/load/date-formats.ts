// Dates as files write them, turned into ISO text before the rules of the type are applied. Formats become regular expressions
// of our own making: no pattern of a user reaches an engine.
import type { Family } from '../values/value-types.ts';

/** Turns a text expression into one in ISO form; text that doesn't fit stays as it is, and then breaks the type's rule. */
export type DateReading = (x: string) => string;

const asIs: DateReading = (x) => x;

/** How a column's dates are read; undefined when the format is none. ISO is always understood. */
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

function rearranged(pattern: string, parts: string[]): DateReading {
  return (x) => `coalesce((select ${parts.join(' || ')} from regexp_match(${x}, '^${pattern}$', 'i') m), ${x})`;
}

const months = "'janfebmaraprmayjunjulaugsepoctnovdec'";

const tokens: Record<string, { pattern: string; sql: (group: string) => string }> = {
  YYYY: { pattern: '([0-9]{4})', sql: (m) => m },
  MM: { pattern: '([0-9]{1,2})', sql: (m) => `lpad(${m}, 2, '0')` },
  MON: { pattern: '([a-z]{3})', sql: (m) => `lpad(((position(lower(${m}) in ${months}) + 2) / 3)::text, 2, '0')` },
  DD: { pattern: '([0-9]{1,2})', sql: (m) => `lpad(${m}, 2, '0')` },
  HH24: { pattern: '([0-9]{1,2})', sql: (m) => `lpad(${m}, 2, '0')` },
  MI: { pattern: '([0-9]{2})', sql: (m) => m },
  SS: { pattern: '([0-9]{2})', sql: (m) => m },
  MS: { pattern: '([0-9]{1,3})', sql: (m) => m },
};

// PostgreSQL's template patterns, those that say a date without guessing.
function readPattern(format: string, family: Family): DateReading | undefined {
  if (format.length > 60) return undefined;
  const places = new Map<string, string>();
  let pattern = '';
  for (const [piece] of format.matchAll(/YYYY|MM|MON|DD|HH24|MI|SS|MS|[\s\S]/gi)) {
    const name = piece.toUpperCase();
    const token = tokens[name];
    if (!token) {
      if (!/^[ T/.:,-]$/.test(piece)) return undefined;
      pattern += `[${piece}]`;
      continue;
    }
    if (places.has(name)) return undefined;
    places.set(name, token.sql(`m[${places.size + 1}]`));
    pattern += token.pattern;
  }
  const has = (...names: string[]) => names.every((name) => places.has(name));
  const month = places.get('MM') ?? places.get('MON');
  const clock = has('HH24', 'MI')
    ? [places.get('HH24'), "':'", places.get('MI'), "':'", places.get('SS') ?? "'00'"]
    : [];
  const fraction = has('MS', 'SS') ? ["'.'", places.get('MS')] : [];
  const date = has('YYYY', 'DD') && month ? [places.get('YYYY'), "'-'", month, "'-'", places.get('DD')] : [];
  if (family === 'time') return clock.length > 0 ? rearranged(pattern, [...clock, ...fraction] as string[]) : undefined;
  if (date.length === 0) return undefined;
  if (family === 'date') return rearranged(pattern, date as string[]);
  const time = clock.length > 0 ? [...clock, ...fraction] : ["'00:00:00'"];
  return rearranged(pattern, [...date, "'T'", ...time, "'Z'"] as string[]);
}
