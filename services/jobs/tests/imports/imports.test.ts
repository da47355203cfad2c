import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { ended, givenImport, givenJobs, type Jobs, runImport } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs({ work: { concurrency: 8, concurrencyPerAccount: 8 } });
  jobs.neighbours.addTable({ key: 'countries' });
  jobs.neighbours.addTable({ key: 'regions' });
  jobs.neighbours.addTable({ key: 'elsewhere', branch_id: 2 });
  jobs.neighbours.addTable({ key: 'foreign', account_id: 2, branch_id: 3 });
});
afterAll(() => jobs.close());

const post = (path: string, body?: unknown, headers?: Record<string, string>) =>
  jobs.call('POST', `/api/v1${path}`, body, headers);

describe('an import', () => {
  it('loads the uploaded files and reports the result', async () => {
    const done = await runImport(jobs, {
      countries: 'code,name\nDE,Germany\nFR,France\n',
      regions: 'Code;NAME\r\nR1;"a;b"\r\n',
    });
    expect(done).toMatchObject({ status: 'completed', branch_id: 1, created_by: null, progress: { percent: 100 } });
    expect(done.correlation_code).toMatch(/^[0-9a-f-]{36}$/);
    expect(
      done.import_tables.map((table: { status: string; metrics: unknown }) => [table.status, table.metrics]),
    ).toEqual([
      [
        'completed',
        {
          rows_read: 2,
          inserted: 2,
          updated: 0,
          deleted: 0,
          unchanged: 0,
          rejected: 0,
          bytes: 31,
          duration: expect.any(Number),
        },
      ],
      [
        'completed',
        {
          rows_read: 1,
          inserted: 1,
          updated: 0,
          deleted: 0,
          unchanged: 0,
          rejected: 0,
          bytes: 21,
          duration: expect.any(Number),
        },
      ],
    ]);
    expect(done.import_tables[0].progress).toEqual({
      percent: 100,
      bytes_processed: 31,
      bytes_total: 31,
      rows_processed: 2,
    });
    expect(
      done.actions.map(({ action, application_id }: { action: string; application_id: number }) => [
        action,
        application_id,
      ]),
    ).toEqual([
      ['created', 9],
      ['add_table', 9],
      ['add_table', 9],
      ['upload_complete', 9],
      ['completed', null],
    ]);
    const regions = jobs.neighbours.tables[1]?.rows;
    expect([...(regions?.values() ?? [])]).toEqual([{ code: 'R1', name: 'a;b' }]);
    expect(jobs.neighbours.loads.at(-1)?.from).toMatchObject({ accountId: 1, applicationId: 9, issuer: 'jobs' });
    await eventually(() =>
      expect(jobs.events.map(({ payload }) => payload)).toContainEqual({
        account_id: 1,
        id: done.id,
        status: 'completed',
      }),
    );
  });

  it('keeps the given code, whatever it looks like, up to 255 characters', async () => {
    const codes = ['../../x', '%2f', "'; drop table data_import; --", '🏔'.repeat(255)];
    for (const correlation_code of codes) {
      const made = await post('/imports', { branch_id: 1, correlation_code });
      expect(made).toMatchObject({ status: 201, body: { correlation_code } });
      const listed = await jobs.call(
        'GET',
        `/api/v1/imports?q=${encodeURIComponent(`correlation_code:eq:${correlation_code}`)}`,
      );
      expect(listed.body.data.map(({ id }: { id: number }) => id)).toEqual([made.body.id]);
      expect((await post(`/imports/${made.body.id}/complete`)).body.status).toBe('completed');
    }
    expect((await post('/imports', { branch_id: 1, correlation_code: 'x'.repeat(256) })).body).toEqual(
      refusal('Validation failed', 'too_long', 'Correlation code is too long (maximum is 255 characters)', {
        field: 'correlation_code',
        params: { maximum: 255 },
      }),
    );
    expect((await post('/imports', { branch_id: 1, correlation_code: ' ' })).status).toBe(422);
  });

  it.each([
    [{}, 400],
    [{ branch_id: '1' }, 400],
    [{ branch_id: 1, correlation_code: 5 }, 400],
    [{ branch_id: 1, status: 'completed' }, 400],
    [{ branch_id: 4 }, 404],
    [{ branch_id: 3 }, 404],
    [{ branch_id: 9007199254740991 }, 404],
  ])('is not opened by %j', async (body, status) => {
    expect((await post('/imports', body)).status).toBe(status);
  });

  it('is opened by a nested body as well', async () => {
    const made = await post('/imports', { import: { branch_id: 1, correlation_code: 'nested' } });
    expect(made).toMatchObject({ status: 201, body: { correlation_code: 'nested' } });
    await post(`/imports/${made.body.id}/complete`);
    expect((await post('/imports', { import: { branch_id: 1, evil: 1 } })).status).toBe(400);
  });

  it('is created once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'import-1' };
    const body = { branch_id: 1, correlation_code: 'once' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('/imports', body, headers)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect((await post('/imports', { ...body, correlation_code: 'other' }, headers)).status).toBe(422);
    expect((await post('/imports', body, { 'idempotency-key': 'ü' })).status).toBe(400);
    await post(`/imports/${answers[0]?.body.id}/complete`);
  });

  it('can be open at most ten times in an account', async () => {
    const opened = await Promise.all(Array.from({ length: 14 }, () => post('/imports', { branch_id: 1 })));
    const made = opened.filter(({ status }) => status === 201);
    expect(made).toHaveLength(10);
    expect(opened.find(({ status }) => status === 422)?.body.errors[0]).toContain('at most 10 may be open');
    const other = await jobs.as({ accountId: 2 })('POST', '/api/v1/imports', { branch_id: 3 });
    expect(other.status).toBe(201);
    for (const { body } of made)
      expect((await post(`/imports/${body.id}/upload_complete`)).body.status).toBe('completed');
  });

  it('of another account is not found', async () => {
    const { id, import_tables } = await givenImport(jobs, { countries: undefined });
    const other = jobs.as({ accountId: 2 });
    const unknown = await other('GET', '/api/v1/imports/999999');
    const calls: [string, string, unknown?][] = [
      ['GET', `/imports/${id}`],
      ['POST', `/imports/${id}/tables`, { table_definition_key: 'foreign', pattern: 'full' }],
      ['PUT', `/imports/${id}/tables/${import_tables[0].id}/file`],
      ['POST', `/imports/${id}/upload_complete`],
      ['POST', `/imports/${id}/complete`],
    ];
    for (const [method, path, body] of calls) {
      const answer = await other(method, `/api/v1${path}`, body);
      expect([answer.status, answer.body]).toEqual([404, unknown.body]);
    }
    expect((await other('GET', '/api/v1/imports')).body.data.every((one: { id: number }) => one.id !== id)).toBe(true);
    expect((await jobs.call('GET', `/api/v1/imports/${id}`)).body.status).toBe('uploading');
    await post(`/imports/${id}/complete`);
  });

  it('lists with pages, sorting and filters', async () => {
    const { body } = await jobs.call('GET', '/api/v1/imports?per_page=2&sort=-id&q=status:eq:completed');
    expect(body.data).toHaveLength(2);
    expect(body.data[0].id).toBeGreaterThan(body.data[1].id);
    expect(body.meta).toMatchObject({ page: 1, per_page: 2 });
    for (const query of ['q=account_id:eq:1', 'sort=object_key', 'page=0', 'branch_id=1', 'q=created_at:gt:nonsense'])
      expect((await jobs.call('GET', `/api/v1/imports?${query}`)).status).toBe(400);
  });

  it('is listed with its first tables on request', async () => {
    const { correlation_code } = await runImport(jobs, { countries: 'code,name\nDE,Germany\n' });
    const path = `/api/v1/imports?q=correlation_code:eq:${correlation_code}`;
    const [line] = (await jobs.call('GET', `${path}&include=tables`)).body.data;
    expect(line).toMatchObject({ correlation_code, tables_count: 1 });
    expect(line.import_tables).toEqual([
      expect.objectContaining({ table_definition_key: 'countries', status: 'completed', dry_run: false }),
    ]);
    expect(line.import_tables[0].metrics).toMatchObject({ rows_read: 1, bytes: 21 });
    const [plain] = (await jobs.call('GET', path)).body.data;
    expect(Object.keys(plain)).not.toContain('import_tables');
    expect(await jobs.call('GET', `${path}&include=rows`)).toMatchObject({ status: 400 });
  });
});

