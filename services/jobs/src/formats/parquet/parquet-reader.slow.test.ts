import { crc32 } from 'node:zlib';
import { type ColumnMetaData, parquetMetadata, type SchemaElement } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { fileOf, problemOf, readAll } from '../../../tests/formats/files.ts';
import { type GivenColumn as Column, parquetOf } from '../../../tests/formats/parquet-files.ts';
import { columnPages } from './parquet-pages.ts';
import { openParquet } from './parquet-reader.ts';

async function readParquet(bytes: Uint8Array, types: Record<string, string>) {
  const file = await openParquet(fileOf(bytes, 100_000));
  return { header: file.header, rows: await readAll(file, types), seen: file.rowsRead() };
}

const decimal = (precision: number, scale: number) => ({ converted_type: 'DECIMAL', precision, scale }) as const;
const logical = (type: string, unit: string) =>
  ({ logical_type: { type, isAdjustedToUTC: true, unit } as SchemaElement['logical_type'] }) as const;

// A 32-bit integer in Thrift's compact protocol.
function zigzag(value: number): number[] {
  const bytes: number[] = [];
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return [...bytes, rest];
}

async function textsOf(column: Column, dataType = 'text') {
  const { rows } = await readParquet(parquetOf({ v: column }), { v: dataType });
  return rows.map(({ cells, problems }) => problems[0]?.message ?? cells[0]);
}

