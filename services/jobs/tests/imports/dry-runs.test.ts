import { givenImport, givenJobs, type Jobs, runImport } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs();
  jobs.neighbours.addTable({ key: 'countries' });
});
afterAll(() => jobs.close());

const file = 'code,name\nDE,Germany\n';
type Import = { id: number; import_tables: { id: number; table_definition_id: number }[] };
const pathOf = ({ id, import_tables: [table] }: Import, query = '') =>
  `/api/v1/imports/${id}/tables/${table?.id}/changes${query}`;

describe('the changes of a dry run', () => {
  it('are those that data keeps', async () => {
    const done = await runImport(jobs, { countries: file }, { dry_run: true });
    expect(await jobs.call('GET', pathOf(done))).toMatchObject({
      status: 200,
      body: {
        rows: [{ kind: 'created', key: { code: 'DE' }, id: null, cells: { name: { from: null, to: 'Ä' } } }],
        rowCount: 1,
        counts: { created: 1, updated: 0, deleted: 0 },
        truncated: false,
      },
    });
    await jobs.call('GET', pathOf(done, '?kind=updated&startRow=500&endRow=1500'));
    const load_id = jobs.neighbours.loads.at(-1)?.load_id;
    expect(jobs.neighbours.changesRead.slice(-2)).toEqual([
      { load_id, kind: '', start_row: 0, end_row: 100 },
      { load_id, kind: 'updated', start_row: 500, end_row: 1500 },
    ]);
  });

  it('are 404 when data no longer keeps them', async () => {
    const done = await runImport(jobs, { countries: file }, { dry_run: true });
    jobs.neighbours.results.delete(jobs.neighbours.loads.at(-1)?.load_id ?? '');
    expect((await jobs.call('GET', pathOf(done))).status).toBe(404);
  });

  it('are 422 of a table that is no dry run, or has not ended', async () => {
    const loaded = await runImport(jobs, { countries: file });
    const open = await givenImport(jobs, { countries: file }, { dry_run: true });
    for (const found of [loaded, open])
      expect(await jobs.call('GET', pathOf(found))).toMatchObject({
        status: 422,
        body: { problems: [{ code: 'wrong_state' }] },
      });
  });

  it.each([
    ['?startRow=5&endRow=5', 'endRow'],
    ['?startRow=0&endRow=1001', 'endRow'],
    ['?startRow=-1', 'startRow'],
    ['?kind=moved', 'kind'],
  ])('are 400 with %s', async (query, field) => {
    const done = await runImport(jobs, { countries: file }, { dry_run: true });
    expect(await jobs.call('GET', pathOf(done, query))).toMatchObject({ status: 400, body: { problems: [{ field }] } });
  });

  it('are seen with the right to view the table, by the account of the import', async () => {
    const done = await runImport(jobs, { countries: file }, { dry_run: true });
    const resource_id = done.import_tables[0].table_definition_id;
    const as = (userId: number, action: 'view' | undefined) => {
      const permissions = action ? [{ action, resource_type: 'table_definition' as const, resource_id }] : [];
      jobs.neighbours.permissions.set(userId, { license_type: 'end_user', permissions });
      return jobs.as({ userId });
    };
    expect((await as(41, 'view')('GET', pathOf(done))).status).toBe(200);
    expect((await as(42, undefined)('GET', pathOf(done))).status).toBe(403);
    expect((await jobs.as({ accountId: 2 })('GET', pathOf(done))).status).toBe(404);
    const [other] = (await runImport(jobs, { countries: file }, { dry_run: true })).import_tables;
    expect((await jobs.call('GET', pathOf({ ...done, import_tables: [other] }))).status).toBe(404);
  });
});