describe('a table of an import', () => {
  let importId: number;
  beforeAll(async () => {
    importId = (await post('/imports', { branch_id: 1 })).body.id;
  });
  afterAll(() => post(`/imports/${importId}/complete`));
  const add = (body: unknown) => post(`/imports/${importId}/tables`, body);

  it.each([
    [{ pattern: 'full' }, 400],
    [{ table_definition_key: 'others', table_definition_id: 10, pattern: 'full' }, 400],
    [{ table_definition_key: 'countries', branch_id: 2, pattern: 'full' }, 404],
    [{ table_definition_id: 10, branch_id: 2, pattern: 'full' }, 400],
    [{ table_definition_key: 'countries' }, 400],
    [{ table_definition_key: 'countries', pattern: 'full', evil: 1 }, 400],
    [{ table_definition_key: 'nothing', pattern: 'full' }, 404],
    [{ table_definition_key: 'foreign', pattern: 'full' }, 404],
    [{ table_definition_id: 13, pattern: 'full' }, 404],
    [{ table_definition_id: 12, pattern: 'full' }, 404],
    [{ table_definition_key: 'countries', pattern: 'full', import_mapping_id: 999 }, 404],
  ])('is not added by %j', async (body, status) => {
    expect((await add(body)).status).toBe(status);
  });

  it('names all invalid attributes', async () => {
    const wrong = { pattern: 'some', format: 'exe', on_error: 'ignore', mass_delete_percent: 101, file_size: 0 };
    const answer = await add({ table_definition_key: 'countries', ...wrong });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toHaveLength(5);
  });

  it('is added once, with a URL for its file that contains nothing of the caller', async () => {
    const added = await add({ table_definition_id: 10, pattern: 'full' });
    expect(added).toMatchObject({
      status: 201,
      body: {
        status: 'created',
        table_definition_key: 'countries',
        format: 'auto',
        on_error: 'reject_file',
        dry_run: false,
        metrics: null,
      },
    });
    expect(added.body.upload_url).toMatch(new RegExp(`/files/accounts/1/imports/${importId}-[0-9a-f]{32}\\?`));
    expect((await add({ table_definition_key: 'countries', pattern: 'full' })).body.errors).toEqual([
      'The table countries is part of this import already.',
    ]);
  });
});

