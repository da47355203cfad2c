// Keeps the two halves of every rule equal: JavaScript and PostgreSQL refuse the same values.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '@almanac/service-kit/limits';
import { reviversOf } from '@almanac/testkit/json-revivers';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import fc from 'fast-check';
import pg from 'pg';
import { Values } from '../src/sql/statement.ts';
import { anyBrokenSql } from '../src/values/check.ts';
import { jsonCheck } from '../src/values/json.ts';
import { type ColumnShape, type DataType, dataTypes, typeOf } from '../src/values/value-types.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase('checks');
  client = new pg.Client({ connectionString: database.url, options: '-c timezone=UTC -c datestyle=ISO,YMD' });
  await client.connect();
  const migrations = join(import.meta.dirname, '../prisma/migrations');
  await client.query(readFileSync(join(migrations, '20261123120000_json_cells/migration.sql'), 'utf8'));
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

const shapes: ColumnShape[] = [
  ...dataTypes.map((data_type) => ({ data_type, length: null, scale: null })),
  { data_type: 'string', length: 3, scale: null },
  { data_type: 'decimal', length: 5, scale: 2 },
  { data_type: 'decimal', length: 4, scale: null },
];

const written = [
  '',
  ' ',
  '0',
  '-0',
  '7',
  ' 7',
  '7 ',
  '+7',
  '007',
  '-007',
  '1e3',
  '1E3',
  '1.',
  '.5',
  '-.5',
  '.',
  '-',
  '--5',
  '5-3',
  '1_000',
  '0x10',
  '0b1',
  '2147483647',
  '2147483648',
  '-2147483648',
  '-2147483649',
  '32767',
  '32768',
  '9223372036854775807',
  '9223372036854775808',
  '1.005',
  '1.500',
  '999.99',
  '1000',
  '999.995',
  '-999.99',
  '00999.99',
  '99999',
  '9999',
  '1,5',
  'NaN',
  'Infinity',
  '-Infinity',
  'inf',
  'nan',
  '1e308',
  '1e309',
  '1e39',
  '1e-400',
  '1e-46',
  '1e-45',
  '0e-999',
  '1e',
  'e5',
  '1.e5',
  'true',
  'TRUE',
  'True',
  'tRue',
  't',
  'yes',
  '1',
  'on',
  'false',
  '2024-02-29',
  '2023-02-29',
  '2024-13-01',
  '2024-00-10',
  '0000-01-01',
  '0001-01-01',
  '9999-12-31',
  '10000-01-01',
  '2024-1-1',
  '01/02/2024',
  '20240101',
  'today',
  'infinity',
  'epoch',
  '2024-01-01 BC',
  '-123-01-01',
  '2024-01-01 ',
  '24:00',
  '24:00:00',
  '23:59',
  '23:59:60',
  '23:59:59.123456',
  '23:59:59.1234567',
  '7:00',
  '07:00:00Z',
  'noon',
  'allballs',
  '2024-01-01T00:00:00Z',
  '2024-01-01 00:00:00',
  '2024-01-01T00:00',
  '2024-01-01T24:00:00Z',
  '2024-01-01T23:59:60Z',
  '2024-01-01T24:00:00.000Z',
  '2024-01-01T23:59:60.000Z',
  '2024-01-01T23:59:59.999Z',
  '2024-02-30T00:00:00.000Z',
  '0000-01-01T00:00:00.000Z',
  '2024-01-01T00:00:00.123Z',
  '2024-01-01T00:00:00.1234Z',
  '2024-01-01T00:00:00.123000Z',
  '2024-01-01T00:00:00+02:00',
  '2024-01-01T00:00:00+0200',
  '2024-01-01T00:00:00+02',
  '2024-01-01T00:00:00+15:00',
  '2024-01-01T00:00:00 Z',
  '2024-01-01t00:00:00z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59-14:00',
  '2024-01-01',
  'now',
  'äöü',
  'äöüß',
  '😀😀😀',
  '😀😀😀😀',
  'abc',
  'abcd',
  '0f8fad5b-d9cb-469f-a165-70867728950e',
  '0F8FAD5B-D9CB-469F-A165-70867728950E',
  '{0f8fad5b-d9cb-469f-a165-70867728950e}',
  '0f8fad5bd9cb469fa16570867728950e',
  '{}',
  '[1,2',
  '{"a":1,"a":2}',
  '"x"',
  'null',
  '"\\u0000"',
  '"\\ud800"',
  '"\\ud83d\\ude00"',
  '{"a":1e400000}',
  '0e32024',
  '[1e999, 1E+0999, -1.5e-999]',
  '1e1000',
  '{"a":1E-0001000}',
  '0.001e-9999',
  '{"a\\"1e9999":"1e9999\\\\"}',
  '["\\\\",1e9999,"\\\\"]',
  `1${'0'.repeat(131_071)}`,
  `1${'0'.repeat(131_072)}`,
  `1${'0'.repeat(130_072)}e999`,
  `1${'0'.repeat(130_073)}e999`,
  `0.${'0'.repeat(16_382)}1`,
  `0.${'0'.repeat(16_383)}1`,
  `0.${'0'.repeat(17_381)}1e999`,
  `0.${'0'.repeat(17_382)}1e999`,
  `0.0001${'0'.repeat(2_000)}e999`,
  '1e400000',
  "{'a':1}",
  '[1,]',
  ' {"a": 1} ',
  '01',
];

