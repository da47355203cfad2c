import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import { keyOfLink, type ObjectStore } from '../../src/files/object-store/object-store.ts';
import { expireImports, sweep } from '../../src/maintenance/sweeper.ts';
import { ended, givenImport, givenJobs, type Jobs, quickWork, runImport } from '../given.ts';

let jobs: Jobs;
let storeIsAway = false;
let beforeStat: (key: string) => Promise<void> = async () => {};
let removing: (key: string, remove: () => Promise<void>) => Promise<void> = (_key, remove) => remove();

// A store that can be disconnected, around the real one.
const cuttable = (real: ObjectStore): ObjectStore => {
  const away = () => {
    if (storeIsAway) throw new ServiceError('unavailable', 'the store is away');
  };
  return {
    ...real,
    put: async (...given) => {
      away();
      return real.put(...given);
    },
    stat: async (key) => {
      away();
      await beforeStat(key);
      return real.stat(key);
    },
    read: async (...given) => {
      away();
      return real.read(...given);
    },
    remove: (key) => removing(key, () => real.remove(key)),
  };
};

beforeAll(async () => {
  jobs = await givenJobs({ store: cuttable });
  for (const key of ['countries', 'regions']) jobs.neighbours.addTable({ key });
});
afterAll(() => jobs.close());
afterEach(() => {
  storeIsAway = false;
  beforeStat = async () => {};
  removing = (_key, remove) => remove();
  jobs.neighbours.dataIsAway = false;
  jobs.neighbours.release();
});

const file = (code: string) => `code,name\n${code},x\n`;
const complete = (id: number) => jobs.call('POST', `/api/v1/imports/${id}/upload_complete`);
const loadsOf = (loadId: string) => jobs.neighbours.loads.filter(({ load_id }) => load_id === loadId).length;
const tableRow = (id: number) => jobs.context.prisma.import_table.findFirstOrThrow({ where: { import_id: id } });
const jobOf = (kind: string, subjectId: number) =>
  jobs.context.prisma.job.findFirstOrThrow({ where: { kind, subject_id: subjectId } });

