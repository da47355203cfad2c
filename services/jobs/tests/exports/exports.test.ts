import { gunzipSync } from 'node:zlib';
import { eventually } from '@almanac/testkit/eventually';
import { openTableFile } from '../../src/formats/open-file.ts';
import type { FakeTable } from '../fake-loads.ts';
import { fileOf, readAll } from '../formats/files.ts';
import { ended, givenJobs, type Jobs } from '../given.ts';

let jobs: Jobs;
let countries: FakeTable;

beforeAll(async () => {
  jobs = await givenJobs({ work: { concurrency: 8, concurrencyPerAccount: 8 } });
  countries = jobs.neighbours.addTable({ key: 'countries' });
  jobs.neighbours.addTable({ key: 'empty' });
  jobs.neighbours.addTable({ key: 'foreign', account_id: 2, branch_id: 3 });
  for (const [code, name] of [
    ['DE', 'Germany'],
    ['CI', 'Côte d’Ivoire, "Ivory Coast"'],
    ['XF', '=1+1'],
  ] as const)
    countries.rows.set(JSON.stringify([code]), { code, name });
});
afterAll(() => jobs.close());

const full = { branch_id: 1, table_definition_key: 'countries', pattern: 'full' };
const rows = 'DE,Germany\nCI,"Côte d’Ivoire, ""Ivory Coast"""\nXF,=1+1\n';
const post = (body: unknown, headers?: Record<string, string>) => jobs.call('POST', '/api/v1/exports', body, headers);
const run = async (body: unknown) => {
  const made = await post(body);
  expect(made.status).toBe(201);
  return ended(jobs, `/exports/${made.body.id}`);
};