describe('the tables of an import', () => {
  it('are loaded in the order in which they were added, whatever index finds them', async () => {
    const file = 'code,name\nX1,x\n';
    const { id, import_tables } = await givenImport(jobs, { regions: file, countries: file });
    const tables: number[] = import_tables.map((table: { id: number }) => table.id);
    expect((await post(`/imports/${id}/upload_complete`)).status).toBe(200);
    const queued = await jobs.context.prisma.job.findMany({ where: { group_id: id }, orderBy: { id: 'asc' } });
    expect(queued.map(({ subject_id }) => subject_id)).toEqual(tables);
  });
});

describe('cancelling an import', () => {
  const cancel = (id: number) => post(`/imports/${id}/cancel`);

  it('closes its pre-signed URLs', async () => {
    const { id } = (await post('/imports', { branch_id: 1 })).body;
    const { upload_url } = (await post(`/imports/${id}/tables`, { table_definition_key: 'countries', pattern: 'full' }))
      .body;
    const put = (body: string) => fetch(upload_url, { method: 'PUT', body });
    expect((await put('code,name\nA,before\n')).status).toBe(200);
    await cancel(id);
    const refused = await put('code,name\nA,after\n');
    expect([refused.status, ((await refused.json()) as { errors: string[] }).errors]).toEqual([
      422,
      ['The import of this file has ended and takes no more files; begin another one.'],
    ]);
  });

  it('before its uploads are complete ends it at once', async () => {
    const { id } = await givenImport(jobs, { countries: 'code,name\nC1,x\n', regions: undefined });
    const { status, body } = await cancel(id);
    expect([status, body.status]).toEqual([200, 'cancelled']);
    expect(body.import_tables.map((table: { status: string }) => table.status)).toEqual(['cancelled', 'cancelled']);
    expect(body.actions.at(-1)).toMatchObject({ action: 'cancel', application_id: 9 });
    for (const path of ['cancel', 'complete', 'upload_complete'])
      expect((await post(`/imports/${id}/${path}`)).status).toBe(422);
  });

  it('while a table loads stops that load, and later tables never start', async () => {
    jobs.neighbours.hold();
    const { id } = await givenImport(jobs, { countries: 'code,name\nC2,x\n', regions: 'code,name\nC2,x\n' });
    await post(`/imports/${id}/upload_complete`);
    const loads = jobs.neighbours.loads.length;
    await eventually(() => expect(jobs.neighbours.loads.length).toBeGreaterThan(loads - 1));
    await eventually(async () =>
      expect((await jobs.call('GET', `/api/v1/imports/${id}`)).body.import_tables[0].status).toBe('processing'),
    );
    expect((await cancel(id)).status).toBe(200);
    const done = await ended(jobs, `/imports/${id}`);
    expect([done.status, ...done.import_tables.map((table: { status: string }) => table.status)]).toEqual([
      ...['cancelled', 'cancelled', 'cancelled'],
    ]);
    jobs.neighbours.release();
    await runImport(jobs, { regions: 'code,name\nC3,x\n' });
    const [countries, regions] = jobs.neighbours.tables;
    expect([countries?.rows.has('["C2"]'), regions?.rows.has('["C2"]')]).toEqual([false, false]);
  });

  it('reports a load that was merged already', async () => {
    jobs.neighbours.hold();
    const { id } = await givenImport(jobs, { countries: 'code,name\nC4,x\n' });
    await post(`/imports/${id}/upload_complete`);
    const { load_id } = await jobs.context.prisma.import_table.findFirstOrThrow({ where: { import_id: id } });
    await eventually(() => expect(jobs.neighbours.loads.some((load) => load.load_id === load_id)).toBe(true));
    const merged = { status: 'completed', rows_read: 1, inserted: 1, rejections: [], errors: [] };
    jobs.neighbours.results.set(load_id, merged);
    await cancel(id);
    const done = await ended(jobs, `/imports/${id}`);
    expect(done).toMatchObject({
      status: 'completed',
      import_tables: [{ status: 'completed', metrics: { inserted: 1 } }],
    });
    jobs.neighbours.release();
  });

  it('of another account is not found', async () => {
    const { id } = await givenImport(jobs, { countries: undefined });
    const other = jobs.as({ accountId: 2 });
    const answer = await other('POST', `/api/v1/imports/${id}/cancel`);
    expect([answer.status, answer.body]).toEqual([404, (await other('GET', '/api/v1/imports/999999')).body]);
    await cancel(id);
  });
});

