import { fileOf, readAll } from '../../tests/formats/files.ts';
import { writeTsv } from './csv/tsv-writer.ts';
import { openJson } from './json/json-reader.ts';
import { writeJson, writeNdjson } from './json/json-writer.ts';
import { copiedRows } from './table-file/copied-rows.ts';

const columns = [
  { name: 'code', dataType: 'string' },
  { name: 'n "1"', dataType: 'bigint' },
  { name: 'price', dataType: 'decimal' },
  { name: 'ok', dataType: 'boolean' },
  { name: 'doc', dataType: 'json' },
  { name: 'day', dataType: 'date' },
];
const copied =
  'a,9223372036854775807,12.50,true,"{""a"": 1.10}",2024-02-29\n"","","x,""y""\n","\t",,\n,,,,,\n"🏔",-1,0.0000001,false,"""t""",2024-01-01\n';
const cells = [
  ['a', '9223372036854775807', '12.50', 'true', '{"a": 1.10}', '2024-02-29'],
  ['', '', 'x,"y"\n', '\t', null, null],
  [null, null, null, null, null, null],
  ['🏔', '-1', '0.0000001', 'false', '"t"', '2024-01-01'],
];

const rows = (text: string, size: number) => copiedRows(fileOf(text, size).open());

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe('the rows of an export', () => {
  it.each([1, 2, 3, 5, 8, 1000])('are read in any pieces: of %d bytes', async (size) => {
    const read: unknown[] = [];
    for await (const batch of rows(copied, size)) read.push(...batch);
    expect(read).toEqual(cells);
  });

  it('arrive in small batches, and a long one complete', async () => {
    const long = 'x🏔"\n'.repeat(100_000);
    const lengths: number[] = [];
    const read: unknown[] = [];
    const line = `"${long.replaceAll('"', '""')}",1\n`;
    for await (const batch of rows(`${'a,b\n'.repeat(50_000)}${line}${'c,\n'.repeat(50_000)}`, 600_000)) {
      lengths.push(batch.length);
      read.push(...batch);
    }
    expect(lengths[0]).toBeLessThan(10_000);
    expect(read.length).toBe(100_001);
    expect(read.slice(49_999, 50_002)).toEqual([
      ['a', 'b'],
      [long, '1'],
      ['c', null],
    ]);
  });

  it.each(['a,b', 'a,"b', 'a,"b"'])('are incomplete when they end as %s', async (text) => {
    await expect(textOf(writeTsv(columns, rows(text, 100)))).rejects.toThrow('end within a row');
  });
});

describe('an export', () => {
  const plain = 'a,9223372036854775807,12.50,true,"{""a"": 1.10}",2024-02-29\n,,,,,\n"",-1,,,,\n';

  it('as TSV distinguishes null from empty text', async () => {
    expect(await textOf(writeTsv(columns.slice(0, 3), rows('"",,"a\tb"\n"x ""y""",1,2\n', 3)))).toBe(
      'code\t"n ""1"""\tprice\n""\t\t"a\tb"\n"x ""y"""\t1\t2\n',
    );
  });

  it.each([1, 7, 1000])('as JSON keeps all digits, in pieces of %d bytes', async (size) => {
    const lines = [
      '{"code":"a","n \\"1\\"":9223372036854775807,"price":12.50,"ok":true,"doc":{"a": 1.10},"day":"2024-02-29"}',
      '{"code":null,"n \\"1\\"":null,"price":null,"ok":null,"doc":null,"day":null}',
      '{"code":"","n \\"1\\"":-1,"price":null,"ok":null,"doc":null,"day":null}',
    ];
    expect(await textOf(writeNdjson(columns, rows(plain, size)))).toBe(`${lines.join('\n')}\n`);
    expect(await textOf(writeJson(columns, rows(plain, size)))).toBe(`[\n${lines.join(',\n')}\n]\n`);
    expect(await textOf(writeJson(columns, rows('', size)))).toBe('[]\n');
  });

  it.each(['json', 'ndjson'] as const)('as %s is read back unchanged', async (format) => {
    const write = format === 'json' ? writeJson : writeNdjson;
    const text = await textOf(write(columns, rows(plain, 1000)));
    const file = await openJson(() => fileOf(text).open(), { format, columns: [] });
    const types = Object.fromEntries(columns.map(({ name, dataType }) => [name, dataType]));
    const read = await readAll(file, types);
    expect(read.map((row) => [row.problems, ...row.cells])).toEqual([
      [[], 'a', '9223372036854775807', '12.5', 'true', '{"a":1.1}', '2024-02-29'],
      [[], null, null, null, null, null, null],
      [[], '', '-1', null, null, null, null],
    ]);
  });
});
