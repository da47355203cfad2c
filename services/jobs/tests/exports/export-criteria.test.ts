// Exports of some rows: their criteria are checked by data, kept, shown, and sent to the read.
import { ExactNumber } from '@almanac/service-kit/api/json-body';
import { limits } from '@almanac/service-kit/limits';
import { eventually } from '@almanac/testkit/eventually';
import { ended, givenJobs, type Jobs } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs();
  const typed = (name: string, data_type: string) => ({ name, data_type, is_primary_key: name === 'id' });
  jobs.neighbours.addTable({
    key: 'cities',
    columns: [typed('id', 'integer'), typed('country', 'integer')],
    labels: [
      { name: 'country.$label', data_type: 'string' },
      { name: 'id.$label', data_type: 'decimal' },
    ],
    rows: new Map([['1', { id: '1', country: '7', 'country.$label': '=Germany', 'id.$label': '2.50' }]]),
  });
});
afterAll(() => jobs.close());

const full = { branch_id: 1, table_definition_key: 'cities', pattern: 'full' };
const post = (body: unknown) => jobs.call('POST', '/api/v1/exports', body);
const run = async (body: unknown) => {
  const made = await post(body);
  expect([made.status, made.body]).toEqual([201, expect.anything()]);
  return ended(jobs, `/exports/${made.body.id}`);
};
const fileOf = async (body: unknown) => (await fetch((await run(body)).download_url)).text();
const count = () => jobs.context.prisma.data_export.count();

describe('the criteria of an export', () => {
  const criteria = {
    filterModel: { id: { filterType: 'number', type: 'equals', filter: 1 } },
    or: [{ country: { filterType: 'set', values: ['7', null] } }],
    q: 'Köln',
    sortModel: [{ colId: 'id', sort: 'desc' }],
    columns: ['country', 'id'],
    include_lookups: true,
    change_request_id: 3,
  };

  it('are checked, shown, and sent when rows are read', async () => {
    const done = await run({ ...full, ...criteria });
    expect(done).toMatchObject({ status: 'completed', criteria, next_high_water_mark: null });
    const { criteriaChecked, criteriaRead } = jobs.neighbours;
    expect(JSON.parse(criteriaChecked.at(-1) ?? '')).toEqual(criteria);
    expect(criteriaRead.at(-1)).toBe(criteriaChecked.at(-1));
    const { body: list } = await jobs.call('GET', '/api/v1/exports?sort=-id');
    expect(list.data[0].criteria).toEqual(criteria);
  });

  it('keep numbers as they were written', async () => {
    const filter = new ExactNumber('9007199254740993');
    const made = await post({ ...full, filterModel: { id: { filterType: 'number', type: 'equals', filter } } });
    expect(made.status).toBe(201);
    await ended(jobs, `/exports/${made.body.id}`);
    expect(jobs.neighbours.criteriaRead.at(-1)).toContain('"filter":9007199254740993}');
  });

  it('are none when none is given', async () => {
    const checks = jobs.neighbours.criteriaChecked.length;
    const none = { filterModel: null, q: null, columns: null, include_lookups: false, change_request_id: null };
    expect((await run({ ...full, ...none })).criteria).toBeNull();
    expect((await run(full)).criteria).toBeNull();
    expect(jobs.neighbours.criteriaChecked).toHaveLength(checks);
  });

  it('that data refuses are 422 with the field, and no export is created', async () => {
    const problem = {
      code: 'unknown_property',
      message: 'filterModel: bad',
      field: 'filterModel',
      column: 'bad',
    } as const;
    jobs.neighbours.badCriteria = { word: 'bad', problem };
    const before = await count();
    const answer = await post({ ...full, filterModel: { bad: {} } });
    expect(answer).toMatchObject({ status: 422, body: { problems: [problem] } });
    expect(await count()).toBe(before);
    jobs.neighbours.badCriteria = undefined;
  });

  it.each([
    [{ q: 5 }],
    [{ q: 'x'.repeat(256) }],
    [{ columns: 'id' }],
    [{ columns: [5] }],
    [{ columns: Array.from({ length: 201 }, () => 'id') }],
    [{ include_lookups: 'yes' }],
    [{ change_request_id: '3' }],
    [{ change_request_id: 0 }],
    [{ startRow: 0 }],
  ])('of another form are 400: %j', async (body) => {
    const before = await count();
    expect((await post({ ...full, ...body })).status).toBe(400);
    expect(await count()).toBe(before);
  });

  it('are at most 32 kB of JSON', async () => {
    const frame = JSON.stringify({ filterModel: { id: { values: [''] } } }).length;
    const long = (bytes: number) => ({ ...full, filterModel: { id: { values: ['x'.repeat(bytes - frame)] } } });
    expect((await post(long(limits.exportCriteriaBytes))).status).toBe(201);
    expect(await post(long(limits.exportCriteriaBytes + 1))).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'too_long', field: 'filterModel', params: { maximum: 32_768 } }] },
    });
  });

  it('give the link to no other person, who may not view the tables of labels', async () => {
    const permissions = [{ action: 'view', resource_type: 'account', resource_id: 1 }];
    for (const userId of [71, 72]) jobs.neighbours.permissions.set(userId, { license_type: 'end_user', permissions });
    const [creator, other] = [jobs.as({ userId: 71 }), jobs.as({ userId: 72 })];
    const { body } = await creator('POST', '/api/v1/exports', { ...full, include_lookups: true });
    const path = `/exports/${body.id}`;
    expect((await ended(jobs, path, creator)).download_url).toEqual(expect.any(String));
    expect(await ended(jobs, path, other)).toMatchObject({ status: 'completed', download_url: null });
    expect((await ended(jobs, path, jobs.call)).download_url).toEqual(expect.any(String));
    const list = await other('GET', '/api/v1/exports?sort=-id');
    expect(list.body.data[0]).toMatchObject({ id: body.id, download_url: null });
    const whole = await creator('POST', '/api/v1/exports', full);
    expect((await ended(jobs, `/exports/${whole.body.id}`, other)).download_url).toEqual(expect.any(String));
  });

  it('are never left out by data of an earlier release', async () => {
    jobs.neighbours.ignoresCriteria = true;
    const { body } = await post({ ...full, q: 'x' });
    await eventually(async () => {
      const job = await jobs.context.prisma.job.findFirst({ where: { kind: 'export', subject_id: body.id } });
      expect(job?.deferrals).toBeGreaterThan(0);
    });
    jobs.neighbours.ignoresCriteria = false;
    expect((await ended(jobs, `/exports/${body.id}`)).status).toBe('completed');
  });
});

describe('label columns', () => {
  it('have the type of what they show', async () => {
    const row = '"id":1,"country":7,"country.$label":"=Germany"';
    expect(await fileOf({ ...full, format: 'ndjson', include_lookups: true })).toBe(`{${row},"id.$label":2.50}\n`);
    expect(await fileOf({ ...full, format: 'json', exact_numbers: true, include_lookups: true })).toBe(
      `[\n{${row},"id.$label":"2.50"}\n]\n`,
    );
  });

  it('are made safe for spreadsheets like other texts', async () => {
    expect(await fileOf({ ...full, include_lookups: true, safe_cells: true })).toBe(
      `id,country,country.$label,id.$label\n1,7,'=Germany,2.50\n`,
    );
  });
});
