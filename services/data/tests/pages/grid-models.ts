// Random grid models over one table with columns of every type, and the values that its rows and
// filters share.
import fc from 'fast-check';
import type { Kind, Model } from './grid-reference.ts';

export const columns = [
  { name: 'id', data_type: 'integer', is_primary_key: true },
  { name: 'name', length: 50 },
  { name: 'note', data_type: 'text' },
  { name: 'big', data_type: 'bigint' },
  { name: 'amount', data_type: 'decimal', length: 10, scale: 2 },
  { name: 'ratio', data_type: 'double' },
  { name: 'share', data_type: 'real' },
  { name: 'day', data_type: 'date' },
  { name: 'at', data_type: 'datetime' },
  { name: 'open', data_type: 'boolean' },
];

export const kinds = {
  svc_sk: 'number',
  id: 'number',
  name: 'text',
  note: 'text',
  big: 'bigint',
  amount: 'number',
  ratio: 'number',
  share: 'number',
  day: 'date',
  at: 'instant',
  open: 'boolean',
} as const satisfies Record<string, Kind>;

// All kinds of blanks, both cases of letters inside and outside ASCII, letters that fold to ASCII
// ones (Kelvin), accents in both forms, and the special characters of LIKE and SQL.
const texts = [
  ...['', ' ', '  ', '\t', '\n', '\u00a0', '\u3000\u2003', '\u200b', ' a', 'a ', 'a\u00a0'],
  ...[
    'Alpha',
    'alpha',
    'ALPHABET',
    'al',
    'beta',
    'zeta',
    'Ärger',
    'ärger',
    'É',
    'é',
    'e\u0301',
    'ß',
    'ẞ',
    'ss',
    'Straße',
  ],
  ...['100%', 'a_b', 'a\\b', '%', '_', '\\', '*', "o'hara", '"x"', '$1', 'null', 'true', '0', '10', '9'],
  ...['\u212alm', 'klm', 'Ǆ', 'ǅ', 'ǆ', 'Ж', 'ж', 'Ω', 'ω', '\u2126', '日本'],
];
// Apart, because their order by code point differs from that by UTF-16: characters beyond the first
// plane, and those at its end.
const beyond = ['😀', '😁', '𐐀', '𐐨'];
const atTheEnd = ['\ufeff', '\ufeff ', 'ﬁ', 'Ａ', 'ａ'];
const bigs = ['0', '-1', '10', '9007199254740991', '9007199254740992', '9007199254740993', '-9223372036854775808'];
const numbers = [0, 1, 2, 3, -1, 10, 0.5, 2.25];
const shares = [0.1, 0.5, 3, -3];
const days = ['2024-01-01', '2024-02-29', '2024-03-01', '1999-12-31', '0999-05-05'];
const instants = [
  '2024-01-01T00:00:00.000Z',
  '2024-01-01T23:59:59.999Z',
  '2024-01-02T00:00:00.000Z',
  '2024-02-29T12:00:00.500Z',
  '1969-12-31T23:59:59.999Z',
];

// The intended differences (docs/how-to/grid.md): the dotted capital I, the final sigma, letters
// newer than the database's Unicode, and characters whose order differs by code point and by
// UTF-16.
const isAlike = (text: string) =>
  text.isWellFormed() && !/[\0İΣ\ua7cb-\ua7ff\ue000-\uffff]|[\u{16ea0}-\u{16ed3}]/u.test(text);
const anyText = fc.string({ unit: 'grapheme', maxLength: 3 }).filter(isAlike);

/** `count` records, the same in every run; bigints are strings. */
export function makeRecords(count: number): Record<string, unknown>[] {
  const unusual = fc.sample(anyText, { numRuns: count, seed: 42 });
  const pick = <T>(list: readonly T[], i: number): T | null =>
    i % (list.length + 1) === 0 ? null : (list[(i % (list.length + 1)) - 1] ?? null);
  return Array.from({ length: count }, (_, i) => ({
    id: (i * 7) % 1009,
    name: i % 3 === 0 ? unusual[i] : pick([...beyond, ...texts], i * 5 + (i >> 3)),
    note: pick([...atTheEnd, ...texts], i * 3 + 1),
    big: pick(bigs, i * 3 + (i >> 2)),
    amount: pick(numbers, i),
    ratio: pick(numbers, i * 2 + 1),
    share: pick(shares, i),
    day: pick(days, i),
    at: pick(instants, i + (i >> 2)),
    open: pick([true, false], i),
  }));
}