describe('work', () => {
  it('starts with all tables of the import, even if some are added concurrently', async () => {
    const { id, import_tables } = await givenImport(jobs, { countries: file('T1') });
    const [first] = await jobs.context.prisma.import_table.findMany({
      where: { import_id: id },
      orderBy: { id: 'asc' },
    });
    let added = 0;
    beforeStat = async (key) => {
      if (key !== first?.object_key || added === 8) return;
      added += 1;
      const { key: table_definition_key } = jobs.neighbours.addTable({ key: `added${added}` });
      const table = { table_definition_key, pattern: 'incremental' };
      expect((await jobs.call('POST', `/api/v1/imports/${id}/tables`, table)).status).toBe(201);
    };
    expect((await complete(id)).status).toBe(200);
    const done = await ended(jobs, `/imports/${id}`);
    expect(done.import_tables).toHaveLength(import_tables.length + added);
    expect(done.import_tables).toMatchObject([
      { table_definition_key: 'countries', status: 'completed' },
      { table_definition_key: 'added1', status: 'failed', errors: ['No file was uploaded.'] },
    ]);
  });

  it('does not start with a concurrently added table that the caller may not edit', async () => {
    const { domain_id } = jobs.neighbours.addTable({ key: 'mine', domain_id: 51 });
    const permissions = [{ action: 'edit', resource_type: 'domain', resource_id: domain_id }];
    jobs.neighbours.permissions.set(751, { license_type: 'developer', permissions });
    const { id } = await givenImport(jobs, { mine: file('M1') });
    beforeStat = async () => {
      beforeStat = async () => {};
      const table = { table_definition_key: 'regions', pattern: 'incremental' };
      expect((await jobs.call('POST', `/api/v1/imports/${id}/tables`, table)).status).toBe(201);
    };
    const steward = jobs.as({ userId: 751 });
    expect((await steward('POST', `/api/v1/imports/${id}/upload_complete`)).status).toBe(403);
    expect((await complete(id)).status).toBe(200);
    await ended(jobs, `/imports/${id}`);
  });

  it('waits while data is unavailable, and continues afterwards', async () => {
    const { id } = await givenImport(jobs, { countries: file('A1') });
    jobs.neighbours.dataIsAway = true;
    expect((await complete(id)).status).toBe(200);
    const { id: tableId } = await tableRow(id);
    await eventually(async () => expect((await jobOf('import_table', tableId)).deferrals).toBeGreaterThan(2));
    const waiting = await jobs.call('GET', `/api/v1/imports/${id}`);
    expect(waiting.body).toMatchObject({ status: 'processing' });
    jobs.neighbours.dataIsAway = false;
    expect(await ended(jobs, `/imports/${id}`)).toMatchObject({ status: 'completed' });
    expect((await jobOf('import_table', tableId)).attempts).toBe(1);
  });

  it('waits while the object store is unavailable; requests that need no file are answered', async () => {
    const { id } = await givenImport(jobs, { countries: file('A2') });
    storeIsAway = true;
    expect((await complete(id)).status).toBe(503);
    expect((await jobs.call('GET', `/api/v1/imports/${id}`)).body.status).toBe('uploading');
    const made = await jobs.call('POST', '/api/v1/exports', {
      branch_id: 1,
      table_definition_key: 'countries',
      pattern: 'full',
    });
    await eventually(async () => expect((await jobOf('export', made.body.id)).deferrals).toBeGreaterThan(1));
    expect((await jobs.call('GET', `/api/v1/exports/${made.body.id}`)).body).toMatchObject({
      download_url: null,
      error: null,
    });
    storeIsAway = false;
    expect(await ended(jobs, `/exports/${made.body.id}`)).toMatchObject({ status: 'completed' });
    await complete(id);
    expect((await ended(jobs, `/imports/${id}`)).status).toBe('completed');
  });

  it('counts a load once whose answer was lost after the merge', async () => {
    jobs.neighbours.answersToLose = 1;
    const done = await runImport(jobs, { regions: file('L1') });
    expect(done).toMatchObject({
      status: 'completed',
      import_tables: [{ metrics: { inserted: 1, updated: 0, unchanged: 0 } }],
    });
    expect(loadsOf((await tableRow(done.id)).load_id)).toBe(2);
  });

  it('is taken by another instance when its lease expires, with one effect', async () => {
    const second = await jobs.another();
    try {
      jobs.neighbours.hold();
      const { id } = await givenImport(jobs, { countries: file('T1') });
      await complete(id);
      const { id: tableId, load_id } = await tableRow(id);
      await eventually(() => expect(loadsOf(load_id)).toBe(1));
      // As if the working instance had been killed: its lease has expired and is not renewed.
      await jobs.context.prisma.job.updateMany({
        where: { kind: 'import_table', subject_id: tableId },
        data: { run_id: '00000000-0000-4000-8000-000000000000', lease_until: new Date(0) },
      });
      await eventually(() => expect(loadsOf(load_id)).toBe(2));
      jobs.neighbours.release();
      const done = await ended(jobs, `/imports/${id}`);
      expect(done).toMatchObject({ status: 'completed', import_tables: [{ metrics: { rows_read: 1 } }] });
      expect(done.actions.filter(({ action }: { action: string }) => action === 'completed')).toHaveLength(1);
      await eventually(() =>
        expect(
          jobs.events.filter(({ payload }) => payload.id === id && payload.status === 'completed').length,
        ).toBeGreaterThan(0),
      );
      expect(await jobOf('import_table', tableId)).toMatchObject({ state: 'done', attempts: 2 });
    } finally {
      await second.stop();
    }
  });

  it('keeps its lease for as long as it takes', async () => {
    const second = await jobs.another();
    try {
      jobs.neighbours.hold();
      const { id } = await givenImport(jobs, { countries: file('K1') });
      await complete(id);
      const { id: tableId, load_id } = await tableRow(id);
      await eventually(() => expect(loadsOf(load_id)).toBe(1));
      const leaseUntil = async () => (await jobOf('import_table', tableId))?.lease_until?.getTime() ?? 0;
      const before = await leaseUntil();
      await eventually(async () => expect(await leaseUntil()).toBeGreaterThan(before + quickWork.leaseMs / 2));
      expect(loadsOf(load_id)).toBe(1);
      jobs.neighbours.release();
      expect((await ended(jobs, `/imports/${id}`)).status).toBe('completed');
    } finally {
      await second.stop();
    }
  });

  it('returns to the queue when its instance stops, and continues on another', async () => {
    const second = await jobs.another({ work: { concurrency: 1 } });
    jobs.neighbours.hold();
    const ids: number[] = [];
    for (const code of ['S1', 'S2', 'S3']) {
      const { id } = await givenImport(jobs, { countries: file(code) });
      await complete(id);
      ids.push(id);
    }
    await second.stop();
    jobs.neighbours.release();
    for (const id of ids) expect((await ended(jobs, `/imports/${id}`)).status).toBe('completed');
  });

  // As if instances had taken it and been killed, as often as allowed.
  const interruptTooOften = (tableId: number) =>
    jobs.context.prisma.job.updateMany({
      where: { kind: 'import_table', subject_id: tableId, state: { in: ['queued', 'running'] } },
      data: {
        state: 'running',
        attempts: quickWork.attempts,
        run_id: '00000000-0000-4000-8000-000000000000',
        lease_until: new Date(0),
      },
    });

  it('is given up with a reason after too many interruptions', async () => {
    const { id } = await givenImport(jobs, { countries: file('G1') });
    jobs.neighbours.hold();
    await complete(id);
    const { id: tableId, load_id } = await tableRow(id);
    await eventually(() => expect(loadsOf(load_id)).toBe(1));
    await interruptTooOften(tableId);
    const done = await ended(jobs, `/imports/${id}`);
    expect(done).toMatchObject({
      status: 'failed',
      import_tables: [{ errors: ['It was interrupted 3 times and is given up.'] }],
    });
    jobs.neighbours.release();
    expect(jobs.neighbours.results.get(load_id)).toMatchObject({ status: 'cancelled' });
    expect(await jobs.retry(`import-table-${tableId}`)).toBe('uploaded');
    const again = await ended(jobs, `/imports/${id}`);
    expect(again).toMatchObject({ status: 'completed', import_tables: [{ errors: [], metrics: { inserted: 1 } }] });
    await expect(jobs.retry(`import-table-${tableId}`)).rejects.toMatchObject({ kind: 'wrong_state' });
    await expect(jobs.retry(`import-table-${tableId}`, 2)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(jobs.retry('nonsense')).rejects.toMatchObject({ kind: 'bad_request' });
  });

  it('that is given up reports what data had done, however late that is known', async () => {
    const { id } = await givenImport(jobs, { countries: file('G2') });
    jobs.neighbours.hold();
    await complete(id);
    const { id: tableId, load_id } = await tableRow(id);
    await eventually(() => expect(loadsOf(load_id)).toBe(1));
    jobs.neighbours.dataIsAway = true;
    const merged = { status: 'completed', rows_read: 1, inserted: 1, rejections: [], errors: [] };
    jobs.neighbours.results.set(load_id, merged);
    await interruptTooOften(tableId);
    await eventually(async () => expect((await jobOf('import_table', tableId)).deferrals).toBeGreaterThan(2));
    expect((await jobs.call('GET', `/api/v1/imports/${id}`)).body.status).toBe('processing');
    jobs.neighbours.dataIsAway = false;
    expect(await ended(jobs, `/imports/${id}`)).toMatchObject({
      status: 'completed',
      import_tables: [{ status: 'completed', errors: [], metrics: { rows_read: 1, inserted: 1 } }],
    });
  });

  it('fails an export whose table was removed, and can be retried by an operator', async () => {
    const removed = jobs.neighbours.addTable({ key: 'removed' });
    jobs.neighbours.dataIsAway = false;
    storeIsAway = true;
    const { body } = await jobs.call('POST', '/api/v1/exports', {
      branch_id: 1,
      table_definition_key: 'removed',
      pattern: 'full',
    });
    jobs.neighbours.tables.pop();
    storeIsAway = false;
    const failed = await ended(jobs, `/exports/${body.id}`);
    expect(failed).toMatchObject({ status: 'failed', error: 'The table is not deployed.', download_url: null });
    await eventually(() =>
      expect(jobs.events.map(({ payload }) => payload)).toContainEqual({
        account_id: 1,
        id: body.id,
        status: 'failed',
      }),
    );
    jobs.neighbours.tables.push(removed);
    expect(await jobs.retry(`export-${body.id}`)).toBe('created');
    expect((await ended(jobs, `/exports/${body.id}`)).status).toBe('completed');
  });
});

describe('an upload through the API that fails while it replaces a later one of the pre-signed URL', () => {
  const lost = new ServiceError('unavailable', 'the store is away');
  it.each([
    ['before that is removed leaves it to be loaded', [], { status: 'completed', metrics: { inserted: 1 } }],
    ['after that is removed leaves no file, never an older one', ['removed'], { errors: ['No file was uploaded.'] }],
  ])('%s', async (_how, removed, outcome) => {
    const code = `U${removed.length}`;
    const opened = await jobs.call('POST', '/api/v1/imports', { branch_id: 1 });
    const tables = `/api/v1/imports/${opened.body.id}/tables`;
    const table = { table_definition_key: 'countries', pattern: 'incremental' };
    const { id, upload_url } = (await jobs.call('POST', tables, table)).body;
    const put = async (body: string) => (await jobs.send('PUT', `${tables}/${id}/file`, body)).status;
    expect(await put(file('OLD'))).toBe(200);
    expect((await fetch(upload_url, { method: 'PUT', body: file(code) })).status).toBe(200);
    removing = async (key, remove) => {
      const isLater = key === keyOfLink(upload_url);
      if (!isLater || removed.length > 0) await remove();
      if (isLater) throw lost;
    };
    expect(await put(file('NEW'))).toBe(503);
    expect((await complete(opened.body.id)).status).toBe(200);
    const done = await ended(jobs, `/imports/${opened.body.id}`);
    expect(done.import_tables).toMatchObject([outcome]);
    const rows = jobs.neighbours.tables[0]?.rows as Map<string, unknown>;
    const loaded = ['OLD', 'NEW', code].filter((each) => rows.has(`["${each}"]`));
    expect(loaded).toEqual(removed.length > 0 ? [] : [code]);
  });
});

describe('sweeping', () => {
  it('keeps files as long as their import is open or their table waits', async () => {
    const { prisma, store } = jobs.context;
    const { id, import_tables } = await givenImport(jobs, { countries: file('O1'), regions: undefined });
    const path = `/api/v1/imports/${id}/tables/${import_tables[1].id}/file`;
    expect((await jobs.send('PUT', path, file('O2'))).status).toBe(200);
    const tables = await prisma.import_table.findMany({ where: { import_id: id }, orderBy: { id: 'asc' } });
    const sweepLate = async () => {
      await prisma.stored_object.updateMany({ data: { expires_at: new Date(0) } });
      await sweep(jobs.context);
      return Promise.all(tables.map(async ({ object_key }) => (await store.stat(object_key)) !== undefined));
    };
    expect(await sweepLate()).toEqual([true, true]);
    jobs.neighbours.dataIsAway = true;
    expect((await complete(id)).status).toBe(200);
    const [first] = tables;
    await eventually(async () => expect((await jobOf('import_table', first?.id ?? 0)).deferrals).toBeGreaterThan(0));
    expect(await sweepLate()).toEqual([true, true]);
    jobs.neighbours.dataIsAway = false;
    expect((await ended(jobs, `/imports/${id}`)).status).toBe('completed');
    expect(await sweepLate()).toEqual([false, false]);
  });

  it('removes expired objects and leaves nothing of a whole import and export', async () => {
    const { prisma, store } = jobs.context;
    const done = await runImport(jobs, { regions: `code,name\nW1,BAD\nW2,x\n` }, { on_error: 'reject_rows' });
    const made = await jobs.call('POST', '/api/v1/exports', {
      branch_id: 1,
      table_definition_key: 'regions',
      pattern: 'full',
    });
    const exported = await ended(jobs, `/exports/${made.body.id}`);
    const { object_key, rejected_key } = await tableRow(done.id);
    const { object_key: exportKey } = await prisma.data_export.findFirstOrThrow({ where: { id: exported.id } });
    const keys = [object_key, rejected_key, exportKey] as string[];
    await sweep(jobs.context);
    for (const key of keys) expect(await store.stat(key)).toBeDefined();
    const noted = await prisma.stored_object.findMany();
    expect(noted.map(({ key }) => key)).toEqual(expect.arrayContaining(keys));
    await prisma.stored_object.updateMany({ data: { expires_at: new Date(0) } });
    await sweep(jobs.context);
    for (const { key } of noted) expect(await store.stat(key)).toBeUndefined();
    expect(await prisma.stored_object.count()).toBe(0);
  });

  it('cancels abandoned imports, so that they no longer count as open', async () => {
    const { id } = await givenImport(jobs, { countries: undefined });
    await expireImports(jobs.context, new Date(Date.now() - 60_000));
    expect((await jobs.call('GET', `/api/v1/imports/${id}`)).body.status).toBe('uploading');
    await expireImports(jobs.context, new Date(Date.now() + 60_000));
    expect((await jobs.call('GET', `/api/v1/imports/${id}`)).body).toMatchObject({
      status: 'cancelled',
      import_tables: [{ status: 'cancelled' }],
    });
  });
});
