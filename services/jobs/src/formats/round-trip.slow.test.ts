import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { fileOf, problemOf, readAll } from '../../tests/formats/files.ts';
import { writeTsv } from './csv/tsv-writer.ts';
import { writeJson, writeNdjson } from './json/json-writer.ts';
import { openTableFile } from './open-file.ts';
import { writeParquet } from './parquet/parquet-writer.ts';
import { copiedRows, type ExportColumn } from './table-file/copied-rows.ts';
import { writeXlsx } from './xlsx/xlsx-writer.ts';

const writers = { tsv: writeTsv, ndjson: writeNdjson, json: writeJson, xlsx: writeXlsx };

const columns: ExportColumn[] = [
  { name: 'text', dataType: 'string' },
  { name: 'whole', dataType: 'bigint' },
  { name: 'small', dataType: 'integer' },
  { name: 'price', dataType: 'decimal', precision: 38, scale: 10 },
  { name: 'any', dataType: 'decimal' },
  { name: 'real', dataType: 'double' },
  { name: 'ok', dataType: 'boolean' },
  { name: 'day', dataType: 'date' },
  { name: 'clock', dataType: 'time' },
  { name: 'at', dataType: 'timestamptz' },
  { name: 'id', dataType: 'uuid' },
  { name: 'doc', dataType: 'json' },
];

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', ' a ', '_x0041_', 'a\r\nb\tc', '"', '""', ',', '=1+1', '\u0001\u001f', '007', '<&>', '🏔', 'null'),
);
const moment = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
const decimal = fc
  .tuple(fc.bigInt({ min: 1n - 10n ** 28n, max: 10n ** 28n - 1n }), fc.integer({ min: 0, max: 9_999_999_999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(10, '0')}`);
const json = fc
  .json({ maxDepth: 3 })
  .filter(
    (value) => value !== 'null' && value.isWellFormed() && !value.includes('\\u0000') && !value.includes('__proto__'),
  );
const cells: fc.Arbitrary<string>[] = [
  text.filter((value) => value.isWellFormed() && !value.includes('\0')),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  fc.integer().map(String),
  decimal,
  decimal,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => String(Object.is(value, -0) ? 0 : value)),
  fc.boolean().map(String),
  moment.map((value) => value.toISOString().slice(0, 10)),
  fc.integer({ min: 0, max: 86_399_999 }).map((ms) => new Date(ms).toISOString().slice(11, 23)),
  moment.map((value) => value.toISOString()),
  fc.uuid(),
  json,
];
const row = fc.tuple(...cells.map((cell) => fc.option(cell, { freq: 5 })));

const withoutLastZeros = (fraction: string) => fraction.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');

// The same text for the same value.
function canonical(value: string | null, i: number): string | null {
  if (value === null) return null;
  const { dataType } = columns[i] as ExportColumn;
  if (dataType === 'decimal')
    return withoutLastZeros(value)
      .replace(/^(-?)0+(?=\d)/, '$1')
      .replace(/^-0$/, '0');
  if (dataType === 'double') return String(Number(value));
  if (dataType === 'time') return withoutLastZeros(value);
  return dataType === 'json' ? JSON.stringify(JSON.parse(value)) : value;
}

const copied = (rows: readonly (string | null)[][]) =>
  rows
    .map((each) => `${each.map((cell) => (cell === null ? '' : `"${cell.replaceAll('"', '""')}"`)).join(',')}\n`)
    .join('');

type Format = keyof typeof writers | 'parquet';

async function written(format: Format, rows: (string | null)[][], some = columns): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const bytes = fileOf(copied(rows)).open();
  const file = format === 'parquet' ? writeParquet(some, bytes) : writers[format](some, copiedRows(bytes));
  for await (const part of file) parts.push(part);
  return Buffer.concat(parts);
}

async function readAgain(bytes: Uint8Array) {
  const names = columns.map(({ name }) => name);
  const wanted = { format: undefined, style: {}, expected: new Set(names), columns: names };
  const file = await openTableFile(fileOf(bytes, 100_000), wanted);
  try {
    expect(file.header).toEqual(names);
    if (file.layout.numbered)
      return await readAll(file, Object.fromEntries(columns.map(({ name, dataType }) => [name, dataType])));
    const parts: Uint8Array[] = [];
    for await (const part of file.rows([])) parts.push(part);
    const rows: (string | null)[][] = [];
    const commas = Buffer.concat(parts).toString().replaceAll('\t', ',');
    for await (const batch of copiedRows(fileOf(commas).open())) rows.push(...batch);
    return rows.map((each) => ({ cells: each, problems: [] }));
  } finally {
    await file.close();
  }
}

describe('an exported file', () => {
  it.each(['ndjson', 'json', 'xlsx', 'parquet'] as const)('as %s is imported unchanged', async (format) => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
        const filled = rows.filter((each) => each.some((cell) => cell !== null)) as (string | null)[][];
        const read = await readAgain(await written(format, filled));
        expect(read.map(({ problems, cells }) => [problems, ...cells.map(canonical)])).toEqual(
          filled.map((each) => [[], ...each.map(canonical)]),
        );
      }),
      { numRuns: format === 'xlsx' || format === 'parquet' ? 10 : 50 },
    );
  });

  it('as gzipped TSV is imported unchanged', async () => {
    const line = [
      'a "b"',
      '-1',
      '5',
      '1.50',
      null,
      '0.5',
      'true',
      '2024-02-29',
      '07:30:00',
      '2024-02-29T00:00:00.000Z',
      '',
      '{}',
    ];
    const read = await readAgain(gzipSync(await written('tsv', [line])));
    expect(read.map(({ cells }) => cells)).toEqual([line]);
  });

  it('with many rows and groups keeps their order', async () => {
    const rows = Array.from({ length: 25_000 }, (_, i) => [`${i}`, ...Array(11).fill(null)]);
    for (const format of ['xlsx', 'parquet'] as const) {
      const read = await readAgain(await written(format, rows));
      expect(read.map(({ cells }) => cells[0])).toEqual(rows.map(([first]) => first));
    }
  });

  it('as a workbook fails when a text is longer than a cell allows', async () => {
    const some = [{ name: 'text', dataType: 'string' }];
    expect((await written('xlsx', [['x'.repeat(32_767)]], some)).length).toBeGreaterThan(0);
    expect(await problemOf(written('xlsx', [['x'.repeat(32_768)]], some))).toContain('The cell text of row 2');
  });
});