const text = fc.record({
  filterType: fc.constant('text'),
  type: fc.constantFrom('contains', 'notContains', 'equals', 'notEqual', 'startsWith', 'endsWith', 'blank', 'notBlank'),
  filter: fc.oneof(fc.constantFrom(...texts, ...beyond, ...atTheEnd, 'a', 'A', '2', '-', 'Z', 'T'), anyText),
});
const ordered = fc.constantFrom(
  ...['equals', 'notEqual', 'lessThan', 'lessThanOrEqual', 'greaterThan', 'greaterThanOrEqual', 'inRange'],
  ...['blank', 'notBlank'],
);
const number = fc.record({
  filterType: fc.constant('number'),
  type: ordered,
  filter: fc.constantFrom(...numbers, 0.1, 2.251, 500, 9007199254740991),
  filterTo: fc.constantFrom(...numbers, 100, 600),
});
const bigint = fc.record({
  filterType: fc.constant('bigint'),
  type: ordered,
  filter: fc.constantFrom(...bigs, '9007199254740994'),
  filterTo: fc.constantFrom(...bigs, '9223372036854775807'),
});
const date = fc.record({
  filterType: fc.constant('date'),
  type: ordered,
  dateFrom: fc.constantFrom(...days, '2024-01-02', '2024-01-01 00:00:00'),
  dateTo: fc.constantFrom(...days, '2030-01-01'),
});
const set = (values: readonly unknown[]) =>
  fc.record({
    filterType: fc.constant('set'),
    values: fc.array(fc.constantFrom(null, 'ALPHA', ...values.map(String)), { maxLength: 4 }),
  });

const combined = (simple: fc.Arbitrary<{ filterType: string }>) =>
  fc.oneof(
    simple,
    fc.array(simple, { minLength: 1, maxLength: 4 }).chain((conditions) =>
      fc.record({
        filterType: fc.constant(conditions[0]?.filterType),
        operator: fc.constantFrom('AND', 'OR'),
        conditions: fc.constant(conditions),
      }),
    ),
  );

const named = (name: string, ...filters: fc.Arbitrary<unknown>[]) => fc.tuple(fc.constant(name), fc.oneof(...filters));

const filters = [
  named('svc_sk', combined(number)),
  named('id', combined(number), combined(text)),
  named('name', combined(text)),
  named('note', combined(text)),
  named('big', combined(bigint), combined(text)),
  named('amount', combined(number)),
  named('ratio', combined(number), combined(text)),
  named('share', combined(number)),
  named('day', combined(date), combined(text)),
  named('at', combined(date), combined(text)),
  named('open', combined(text)),
];
const sets = [
  named('name', set(texts)),
  named('note', set(texts)),
  named('day', set(days)),
  named('at', set(instants)),
  named('open', set([true, false])),
  named('id', set([0, 7, 14])),
];

const numeric = ['svc_sk', 'id', 'big', 'amount', 'ratio', 'share'];
const sort = fc.oneof(
  fc.record({ colId: fc.constantFrom(...Object.keys(kinds)), sort: fc.constantFrom('asc' as const, 'desc' as const) }),
  fc.record({
    colId: fc.constantFrom(...numeric),
    sort: fc.constantFrom('asc' as const, 'desc' as const),
    type: fc.constantFrom('default' as const, 'absolute' as const),
  }),
);

const filterModelOf = (entries: fc.Arbitrary<[string, unknown]>[]): fc.Arbitrary<Model['filterModel']> =>
  fc
    // Few columns at a time, so that some rows match.
    .uniqueArray(fc.oneof(...entries), { maxLength: 3, selector: ([name]) => name })
    .map((chosen) => Object.fromEntries(chosen) as Model['filterModel']);

const modelOf = (entries: fc.Arbitrary<[string, unknown]>[]): fc.Arbitrary<Model> =>
  fc.record({
    filterModel: filterModelOf(entries),
    sortModel: fc.uniqueArray(sort, { maxLength: 4, selector: ({ colId }) => colId }),
  });

/** Models that AG Grid's community edition understands. */
export const communityModel = modelOf(filters);

/** All of them. */
export const anyModel = modelOf([...filters, ...sets]);

/** Filter models that name texts besides, by column or label. */
export const filterModelWith = (names: readonly string[]): fc.Arbitrary<Model['filterModel']> =>
  filterModelOf([
    ...filters,
    ...sets,
    ...names.flatMap((name) => [named(name, combined(text)), named(name, set(texts))]),
  ]);
