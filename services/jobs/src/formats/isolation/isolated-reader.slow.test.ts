import { ServiceError } from '@almanac/service-kit/errors';
import { textRow, workbookOf } from '@almanac/testkit/files/workbooks';
import { fileOf, problemOf, readAll } from '../../../tests/formats/files.ts';
import { parquetOf } from '../../../tests/formats/parquet-files.ts';
import { openIsolated } from './isolated-reader.ts';

const workbook = await workbookOf(textRow('code', 'name') + textRow('a', 'x') + textRow('b', 'y'));

describe('a reader in a child process', () => {
  it('reads the same as a reader in this process', async () => {
    const file = await openIsolated(fileOf(workbook), 'xlsx');
    expect([file.format, file.header, file.layout.numbered]).toEqual(['xlsx', ['code', 'name'], true]);
    expect(await readAll(file, { code: 'text', name: 'text' })).toEqual([
      { number: 2, cells: ['a', 'x'], problems: [] },
      { number: 3, cells: ['b', 'y'], problems: [] },
    ]);
    expect(file.rowsRead()).toBe(2);
    await file.close();
  });

  it('reports errors of a file, also late ones', async () => {
    expect(await problemOf(openIsolated(fileOf('PK'), 'xlsx'))).toContain('damaged');
    expect(await problemOf(openIsolated(fileOf('PAR1'), 'parquet'))).toContain('damaged');
    const late = await openIsolated(fileOf(await workbookOf(`${textRow('a').repeat(50_000)}<row>`)), 'xlsx');
    expect(await problemOf(readAll(late, { a: 'text' }))).toContain('not well-formed');
    await late.close();
  });

  it('fails with the error of its source', async () => {
    const away = new ServiceError('unavailable', 'The object store is away.');
    const source = fileOf(workbook);
    // biome-ignore lint/correctness/useYield: it fails before the first byte
    source.range = async function* () {
      throw away;
    };
    await expect(openIsolated(source, 'xlsx')).rejects.toBe(away);
    await expect(openIsolated(source, 'parquet')).rejects.toBe(away);
  });

  it('ends alone when a page claims a run that exceeds any memory', async () => {
    const data = Array.from({ length: 300 }, (_, i) => `value ${i % 50}`);
    const bytes = parquetOf({ a: { type: 'BYTE_ARRAY', converted_type: 'UTF8', data } }, { codec: 'UNCOMPRESSED' });
    const run = bytes.indexOf(Buffer.from([0xd8, 0x04, 0x01, 0x06])); // 300 values, all of them there
    expect(run).toBeGreaterThan(0);
    Buffer.from([0xfe, 0xff, 0xff, 0xff, 0x0f]).copy(bytes, run);
    const file = await openIsolated(fileOf(bytes), 'parquet', 64);
    expect(await problemOf(readAll(file, { a: 'text' }))).toContain('more memory than an import may have');
    await file.close();
  });

  it('ends alone when a file takes too much memory', async () => {
    const texts = Array.from({ length: 300_000 }, (_, i) => `<si><t>${i} of many texts</t></si>`).join('');
    const large = fileOf(await workbookOf(textRow('a'), { texts }), 1024 * 1024);
    expect(await problemOf(openIsolated(large, 'xlsx', 16))).toContain('more memory than an import may have');
  });
});