describe('ending an import', () => {
  it('happens once, however many requests compete', async () => {
    const { id } = await givenImport(jobs, { countries: 'code,name\nP1,x\n', regions: 'code,name\nP1,x\n' });
    const loadsBefore = jobs.neighbours.loads.length;
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => post(`/imports/${id}/${i % 2 === 0 ? 'upload_complete' : 'complete'}`)),
    );
    expect(answers.every(({ status }) => status === 200 || status === 422)).toBe(true);
    const done = await ended(jobs, `/imports/${id}`);
    const count = (name: string) => done.actions.filter(({ action }: { action: string }) => action === name).length;
    expect(count('upload_complete')).toBeLessThanOrEqual(1);
    expect(count('completed')).toBe(1);
    expect(jobs.neighbours.loads.length - loadsBefore).toBeLessThanOrEqual(2);
    const announced = () => jobs.events.filter(({ payload }) => payload.id === id && payload.status === done.status);
    // May arrive twice.
    await eventually(() => expect(new Set(announced().map((message) => message.id)).size).toBe(1));
    for (const end of ['upload_complete', 'complete']) {
      const again = await post(`/imports/${id}/${end}`);
      expect(again).toMatchObject({
        status: 422,
        body: { errors: [`The import is ${done.status} and can't be completed any more.`] },
      });
    }
    expect((await post(`/imports/${id}/tables`, { table_definition_key: 'countries', pattern: 'full' })).status).toBe(
      422,
    );
  });

  it('by hand cancels tables not started and lets running ones finish, in the order of the tables', async () => {
    jobs.neighbours.hold();
    const { id } = await givenImport(jobs, { countries: 'code,name\nH1,x\n', regions: 'code,name\nH1,x\n' });
    await post(`/imports/${id}/upload_complete`);
    const statuses = async () =>
      (await jobs.call('GET', `/api/v1/imports/${id}`)).body.import_tables.map(
        ({ status }: { status: string }) => status,
      );
    await eventually(async () => expect(await statuses()).toEqual(['processing', 'uploaded']));
    const again = await post(`/imports/${id}/upload_complete`);
    expect([again.status, again.body.status]).toEqual([200, 'processing']);
    const closed = await post(`/imports/${id}/complete`);
    expect([closed.status, closed.body.status]).toEqual([200, 'processing']);
    expect(await statuses()).toEqual(['processing', 'cancelled']);
    jobs.neighbours.release();
    const done = await ended(jobs, `/imports/${id}`);
    expect(done).toMatchObject({
      status: 'completed',
      import_tables: [{ status: 'completed' }, { status: 'cancelled', metrics: null }],
    });
  });

  it('without any table completes it', async () => {
    for (const end of ['upload_complete', 'complete']) {
      const { body } = await post('/imports', { branch_id: 1 });
      expect(await post(`/imports/${body.id}/${end}`)).toMatchObject({
        status: 200,
        body: { status: 'completed', import_tables: [], progress: { percent: 100 } },
      });
    }
  });
});