describe('an export', () => {
  it('is answered as created, however soon a worker takes it', async () => {
    const sql = (text: string) => jobs.context.prisma.$executeRawUnsafe(text);
    // A worker that starts before the answer is read.
    await sql(`create function be_soon() returns trigger language plpgsql as $$
      begin update data_export set status = 'processing' where id = new.id; return null; end $$`);
    await sql(`create constraint trigger soon after insert on data_export deferrable initially deferred
      for each row execute function be_soon()`);
    const made = await post(full);
    await sql('drop function be_soon cascade');
    expect([made.status, made.body.status]).toEqual([201, 'created']);
    expect((await ended(jobs, `/exports/${made.body.id}`)).status).toBe('completed');
  });

  it('runs in the background and ends as a file with its figures', async () => {
    const made = await post({ ...full, correlation_code: '../mine' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        id: expect.any(Number),
        correlation_code: '../mine',
        status: 'created',
        pattern: 'full',
        download_url: null,
        rows_exported: null,
        bytes_exported: null,
      },
    });
    const done = await ended(jobs, `/exports/${made.body.id}`);
    const text = `code,name\n${rows}`;
    expect(done).toMatchObject({
      status: 'completed',
      rows_exported: 3,
      bytes_exported: Buffer.byteLength(text),
      next_high_water_mark: '2026-01-02T03:04:05.678Z',
      error: null,
    });
    expect(done.download_url).toMatch(/\/files\/accounts\/1\/exports\/\d+-[0-9a-f]{32}\?/);
    const file = await fetch(done.download_url);
    expect(await file.text()).toBe(text);
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename="countries-full-\d{8}T\d{6}\.csv"$/);
    expect(file.headers.get('x-content-type-options')).toBe('nosniff');
    await eventually(() =>
      expect(jobs.events.map(({ payload }) => payload)).toContainEqual({
        account_id: 1,
        id: done.id,
        status: 'completed',
      }),
    );
  });

  it('of changes carries their codes; of an empty table only a header', async () => {
    const done = await run({ ...full, pattern: 'incremental', high_water_mark: '2026-01-01T00:00:00' });
    expect(done.high_water_mark).toBe('2026-01-01T00:00:00.000Z');
    const text = await (await fetch(done.download_url)).text();
    expect(text.split('\n')[0]).toBe('svc_transaction_code,code,name');
    const empty = await run({ ...full, table_definition_key: 'empty' });
    expect(empty).toMatchObject({ status: 'completed', rows_exported: 0, bytes_exported: 10 });
    expect(await (await fetch(empty.download_url)).text()).toBe('code,name\n');
  });

  it('as of an instant asks data for that instant', async () => {
    const done = await run({ ...full, as_of: '2026-01-15T10:00:00+02:00' });
    expect(done).toMatchObject({ status: 'completed', as_of: '2026-01-15T08:00:00.000Z' });
    expect(jobs.neighbours.readsAsOf.at(-1)).toBe('2026-01-15T08:00:00.000Z');
    const finer = await run({ ...full, as_of: '2026-01-15T08:00:00.0009999+0000' });
    expect(finer.as_of).toBe('2026-01-15T08:00:00.000Z');
    expect(await run({ ...full, as_of: null })).toMatchObject({ as_of: null });
    expect(jobs.neighbours.readsAsOf.at(-1)).toBe('');
  });

  it('can be gzipped, and made safe for spreadsheets', async () => {
    const done = await run({ ...full, gzip: true, safe_cells: true });
    const file = await fetch(done.download_url);
    expect(file.headers.get('content-disposition')).toContain('.csv.gz"');
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(bytes.length).toBe(done.bytes_exported);
    expect(gunzipSync(bytes).toString()).toBe(`code,name\n${rows.replace('=1+1', "'=1+1")}`);
  });

  const ivory = 'Côte d’Ivoire, "Ivory Coast"';
  const asJson = [
    { code: 'DE', name: 'Germany' },
    { code: 'CI', name: ivory },
    { code: 'XF', name: '=1+1' },
  ].map((record) => JSON.stringify(record));
  it.each([
    [
      'tsv',
      'text/tab-separated-values; charset=utf-8',
      `code\tname\nDE\tGermany\nCI\t"${ivory.replaceAll('"', '""')}"\nXF\t=1+1\n`,
    ],
    ['ndjson', 'application/x-ndjson', `${asJson.join('\n')}\n`],
    ['json', 'application/json; charset=utf-8', `[\n${asJson.join(',\n')}\n]\n`],
  ])('can be written as %s', async (format, contentType, text) => {
    const done = await run({ ...full, format });
    const bytes_exported = Buffer.byteLength(text);
    expect(done).toMatchObject({ status: 'completed', format, rows_exported: 3, bytes_exported });
    const file = await fetch(done.download_url);
    expect(await file.text()).toBe(text);
    expect(file.headers.get('content-type')).toBe(contentType);
    expect(file.headers.get('content-disposition')).toContain(`.${format}"`);
    const packed = await run({ ...full, format, gzip: true });
    const bytes = await fetch(packed.download_url);
    expect(bytes.headers.get('content-disposition')).toContain(`.${format}.gz"`);
    expect(gunzipSync(Buffer.from(await bytes.arrayBuffer())).toString()).toBe(text);
  });

  it('as JSON has decimals and bigints as strings on request', async () => {
    const typed = (name: string, data_type: string) => ({ name, data_type, is_primary_key: name === 'number' });
    const columns = [
      typed('number', 'bigint'),
      typed('balance', 'decimal'),
      typed('small', 'integer'),
      typed('ratio', 'double'),
    ];
    const row = { number: '9007199254740993', balance: '123456789012345678.0123456789', small: '7', ratio: '0.5' };
    jobs.neighbours.addTable({ key: 'numbers', columns, rows: new Map([['1', row]]) });
    const wanted = { ...full, table_definition_key: 'numbers' };
    const numbers = `{"number":${row.number},"balance":${row.balance},"small":7,"ratio":0.5}`;
    const strings = `{"number":"${row.number}","balance":"${row.balance}","small":7,"ratio":0.5}`;
    const fileFor = async (more: object) => {
      const done = await run({ ...wanted, ...more });
      return [done.exact_numbers, await (await fetch(done.download_url)).text()];
    };
    expect(await fileFor({ format: 'ndjson', exact_numbers: true })).toEqual([true, `${strings}\n`]);
    expect(await fileFor({ format: 'json', exact_numbers: true })).toEqual([true, `[\n${strings}\n]\n`]);
    expect(await fileFor({ format: 'json', exact_numbers: false })).toEqual([false, `[\n${numbers}\n]\n`]);
    expect(await fileFor({ format: 'ndjson' })).toEqual([false, `${numbers}\n`]);
    expect(await fileFor({ exact_numbers: false })).toEqual([false, expect.stringMatching(/^number,/)]);
  });

  it.each([
    ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['parquet', 'application/vnd.apache.parquet'],
  ])('can be written as %s', async (format, contentType) => {
    const done = await run({ ...full, format });
    expect(done).toMatchObject({ status: 'completed', format, rows_exported: 3 });
    const answer = await fetch(done.download_url);
    expect(answer.headers.get('content-type')).toBe(contentType);
    expect(answer.headers.get('content-disposition')).toContain(`.${format}"`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.length).toBe(done.bytes_exported);
    const wanted = { format: undefined, style: {}, expected: new Set<string>(), columns: [] };
    const file = await openTableFile(fileOf(bytes, 100_000), wanted);
    const read = await readAll(file, { code: 'string', name: 'string' });
    await file.close();
    expect(read.map(({ cells }) => cells)).toEqual([
      ['DE', 'Germany'],
      ['CI', ivory],
      ['XF', '=1+1'],
    ]);
  });

  it.each([
    [{}, 400],
    [{ ...full, branch_id: undefined }, 400],
    [{ ...full, pattern: undefined }, 400],
    [{ ...full, table_definition_key: undefined }, 400],
    [{ ...full, table_definition_key: 5 }, 400],
    [{ ...full, evil: true }, 400],
    [{ ...full, gzip: 'yes' }, 400],
    [{ ...full, pattern: 'incremental' }, 400],
    [{ ...full, pattern: 'incremental', high_water_mark: null }, 400],
    [{ ...full, pattern: 'incremental', high_water_mark: '2026-02-30T00:00:00Z' }, 400],
    [{ ...full, pattern: 'incremental', high_water_mark: '2026-01-01' }, 400],
    [{ ...full, pattern: 'incremental', high_water_mark: 'today' }, 400],
    [{ ...full, pattern: 'incremental', high_water_mark: 1767225600 }, 400],
    [{ ...full, as_of: '2026-02-01T00:00:00.001Z' }, 400],
    [{ ...full, as_of: '2025-12-31T23:59:59.999Z' }, 400],
    [{ ...full, as_of: '2026-01-15T10:00:00' }, 400],
    [{ ...full, as_of: '2026-01-15' }, 400],
    [{ ...full, pattern: 'incremental', high_water_mark: '2026-01-01T00:00:00Z', as_of: '2026-01-15T10:00:00Z' }, 400],
    [{ ...full, pattern: 'some' }, 422],
    [{ ...full, format: 'exe' }, 422],
    [{ ...full, format: 5 }, 400],
    [{ ...full, format: 'json', safe_cells: true }, 422],
    [{ ...full, exact_numbers: true }, 422],
    [{ ...full, format: 'parquet', exact_numbers: true }, 422],
    [{ ...full, format: 'json', exact_numbers: 'true' }, 400],
    [{ ...full, correlation_code: 'x'.repeat(256) }, 422],
    [{ ...full, branch_id: 99 }, 404],
    [{ ...full, branch_id: 3 }, 404],
    [{ ...full, branch_id: 2 }, 404],
    [{ ...full, table_definition_key: 'foreign' }, 404],
    [{ ...full, table_definition_key: "x' or 1=1 --" }, 404],
  ])('is not created by %j', async (body, status) => {
    const answer = await post(body);
    expect([answer.status, Array.isArray(answer.body.errors)]).toEqual([status, true]);
  });

  it('is created once for one Idempotency-Key, even when the limit is reached in between', async () => {
    jobs.neighbours.hold();
    const headers = { 'idempotency-key': 'nightly-2026-01-01' };
    const first = await post(full, headers);
    const others = await Promise.all(Array.from({ length: 12 }, () => post(full)));
    expect(others.filter(({ status }) => status === 201)).toHaveLength(9);
    const refused = others.find(({ status }) => status === 422);
    expect(refused?.body.errors[0]).toContain('at most 10 may be open');
    const again = await post(full, headers);
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
    expect(
      (
        await jobs.as({ accountId: 2 })(
          'POST',
          '/api/v1/exports',
          { ...full, branch_id: 3, table_definition_key: 'foreign' },
          headers,
        )
      ).body.id,
    ).not.toBe(first.body.id);
    jobs.neighbours.release();
    for (const { body, status } of [first, ...others]) if (status === 201) await ended(jobs, `/exports/${body.id}`);
  });

  it('can be cancelled until it has ended, and then never shows a file', async () => {
    jobs.neighbours.hold();
    const { body: made } = await post(full);
    const path = `/api/v1/exports/${made.id}`;
    await eventually(async () => expect((await jobs.call('GET', path)).body.status).toBe('processing'));
    const foreign = await jobs.as({ accountId: 2 })('POST', `${path}/cancel`);
    expect(foreign.status).toBe(404);
    const cancelled = await jobs.call('POST', `${path}/cancel`);
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled', download_url: null } });
    jobs.neighbours.release();
    await run(full);
    expect((await jobs.call('GET', path)).body).toMatchObject({ status: 'cancelled', download_url: null });
    expect((await jobs.call('POST', `${path}/cancel`)).body.errors[0]).toContain("is cancelled and can't be cancelled");
    const job = await jobs.context.prisma.job.findFirst({ where: { kind: 'export', subject_id: made.id } });
    expect(job?.state).toBe('cancelled');
  });

  it('shows no file until it is complete, and retries when the read was cut off', async () => {
    jobs.neighbours.readsToCut = 2;
    const done = await run(full);
    expect(done).toMatchObject({ status: 'completed', rows_exported: 3 });
    expect(await (await fetch(done.download_url)).text()).toBe(`code,name\n${rows}`);
    const deferrals = await jobs.context.prisma.job.findFirst({ where: { kind: 'export', subject_id: done.id } });
    expect(deferrals?.deferrals).toBe(2);
  });

  it('of another account is not found; lists respect the account and the filters', async () => {
    const done = await run(full);
    const other = jobs.as({ accountId: 2 });
    const unknown = await other('GET', '/api/v1/exports/999999');
    const foreign = await other('GET', `/api/v1/exports/${done.id}`);
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
    const total = async (call: typeof other, query: string) =>
      (await call('GET', `/api/v1/exports?${query}`)).body.meta.total_count;
    expect(await total(jobs.call, 'table_definition_key=empty')).toBe(1);
    expect(await total(jobs.call, 'table_definition_key=empty&branch_id=2')).toBe(0);
    expect(await total(jobs.call, 'branch_id=1&q=pattern:eq:incremental')).toBe(1);
    expect(await total(other, 'table_definition_key=countries')).toBe(0);
    expect(await total(other, 'branch_id=1')).toBe(0);
    for (const query of ['branch_id=x', 'q=object_key:contains:a', 'evil=1'])
      expect((await jobs.call('GET', `/api/v1/exports?${query}`)).status).toBe(400);
  });

  it('of changes starts in the past by the clock of data, within a minute', async () => {
    const body = (high_water_mark: string) => ({ ...full, pattern: 'incremental', high_water_mark });
    const { as_of_until } = jobs.neighbours.asOfReach;
    expect(as_of_until).toBe('2026-02-01T00:00:00.000Z');
    expect((await run(body('2026-02-01T00:01:00Z'))).status).toBe('completed');
    expect(await post(body('2026-02-01T00:01:00.001Z'))).toMatchObject({
      status: 400,
      body: {
        errors: ['high_water_mark must not be in the future: use the next_high_water_mark of an export.'],
      },
    });
    expect(await run({ ...full, high_water_mark: '2999-01-01T00:00:00Z' })).toMatchObject({ high_water_mark: null });
  });

  it('continues from its own mark, in any form of it', async () => {
    const mark = (await run(full)).next_high_water_mark;
    const forms = [mark, mark.replace('Z', '+00:00'), mark.replace('Z', '000+0000'), mark.replace('.', ',')];
    for (const high_water_mark of forms) {
      const next = await run({ ...full, pattern: 'incremental', high_water_mark });
      expect([next.high_water_mark, jobs.neighbours.marksRead.at(-1)]).toEqual([mark, mark]);
    }
  });

  it('gives a link only to callers who may view the table now', async () => {
    const view = {
      license_type: 'end_user',
      permissions: [{ action: 'view', resource_type: 'domain', resource_id: 5 }],
    };
    jobs.neighbours.permissions.set(61, view);
    const person = jobs.as({ userId: 61 });
    const made = await person('POST', '/api/v1/exports', full);
    const done = await ended(jobs, `/exports/${made.body.id}`, person);
    expect([done.created_by, typeof done.download_url]).toEqual([61, 'string']);
    expect((await person('GET', '/api/v1/exports')).body.meta.total_count).toBeGreaterThan(0);
    jobs.neighbours.permissions.delete(61); // no event has reached jobs yet
    expect((await person('GET', `/api/v1/exports/${done.id}`)).status).toBe(403);
    expect((await person('GET', '/api/v1/exports')).body.meta.total_count).toBe(0);
    expect((await person('POST', '/api/v1/exports', full)).status).toBe(403);
  });

  it('gives a fresh link at every GET until its file has expired', async () => {
    const done = await run(full);
    const forged = done.download_url.replace(/signature=./, (text: string) =>
      text.endsWith('A') ? 'signature=B' : 'signature=A',
    );
    expect((await fetch(forged)).status).toBe(403);
    expect((await fetch(done.download_url.split('?')[0])).status).toBe(403);
    await jobs.context.prisma.data_export.update({ where: { id: done.id }, data: { file_expires_at: new Date() } });
    expect((await jobs.call('GET', `/api/v1/exports/${done.id}`)).body).toMatchObject({
      status: 'completed',
      download_url: null,
    });
  });
});
