// The files of imports: how they arrive, which one is loaded, what is reported about their rows,
// and that nothing of them is left.
import { readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { textRow, workbookOf } from '@almanac/testkit/files/workbooks';
import { sweepObjects } from '../../src/files/stored-objects.ts';
import { sweep } from '../../src/maintenance/sweeper.ts';
import { parquetOf } from '../formats/parquet-files.ts';
import { ended, givenImport, givenJobs, type Jobs, runImport } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs({ work: { concurrency: 8, concurrencyPerAccount: 8 } });
  jobs.neighbours.addTable({ key: 'countries' });
  jobs.neighbours.addTable({ key: 'regions' });
  jobs.neighbours.addTable({ key: 'foreign', account_id: 2, branch_id: 3 });
});
afterAll(() => jobs.close());

const workbook = await workbookOf(textRow('code', 'name') + textRow('U1', 'in a cell'));
const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;

const post = (path: string, body?: unknown, headers?: Record<string, string>) =>
  jobs.call('POST', `/api/v1${path}`, body, headers);

describe('a file', () => {
  const file = 'code,name\nAT,Austria\n';
  const withTable = async (options = {}) => {
    const made = await givenImport(jobs, { countries: undefined }, options);
    return { id: made.id as number, path: `/api/v1/imports/${made.id}/tables/${made.import_tables[0].id}/file` };
  };

  it('can be streamed through the API, and replaced until the uploads are complete', async () => {
    const { id, path } = await withTable();
    expect((await jobs.send('PUT', path, 'code,name\nXX,Wrong\n')).status).toBe(200);
    const put = await jobs.send('PUT', path, file, { 'content-type': 'text/csv' });
    expect(put).toMatchObject({ status: 200, body: { status: 'uploaded', file_size: file.length } });
    await post(`/imports/${id}/upload_complete`);
    expect((await ended(jobs, `/imports/${id}`)).status).toBe('completed');
    expect([...(jobs.neighbours.tables[0]?.rows.values() ?? [])].map(({ code }) => code)).not.toContain('XX');
    expect((await jobs.send('PUT', path, file)).status).toBe(422);
  });

  it.each(
    [
      ['API', 'URL'],
      ['URL', 'API'],
      ['URL', 'API', 'URL'],
      ['API', 'URL', 'API'],
      ['API', 'API', 'URL', 'URL'],
    ].map((ways) => [ways]),
  )('is the newest one, however it was uploaded: %j', async (ways) => {
    const { id } = (await post('/imports', { branch_id: 1 })).body;
    const headers = { 'idempotency-key': `table-of-${id}` };
    const table = { table_definition_key: 'countries', pattern: 'incremental' };
    const codes = ways.map((_, n) => `I${id}N${n}`);
    for (const [n, way] of ways.entries()) {
      const body = `code,name\n${codes[n]},x\n`;
      const { id: tableId, upload_url } = (await post(`/imports/${id}/tables`, table, headers)).body;
      const answer =
        way === 'API'
          ? await jobs.send('PUT', `/api/v1/imports/${id}/tables/${tableId}/file`, body)
          : await fetch(upload_url, { method: 'PUT', body });
      expect(answer.status).toBe(200);
    }
    const sweepLate = async () => {
      const key = { startsWith: `accounts/1/imports/${id}-` };
      await jobs.context.prisma.stored_object.updateMany({ where: { key }, data: { expires_at: new Date(0) } });
      await sweep(jobs.context);
    };
    await sweepLate();
    expect((await post(`/imports/${id}/upload_complete`)).status).toBe(200);
    expect(await ended(jobs, `/imports/${id}`)).toMatchObject({ status: 'completed' });
    const { rows } = jobs.neighbours.tables[0] as { rows: Map<string, unknown> };
    expect(codes.filter((code) => rows.has(`["${code}"]`))).toEqual(codes.slice(-1));
    await sweepLate();
    const left = readdirSync(jobs.folder, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => name.includes(`/imports/${id}-`))).toEqual([]);
  });

  it('that is missing or empty fails its table, and the others load', async () => {
    const done = await runImport(jobs, { countries: undefined, regions: 'code,name\nR9,x\n' });
    expect(done.status).toBe('completed_with_errors');
    expect(
      done.import_tables.map(({ status, errors }: { status: string; errors: string[] }) => [status, errors]),
    ).toEqual([
      ['failed', ['No file was uploaded.']],
      ['completed', []],
    ]);
    const empty = await runImport(jobs, { countries: '' });
    expect([empty.status, empty.import_tables[0].errors]).toEqual(['failed', ['The file is empty.']]);
  });

  it('of another size than declared keeps the import open for the right one', async () => {
    const { id, path } = await withTable({ file_size: file.length });
    const missing = await post(`/imports/${id}/upload_complete`);
    expect(missing.status).toBe(422);
    await jobs.send('PUT', path, file.slice(0, 10));
    const half = await post(`/imports/${id}/upload_complete`);
    expect(half).toMatchObject({ status: 422, body: { errors: [expect.stringContaining('10 of the 21 bytes')] } });
    expect((await jobs.call('GET', `/api/v1/imports/${id}`)).body.status).toBe('uploading');
    await jobs.send('PUT', path, file);
    await post(`/imports/${id}/upload_complete`);
    expect((await ended(jobs, `/imports/${id}`)).status).toBe('completed');
  });

  it('that is replaced after upload_complete is not loaded', async () => {
    jobs.neighbours.dataIsAway = true;
    const opened = await post('/imports', { branch_id: 1 });
    jobs.neighbours.dataIsAway = false;
    const added = await post(`/imports/${opened.body.id}/tables`, {
      table_definition_key: 'countries',
      pattern: 'incremental',
    });
    jobs.neighbours.dataIsAway = true;
    await fetch(added.body.upload_url, { method: 'PUT', body: file });
    expect((await post(`/imports/${opened.body.id}/upload_complete`)).status).toBe(200);
    await fetch(added.body.upload_url, { method: 'PUT', body: 'code,name\nZZ,Zapped\n' });
    jobs.neighbours.dataIsAway = false;
    const done = await ended(jobs, `/imports/${opened.body.id}`);
    expect(done).toMatchObject({
      status: 'failed',
      import_tables: [{ errors: [expect.stringContaining('removed or replaced')] }],
    });
  });

  it.each([
    ['with a column the table lacks', 'code,name,extra\nDE,x,y\n', 'no column for "extra"'],
    ['with a dangerous header', 'code,__proto__,constructor\nDE,x,y\n', 'no column for "__proto__", "constructor"'],
    ['with a header twice', 'code,name,Name\nDE,x,y\n', 'both give name'],
    ['without its key', 'name\nx\n', 'no column for the key: code'],
    ['with a nameless column', 'code,name,\nDE,x,y\n', 'column 3 (without a name)'],
    ['that is not text', Buffer.from([0x63, 0x6f, 0x64, 0x65, 0x0a, 0x81, 0xfe, 0x0a]), 'not valid UTF-8'],
    ['with a broken gzip', gzipSync('code,name\n').subarray(0, 15), 'damaged or cut short'],
    ['with an open quote', 'code,name\nDE,"x\n', 'never closed'],
    ['with transaction codes where none belong', 'code,svc_transaction_code\nDE,d\n', 'svc_transaction_code goes with'],
  ])('%s fails with the reason', async (_what, content, problem) => {
    const done = await runImport(jobs, { countries: content });
    expect(done.status).toBe('failed');
    expect(done.import_tables[0].errors.join(' ')).toContain(problem);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([
    ['with a byte order mark', '\ufeffcode,name\r\nU1,"line\r\nbreak"\r\n', 'line\r\nbreak'],
    ['with a quoted header over two lines', '"code","na\nme"\n', undefined],
    ['with semicolons', 'code;name\nU1;a,b\n', 'a,b'],
    ['packed by gzip', gzipSync('code,name\nU1,packed\n'), 'packed'],
    [
      'in UTF-16',
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('code\tname\nU1\tZürich\n', 'utf16le')]),
      'Zürich',
    ],
    ['in Windows-1252', Buffer.from('code;name\nU1;Z\xfcrich \x80\n', 'latin1'), 'Zürich €'],
    ['in lines of JSON', '{"code":"U1","name":"Zürich"}\n', 'Zürich'],
    ['in a JSON array in UTF-16', Buffer.from('\ufeff[ {"code":"U1","name":"Zürich"} ]', 'utf16le'), 'Zürich'],
    ['in JSON packed by gzip', gzipSync('[{"name":"packed","code":"U1"}]'), 'packed'],
    ['as a workbook', workbook, 'in a cell'],
    ['as a packed workbook', gzipSync(workbook), 'in a cell'],
    ['in Parquet', parquetOf({ code: { ...text, data: ['U1'] }, name: { ...text, data: ['in a page'] } }), 'in a page'],
    ['with columns of an export', 'svc_sk,code,name,svc_updated_at\n1,U1,again,2026-01-01\n', 'again'],
    ['with a formula', 'code,name\nU1,=1+1\n', '=1+1'],
  ])('%s', async (_what, content, name) => {
    const done = await runImport(jobs, { countries: content });
    expect(done.status).toBe(name === undefined ? 'failed' : 'completed');
    if (name !== undefined) expect(jobs.neighbours.tables[0]?.rows.get('["U1"]')).toEqual({ code: 'U1', name });
  });

  it('shows the format that it was found to be in, and rows as a person finds them', async () => {
    const options = { on_error: 'reject_rows', import_mapping_id: null };
    const done = await runImport(
      jobs,
      { countries: '\n{"code":"J1","name":7}\n{"code":"J2","name":"ok"}\n{' },
      options,
    );
    expect(done.import_tables[0]).toMatchObject({
      status: 'completed_with_errors',
      format: 'ndjson',
      metrics: { rows_read: 3, rejected: 2 },
      rejections: [
        { row: 2, column: 'name', value: '7', message: 'name must be text' },
        { row: 4, column: '', value: '{', message: 'The record is not valid JSON.' },
      ],
    });
  });

  it('has its ragged lines rejected if rows may be, and is else read up to the first of them', async () => {
    const ragged = 'code;name\nR1;ok\nR2\nR3;"x;y";z\nR4;ok\n';
    const done = await runImport(jobs, { countries: ragged }, { on_error: 'reject_rows', import_mapping_id: null });
    expect(done.import_tables[0]).toMatchObject({
      status: 'completed_with_errors',
      metrics: { rows_read: 4, rejected: 2, inserted: 2 },
      rejections: [
        { row: 3, column: '', value: 'R2', message: 'The row has 1 cell, the header has 2.' },
        { row: 4, column: '', value: 'R3;"x;y";z', message: 'The row has 3 cells, the header has 2.' },
      ],
    });
    expect((await runImport(jobs, { countries: ragged })).import_tables[0]).toMatchObject({
      status: 'failed',
      errors: [expect.stringContaining('Record Length')],
    });
  });

  it('that was unpacked for reading leaves nothing behind', async () => {
    const kept = () => jobs.context.prisma.stored_object.findMany({ where: { expires_at: { lte: new Date() } } });
    const before = (await kept()).length;
    await runImport(jobs, { countries: gzipSync(workbook) });
    const after = await kept();
    expect(after.length).toBe(before + 1);
    await sweepObjects(jobs.context);
    expect(await jobs.context.store.stat(after.at(-1)?.key as string)).toBeUndefined();
  });

  it('in another format than declared fails', async () => {
    const done = await runImport(jobs, { countries: '{"code":"J1"}' }, { format: 'json' });
    expect(done.import_tables[0]).toMatchObject({ format: 'json', errors: [expect.stringContaining('begins with [')] });
  });

  it('with deletions names them by svc_transaction_code', async () => {
    await runImport(jobs, { regions: 'code,name\nD1,x\nD2,y\n' });
    const done = await runImport(
      jobs,
      { regions: 'svc_transaction_code,code,name\nd,D1,\nu,D2,z\n' },
      { pattern: 'incremental_with_delete' },
    );
    expect(done.import_tables[0].metrics).toMatchObject({ deleted: 1, updated: 1 });
    const without = await runImport(jobs, { regions: 'code,name\nD1,x\n' }, { pattern: 'incremental_with_delete' });
    expect(without.import_tables[0].errors).toEqual([
      'The pattern incremental_with_delete needs the column svc_transaction_code.',
    ]);
  });

  it.each([
    ['json', '[]'],
    ['ndjson', ''],
  ])('with deletions but without records changes nothing, like the exports of %s', async (format, text) => {
    const done = await runImport(jobs, { regions: text }, { pattern: 'incremental_with_delete', format });
    expect(done.import_tables[0]).toMatchObject({ status: 'completed', errors: [], metrics: { rows_read: 0 } });
  });

  it('with rejected rows reports the first hundred and stores them all', async () => {
    const rows = Array.from({ length: 150 }, (_, i) => `J${i},${i < 120 ? 'BAD' : 'good'}\n`).join('');
    const done = await runImport(jobs, { regions: `code,name\n${rows}` }, { on_error: 'reject_rows' });
    const [table] = done.import_tables;
    expect([done.status, table.metrics.rejected, table.metrics.inserted, table.rejections.length]).toEqual([
      'completed_with_errors',
      120,
      30,
      100,
    ]);
    expect(table.rejections[0]).toEqual({ row: 2, column: 'name', value: 'BAD', message: 'is not allowed' });
    const answer = await fetch(table.rejected_rows_url);
    expect(answer.headers.get('content-disposition')).toContain('regions-rejected-');
    expect((await answer.text()).trim().split('\n')).toHaveLength(121);
    const longAgo = new Date(Date.now() - 30 * 86_400_000);
    await jobs.context.prisma.import_table.update({ where: { id: table.id }, data: { finished_at: longAgo } });
    const later = await jobs.call('GET', `/api/v1/imports/${done.id}`);
    expect(later.body.import_tables[0].rejected_rows_url).toBeNull();
    const refused = await runImport(jobs, { regions: 'code,name\nQ1,BAD\n' });
    expect([refused.status, refused.import_tables[0].errors]).toEqual([
      'failed',
      ['1 row(s) break the rules of the table.'],
    ]);
  });
});