describe('rights', () => {
  const permission = (action: string, resource_type: string, resource_id: number) => ({
    license_type: 'developer',
    permissions: [{ action, resource_type, resource_id }],
  });

  it('let users load the tables that they may edit, and see those that they may view', async () => {
    jobs.neighbours.permissions.set(51, permission('edit', 'domain', 5));
    jobs.neighbours.permissions.set(52, permission('view', 'table_definition', 10));
    jobs.neighbours.permissions.set(53, permission('edit', 'table_definition', 11));
    const [editor, viewer, other, powerless] = [51, 52, 53, 54].map((userId) =>
      jobs.as({ userId }),
    ) as never as (typeof jobs.call)[];
    if (!editor || !viewer || !other || !powerless) throw new Error('no callers');
    const { id, import_tables } = await givenImport(jobs, { countries: 'code,name\nK1,x\n' }, {}, editor);
    const path = `/api/v1/imports/${id}`;
    expect((await editor('GET', path)).body.created_by).toBe(51);
    expect((await viewer('GET', path)).status).toBe(200);
    for (const [call, method, to] of [
      [viewer, 'POST', `${path}/complete`],
      [viewer, 'POST', `${path}/upload_complete`],
      [viewer, 'PUT', `${path}/tables/${import_tables[0].id}/file`],
      [viewer, 'POST', '/api/v1/imports'],
      [powerless, 'POST', '/api/v1/imports'],
      [powerless, 'GET', path],
      [other, 'GET', path],
      [other, 'POST', `${path}/tables`],
    ] as const) {
      const body = to.endsWith('imports')
        ? { branch_id: 1 }
        : to.endsWith('tables')
          ? { table_definition_id: 10, pattern: 'full' }
          : undefined;
      expect([to, (await call(method, to, body)).status]).toEqual([to, 403]);
    }
    const ids = async (call: typeof editor) =>
      (await call('GET', '/api/v1/imports?sort=-id&per_page=1000')).body.data.map((one: { id: number }) => one.id);
    expect(await ids(viewer)).toContain(id);
    expect(await ids(editor)).toContain(id);
    expect(await ids(other)).not.toContain(id);
    expect(await ids(powerless)).toEqual([]);
    await editor('POST', `${path}/upload_complete`);
    expect((await ended(jobs, `/imports/${id}`)).status).toBe('completed');
    expect(jobs.neighbours.loads.at(-1)?.from.userId).toBe(51);
  });
});
