// Values that are expensive for a naive reader: JSON texts of about the requested number of bytes.

export type Kind = 'text' | 'number' | 'list' | 'object';

export type Value = { name: string; kind: Kind; make(bytes: number): string };

/** `piece` repeated, with its number if it is a function. */
function repeated(bytes: number, piece: string | ((place: number) => string), between = ''): string {
  if (typeof piece === 'string') {
    const length = Buffer.byteLength(piece + between);
    return new Array(Math.max(1, Math.floor(bytes / length))).fill(piece).join(between);
  }
  const pieces: string[] = [];
  for (let left = bytes; left > 0 || pieces.length === 0; ) {
    const next = piece(pieces.length);
    left -= Buffer.byteLength(next) + between.length;
    if (left >= 0 || pieces.length === 0) pieces.push(next);
  }
  return pieces.join(between);
}

/** In JSON's spelling: a backslash begins an escape. */
const textPieces: Record<string, string | ((place: number) => string)> = {
  'one letter': 'a',
  blanks: ' ',
  'no-break spaces': '\u00a0',
  dots: '.',
  commas: ',',
  bars: '|',
  'different words between bars': (place) => `v${place}|`,
  digits: '9',
  zeros: '0',
  signs: '-',
  'percent signs': '%',
  brackets: '[',
  'pairs of brackets': '[a]',
  quotes: '\\"',
  backslashes: '\\\\',
  'escaped letters': '\\u0061',
  'the character U+0000': '\\u0000',
  'escaped surrogates': '\\ud83d\\ude00',
  emoji: '😀',
  'combining marks': '\u0301',
  'two classes of combining marks': '\u0301\u0327',
  'letters that grow in lower case': 'İ',
  'empty lines': '\\n',
  'blanks and tabs': ' \\t',
  'lines of a CSV file': 'code,name,1,2024-01-01\\n',
  'cells of one line': (place) => `c${place},`,
  'quoted cells': '\\"a\\"\\"b\\",',
  'cells that are dates': '01/02/2024;',
  'cells that are numbers': '1.234.567,89;',
  'parts of a host': 'a.',
  'parts of an address': 'a@',
  'parts of a path': '/..',
  exponents: '1e9',
};

const deep = (levels: number, inner: string) => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;

const listPieces: Record<string, string | ((place: number) => string)> = {
  'one digit': '1',
  'different numbers': (place) => String(place + 1),
  'numbers of 17 digits': (place) => String(10_000_000_000_000_000 + place),
  'decimals of 20 digits': (place) => `0.1234567890123456${1_000 + place}`,
  'numbers with exponents': '1e308',
  'tiny numbers': '1e-320',
  'empty texts': '""',
  'one word': '"a"',
  'different words': (place) => `"v${place}"`,
  nulls: 'null',
  'empty lists': '[]',
  'empty objects': '{}',
  'objects with a property': (place) => `{"p${place}":1}`,
  'objects with 90 properties': `{${Array.from({ length: 90 }, (_, place) => `"p${place}":1`).join()}}`,
  'nested lists': deep(12, '1'),
};

const objectPieces: Record<string, (place: number) => string> = {
  'short names': (place) => `"p${place}":1`,
  'numbers for names': (place) => `"${place}":1`,
  'names in brackets': (place) => `"a[p${place}]":1`,
  'names in escapes': (place) => `"\\u0070${place}":1`,
  'long numbers': (place) => `"p${place}":12345678901234567890`,
  'texts of a kilobyte': (place) => `"p${place}":"${'a'.repeat(1_000)}"`,
  'names of ten kilobytes': (place) => `"${'p'.repeat(10_000)}${place}":1`,
  'nested objects': (place) => `"p${place}":${'{"a":'.repeat(12)}1${'}'.repeat(12)}`,
};

const of = (kind: Kind, name: string, make: Value['make']): Value => ({ kind, name, make });

export const values: Value[] = [
  ...Object.entries(textPieces).map(([name, piece]) =>
    of('text', `a text of ${name}`, (bytes) => `"${repeated(bytes, piece)}"`),
  ),
  of('text', 'a date with a long fraction', (bytes) => `"2024-01-01T00:00:00.${repeated(bytes, '0')}Z"`),
  of(
    'text',
    'an address of long parts',
    (bytes) => `"https://${repeated(bytes / 2, 'a')}/?${repeated(bytes / 2, '&a=1')}"`,
  ),
  of('number', 'a number of many digits', (bytes) => repeated(bytes, '1')),
  of('number', 'a number of many places', (bytes) => `0.${repeated(bytes, '0')}1`),
  of('number', 'a number with a long exponent', (bytes) => `1e${repeated(bytes, '9')}`),
  of('number', 'a number with an exponent of zeros', (bytes) => `1e${repeated(bytes, '0')}1`),
  ...Object.entries(listPieces).map(([name, piece]) =>
    of('list', `a list of ${name}`, (bytes) => `[${repeated(bytes, piece, ',')}]`),
  ),
  of('list', 'a list of words and one long number', (bytes) => `[12345678901234567890,${repeated(bytes, '"a"', ',')}]`),
  of('list', 'a list nested too deep', (bytes) => deep(bytes / 2, '')),
  ...Object.entries(objectPieces).map(([name, piece]) =>
    of('object', `an object with ${name}`, (bytes) => `{${repeated(bytes, piece, ',')}}`),
  ),
  of('object', 'an object with 90 names of ten kilobytes', (bytes) => {
    const name = 'p'.repeat(Math.floor(bytes / 90) - 20);
    return `{${Array.from({ length: 90 }, (_, place) => `"${name}${place}":1`).join()}}`;
  }),
];

/** Lists of items as the operation takes them, all equal or all different. */
export function valuesLike(item: unknown): Value[] {
  const equal = JSON.stringify(item);
  return [
    of('list', 'a list of one right item', (bytes) => `[${repeated(bytes, equal, ',')}]`),
    of('list', 'a list of different items', (bytes) => {
      const different = (place: number) => JSON.stringify(distinct(item, place));
      return `[${repeated(bytes, different, ',')}]`;
    }),
  ];
}

// Properties that select a kind keep their value: a longer word would be an unknown kind.
function distinct(value: unknown, place: number, name = ''): unknown {
  const isWord = /^(operation|resolution|attribute|type|filterType|sort|action|resource_type)$/.test(name);
  if (typeof value === 'string') return isWord ? value : `${value}${place}`;
  if (typeof value === 'number') return value + place;
  if (Array.isArray(value)) return value.map((item) => distinct(item, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, distinct(inner, place, key)]));
}
