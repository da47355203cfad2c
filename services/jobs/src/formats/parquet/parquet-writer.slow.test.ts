import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileOf, problemOf, readAll } from '../../../tests/formats/files.ts';
import { openParquet } from './parquet-reader.ts';
import { writeParquet } from './parquet-writer.ts';

const columns = [
  { name: `it's "a"`, dataType: 'bigint' },
  { name: 'text', dataType: 'text' },
];

async function bytesOf(file: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of file) parts.push(part);
  return Buffer.concat(parts);
}

describe('a written Parquet file', () => {
  const kept = process.env.TMPDIR;
  const folder = mkdtempSync(join(tmpdir(), 'written-parquet-'));
  beforeAll(() => {
    process.env.TMPDIR = folder;
  });
  // However the test ended.
  afterEach(() => expect(readdirSync(folder)).toEqual([]));
  afterAll(() => {
    if (kept === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = kept;
    rmSync(folder, { recursive: true, force: true });
  });

  it('without rows has its columns', async () => {
    const file = await openParquet(fileOf(await bytesOf(writeParquet(columns, fileOf('').open()))));
    expect(file.header).toEqual(columns.map(({ name }) => name));
    expect(await readAll(file, { text: 'text' })).toEqual([]);
  });

  it('holds a long row, and fails when one is too long', async () => {
    const long = (length: number) => fileOf(`1,${'x'.repeat(length)}\n`, 1_000_000).open();
    const file = await openParquet(fileOf(await bytesOf(writeParquet(columns, long(3_000_000))), 1_000_000));
    const rows = await bytesOf(file.rows(file.header.map((target) => ({ target, dataType: 'text' }))));
    expect(rows.toString()).toBe(`1,,1,${'x'.repeat(3_000_000)}\n`);
    expect(await problemOf(bytesOf(writeParquet(columns, long(17_000_000))))).toContain('export as another format');
  });

  it('fails with the error of the rows', async () => {
    const away = new Error('the table is away');
    async function* rows() {
      yield Buffer.from('1,a\n');
      throw away;
    }
    await expect(bytesOf(writeParquet(columns, rows()))).rejects.toBe(away);
  });

  it('fails when a row does not match the columns', async () => {
    await expect(bytesOf(writeParquet(columns, fileOf('a,b\n').open()))).rejects.toThrow('Conversion Error');
  });

  it('stops when its reader stops', async () => {
    async function* endless() {
      for (let i = 0; ; i += 1) yield Buffer.from(`${i},some text\n`.repeat(10_000));
    }
    for await (const part of writeParquet(columns, endless())) {
      expect(part.length).toBeGreaterThan(0);
      break;
    }
  });
});