const pieces = fc.constantFrom(...'0123456789-+.:eETZ /_xaf"{}[],'.split(''), '2024', '-01', 'T00', ':00', '00', '.5');
const texts = fc
  .oneof(
    fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.constantFrom(...written),
    fc.string({ maxLength: 6 }),
  )
  .filter((text) => !text.includes('\u0000') && text.isWellFormed());

async function brokenInSql(shape: ColumnShape, cells: string[]): Promise<boolean[]> {
  const values = new Values();
  const text = `select ${anyBrokenSql(typeOf(shape).checks(shape), 'x', values.bind)} as broken from unnest($${values.list.length + 1}::text[]) with ordinality u(x, n) order by n`;
  const { rows } = await client.query({ text, values: [...values.list, cells] });
  return rows.map((row) => row.broken);
}

const brokenInJs = (shape: ColumnShape, cell: string) =>
  typeOf(shape)
    .checks(shape)
    .some((check) => check.brokenBy(cell));

describe.each(shapes)('the rules of $data_type ($length, $scale)', (shape) => {
  it('say the same of written examples in both languages', async () => {
    const inSql = await brokenInSql(shape, written);
    expect(written.filter((cell, i) => inSql[i] !== brokenInJs(shape, cell))).toEqual([]);
  });

  it('say the same of anything in both languages', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { minLength: 50, maxLength: 200 }), async (cells) => {
        const inSql = await brokenInSql(shape, cells);
        expect(cells.filter((cell, i) => inSql[i] !== brokenInJs(shape, cell))).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });
});

it('calls nothing for each value of a JSON cell', () => {
  const given = reviversOf(() => {
    expect(jsonCheck.brokenBy('[1, 12345678901234567890, 1e3, "1e1000", {"1e1000": 1}]')).toBe(false);
    expect(jsonCheck.brokenBy('["1", 1e1000]')).toBe(true);
    expect(jsonCheck.brokenBy('{"\\u0000": 1}')).toBe(true);
  });
  expect(given).toEqual([undefined, undefined, undefined]);
});

it.each(['text', 'json'] as const)('takes a %s of 1 MB and not a byte more', async (data_type) => {
  const shape: ColumnShape = { data_type, length: null, scale: null };
  const cells = ['x', 'ü'].flatMap((letter) => {
    const fitting = letter.repeat((limits.textCellBytes - 2) / Buffer.byteLength(letter));
    return [`"${fitting}"`, `"${fitting}x"`];
  });
  expect(cells.map((cell) => brokenInJs(shape, cell))).toEqual([false, true, false, true]);
  expect(await brokenInSql(shape, cells)).toEqual([false, true, false, true]);
});

describe('values that pass', () => {
  it('are stored and shown as they were written, in the one canonical form', async () => {
    const examples: [DataType, string, string][] = [
      ['integer', '-007', '-7'],
      ['bigint', '9223372036854775807', '9223372036854775807'],
      ['decimal', '12345678901234567.890', '12345678901234567.890'],
      ['boolean', 'TRUE', 'true'],
      ['date', '2024-02-29', '"2024-02-29"'],
      ['time', '07:30', '"07:30:00"'],
      ['datetime', '2024-01-01T00:00:00+02:00', '"2023-12-31T22:00:00.000Z"'],
      ['timestamptz', '2024-01-01 00:00:00', '"2024-01-01T00:00:00.000Z"'],
      ['string', 'a"b\\c\n😀', JSON.stringify('a"b\\c\n😀')],
      ['json', '{"a":1.0}', '{"a": 1.0}'],
      ['double', '1e300', '1e+300'],
    ];
    for (const [data_type, cell, shown] of examples) {
      const { base, jsonSql } = typeOf({ data_type });
      const { rows } = await client.query(`select (${jsonSql('v')})::text as shown from (select $1::${base} as v) s`, [
        cell,
      ]);
      expect([data_type, rows[0].shown]).toEqual([data_type, shown]);
    }
  });

  it('show instants with exactly three digits', async () => {
    const form = `to_char(v, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    const times = `select timestamptz '0001-01-01 00:00:00Z' + random() * interval '9998 years' as v from generate_series(1, 2000)
      union all select timestamptz '2030-01-01 00:00:00Z' + i * interval '0.0001 s' from generate_series(0, 2000) i`;
    const own = typeOf({ data_type: 'datetime' });
    const { rows } = await client.query(
      `select count(*) filter (where ${own.textSql('v')} <> ${form} or ${own.jsonSql('v')} <> '"' || ${form} || '"') as other
       from (select v::timestamptz(3) as v from (${times}) t) s`,
    );
    expect(rows).toEqual([{ other: '0' }]);
  });
});