describe('a Parquet file', () => {
  const columns: [string, Column, (string | null)[], string?][] = [
    ['booleans', { type: 'BOOLEAN', data: [true, false, null] }, ['true', 'false', null]],
    ['integers', { type: 'INT32', data: [-2147483648, null, 7] }, ['-2147483648', null, '7']],
    ['unsigned ones', { type: 'INT32', converted_type: 'UINT_32', data: [4294967295, 0] }, ['4294967295', '0']],
    ['long ones', { type: 'INT64', data: [9223372036854775807n, -1n] }, ['9223372036854775807', '-1']],
    [
      'unsigned long ones',
      { type: 'INT64', converted_type: 'UINT_64', data: [18446744073709551615n] },
      ['18446744073709551615'],
    ],
    [
      'floats',
      { type: 'FLOAT', data: [Math.fround(0.1), 1e30, null] },
      ['0.1', '1000000000000000000000000000000', null],
    ],
    ['doubles', { type: 'DOUBLE', data: [0.1, 1e-7, 5, Number.NaN] }, ['0.1', '0.0000001', '5', 'NaN']],
    ['decimals in 32 bits', { type: 'INT32', ...decimal(9, 2), data: [-12345n, 5n] }, ['-123.45', '0.05']],
    ['decimals in 64 bits', { type: 'INT64', ...decimal(18, 3), data: [123456789012345678n] }, ['123456789012345.678']],
    [
      'decimals in bytes',
      {
        type: 'FIXED_LEN_BYTE_ARRAY',
        type_length: 16,
        ...decimal(38, 10),
        data: [-1n, 12345678901234567890123456789n],
      },
      ['-0.0000000001', '1234567890123456789.0123456789'],
    ],
    ['texts', { type: 'BYTE_ARRAY', converted_type: 'UTF8', data: ['', 'Zürich "🏔"', null] }, ['', 'Zürich "🏔"', null]],
    [
      'UUIDs',
      {
        type: 'FIXED_LEN_BYTE_ARRAY',
        type_length: 16,
        logical_type: { type: 'UUID' },
        data: ['0f8fad5b-d9cb-469f-a165-70867728950e'],
      },
      ['0f8fad5b-d9cb-469f-a165-70867728950e'],
    ],
    [
      'days',
      { type: 'INT32', converted_type: 'DATE', data: [new Date('2024-02-29'), new Date(-86400000)] },
      ['2024-02-29', '1969-12-31'],
    ],
    [
      'moments in milliseconds',
      { type: 'INT64', ...logical('TIMESTAMP', 'MILLIS'), data: [-1n, 0n] },
      ['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z'],
    ],
    [
      'moments at midnight for dates',
      { type: 'INT64', ...logical('TIMESTAMP', 'MICROS'), data: [86400000000n] },
      ['1970-01-02'],
      'date',
    ],
    [
      'moments in nanoseconds',
      { type: 'INT64', ...logical('TIMESTAMP', 'NANOS'), data: [1n, 1500000n, -1n] },
      ['1970-01-01T00:00:00.000000001Z', '1970-01-01T00:00:00.0015Z', '1969-12-31T23:59:59.999999999Z'],
    ],
    [
      'times of day',
      { type: 'INT64', ...logical('TIME', 'MICROS'), data: [0n, 86399999999n, 3600000000n] },
      ['00:00:00', '23:59:59.999999', '01:00:00'],
    ],
    [
      'bytes that are no text',
      { type: 'BYTE_ARRAY', data: [Uint8Array.of(0xff)] },
      ['v holds a value that is no text'],
    ],
    [
      'U+0000',
      { type: 'BYTE_ARRAY', converted_type: 'UTF8', data: ['a\0b'] },
      ['v holds a character that no text may hold'],
    ],
  ];
  it.each(columns.map(([what, column, texts, dataType = 'text']) => ({ what, column, texts, dataType })))(
    'gives $what',
    async ({ column, texts, dataType }) => {
      expect(await textsOf(column, dataType)).toEqual(texts);
    },
  );

  const many = Array.from({ length: 25_000 }, (_, i) => i);
  it.each(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD', 'BROTLI'])(
    'packed by %s, with many pages and groups',
    async (codec) => {
      const bytes = parquetOf(
        {
          id: { type: 'INT64', data: many.map(BigInt), encoding: 'DELTA_BINARY_PACKED' },
          skipped: { type: 'BOOLEAN', data: many.map(() => true) },
          group: { type: 'BYTE_ARRAY', converted_type: 'UTF8', data: many.map((i) => (i % 3 ? `g${i % 7}` : null)) },
          name: { type: 'BYTE_ARRAY', converted_type: 'UTF8', data: many.map((i) => `name of ${i}`) },
        },
        { codec, rows: 10_000, pageSize: 5000 },
      );
      const { header, rows, seen } = await readParquet(bytes, { id: 'bigint', group: 'string', name: 'string' });
      expect([header, seen]).toEqual([['id', 'skipped', 'group', 'name'], 25_000]);
      expect(rows.map(({ number, cells }) => [number, ...cells])).toEqual(
        many.map((i) => [i + 1, `${i}`, null, i % 3 ? `g${i % 7}` : null, `name of ${i}`]),
      );
    },
  );

  it('gives real dates in a form that matches no date format of a mapping, where there is one', async () => {
    const days = { type: 'INT32', converted_type: 'DATE', data: [new Date('2024-02-03')] } as const;
    const moments = { type: 'INT64', ...logical('TIMESTAMP', 'MICROS'), data: [1706918400000000n] } as const;
    const texts = { type: 'BYTE_ARRAY', converted_type: 'UTF8', data: ['2024-02-03'] } as const;
    const clocks = { type: 'INT64', ...logical('TIME', 'MICROS'), data: [0n] } as const;
    const columns = { days, moments, texts, clocks, plain: days } as unknown as Record<string, Column>;
    const file = await openParquet(fileOf(parquetOf(columns), 100_000));
    const types = { days: 'date', moments: 'date', texts: 'date', clocks: 'time', plain: 'date' };
    const [read] = await readAll(file, types, ['days', 'moments', 'texts', 'clocks']);
    const day = '2024-02-03T00:00:00.000Z';
    expect(read?.cells).toEqual([day, day, '2024-02-03', '00:00:00', '2024-02-03']);
  });

  it('with pages that contradict their checksums is refused', async () => {
    const bytes = parquetOf({ a: { type: 'INT32', data: [1, 2, 3] } }, { codec: 'UNCOMPRESSED' });
    const metadata = parquetMetadata(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer,
    );
    const chunk = metadata.row_groups[0]?.columns[0]?.meta_data as ColumnMetaData;
    const [root, element] = metadata.schema as [SchemaElement, SchemaElement];
    const at = Number(chunk.data_page_offset);
    const reader = { view: new DataView(bytes.buffer, bytes.byteOffset), offset: at };
    const { compressed_page_size } = parquetHeader(reader);
    const sum = crc32(bytes.subarray(reader.offset, reader.offset + compressed_page_size));
    // Fields are encoded as distances: the field after the third is the eighth, or the fourth,
    // which is the checksum.
    const next = bytes.indexOf(0x5c, at);
    const withSum = (given: number) => {
      const field = [0x15, ...zigzag(given), 0x4c];
      const all = Buffer.concat([bytes.subarray(0, next), Buffer.from(field), bytes.subarray(next + 1)]);
      const total_compressed_size = chunk.total_compressed_size + BigInt(field.length - 1);
      return { all, chunk: { ...chunk, total_compressed_size } };
    };
    const read = async (given: ReturnType<typeof withSum>) => {
      const pages = columnPages(fileOf(given.all), { name: 'a', root, element }, given.chunk, 3, 1000);
      const values: unknown[] = [];
      for await (const page of pages) values.push(...page);
      return values;
    };
    expect(await read(withSum(sum | 0))).toEqual([1, 2, 3]);
    expect(await problemOf(read(withSum((sum ^ 1) | 0)))).toBe('The Parquet file is damaged or cut short.');
    const changed = withSum(sum | 0);
    changed.all[changed.all.indexOf(Buffer.from([2, 0, 0, 0]))] = 9;
    expect(await problemOf(read(changed))).toBe('The Parquet file is damaged or cut short.');
  });

  it('without rows has its header', async () => {
    const { header, rows } = await readParquet(parquetOf({ a: { type: 'INT32', data: [] } }), { a: 'integer' });
    expect([header, rows]).toEqual([['a'], []]);
  });

  it('with changed bytes anywhere fails as damaged or gives other rows, and never fails otherwise', async () => {
    const bytes = parquetOf(
      { a: { type: 'BYTE_ARRAY', converted_type: 'UTF8', data: many.slice(0, 300).map((i) => `value ${i % 50}`) } },
      { codec: 'UNCOMPRESSED' },
    );
    for (let at = 4; at < bytes.length; at += 3) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 0x15;
      expect(typeof (await problemOf(readParquet(changed, { a: 'text' })))).toBe('string');
    }
  });

  it.each([
    ['is cut short', (bytes: Buffer) => bytes.subarray(0, -5)],
    [
      'claims a footer larger than itself',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -8), Buffer.from('\xff\xff\xff\x00PAR1', 'latin1')]),
    ],
    ['is nothing but marks', () => Buffer.from('PAR1PAR1')],
  ])('that %s is refused', async (_what, change) => {
    const bytes = change(parquetOf({ a: { type: 'INT32', data: [1] } }));
    expect(await problemOf(readParquet(bytes, { a: 'integer' }))).toContain('damaged or cut short');
  });

  it('with a type that has no text is refused, unless that column is left out', async () => {
    const interval = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12, converted_type: 'INTERVAL' } as const;
    const bytes = parquetOf({
      a: { type: 'INT32', data: [1] },
      i: { ...interval, data: [new Uint8Array(12)] },
    });
    expect(await problemOf(readParquet(bytes, { i: 'text' }))).toContain('The column i');
    expect((await readParquet(bytes, { a: 'integer' })).rows).toHaveLength(1);
    expect(await problemOf(readParquet(bytes, {}))).toContain('No column of the file');
  });
});
