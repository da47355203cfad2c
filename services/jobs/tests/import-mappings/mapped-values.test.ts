// How mappings and account settings shape the values of files, as sent to data.
import { givenJobs, type Jobs, makeMapping, runImport } from '../given.ts';

let jobs: Jobs;
let table: number;

beforeAll(async () => {
  jobs = await givenJobs();
  table = jobs.neighbours.addTable({ key: 'countries' }).table_definition_id;
});
afterAll(() => jobs.close());

const call = (method: string, path: string, body?: unknown) =>
  jobs.call(method, `/api/v1/import_mappings${path}`, body);
const make = (attributes?: Record<string, unknown>) => makeMapping(jobs, table, attributes);

describe('the date style of the account', () => {
  const styleOf = async (options: object) => {
    expect((await runImport(jobs, { countries: 'code,name\nA1,x\n' }, options)).status).toBe('completed');
    return jobs.neighbours.loads.at(-1)?.options?.date_style;
  };
  afterEach(() => jobs.neighbours.dateStyles.clear());

  it('applies where neither a mapping nor the file states how dates are written', async () => {
    const before = await make();
    expect(await styleOf({ import_mapping_id: null })).toBe('ISO');
    jobs.neighbours.dateStyles.set(1, 'DMY');
    expect(await styleOf({ import_mapping_id: null })).toBe('DMY');
    const [silent, stated] = [await make(), await make({ date_style: 'MDY' })];
    expect([before.date_style, silent.date_style, stated.date_style]).toEqual(['ISO', 'DMY', 'MDY']);
    expect(await styleOf({ import_mapping_id: stated.id })).toBe('MDY');
    jobs.neighbours.dateStyles.set(1, 'MDY');
    expect(await styleOf({ import_mapping_id: silent.id })).toBe('DMY');
    expect(await styleOf({ import_mapping_id: before.id })).toBe('ISO');
    const { body } = await call('PATCH', `/${silent.id}`, { delimiter: ';' });
    expect(body.date_style).toBe('DMY');
  });
});

const mapOf = (entries: number) => Object.fromEntries(Array.from({ length: entries }, (_, i) => [`k${i}`, '']));

describe('values of a file', () => {
  const loadOptions = () => jobs.neighbours.loads.at(-1)?.options;

  it('are read by data as the mapping states', async () => {
    const value_map = { X: 'blocked', '': 'free', '?': null };
    const column_mappings = [
      { source_column: 'code', target_column: 'code' },
      { source_column: 'name', target_column: 'name', value_map, otherwise: { value: 'other' } },
    ];
    const mapping = await make({ column_mappings });
    expect(mapping.column_mappings).toMatchObject([
      { value_map: null, otherwise: 'keep', round: null },
      { value_map, otherwise: { value: 'other' } },
    ]);
    await runImport(jobs, { countries: 'name,code\nX,V1\n' }, { import_mapping_id: mapping.id });
    const { columns } = loadOptions() as { columns: object[] };
    expect(columns[0]).toMatchObject({
      position: -1,
      target_column: 'name',
      values: { position: 0, map: expect.any(String), otherwise: 'value', otherwise_value: 'other' },
    });
    expect(JSON.parse((columns[0] as { values: { map: string } }).values.map)).toEqual(value_map);
    expect(columns[1]).toMatchObject({ position: 1, target_column: 'code', values: null });
    const { body } = await call('PATCH', `/${mapping.id}`, {
      column_mappings: [{ source_column: 'name', target_column: 'name', value_map: {}, otherwise: 'reject', round: 2 }],
    });
    expect(body.column_mappings[0]).toMatchObject({ value_map: {}, otherwise: 'reject', round: 2 });
  });

  it.each([
    [400, 'value_map.a must be a string', { value_map: { a: 1 } }],
    [400, 'value_map must be an object', { value_map: ['a'] }],
    [422, 'value_map has more than 1000 entries', { value_map: mapOf(1001) }],
    [422, 'value_map has a text of more than 1000 characters', { value_map: { ['k'.repeat(1001)]: '' } }],
    [422, 'value_map.k must be at most 1000 characters long', { value_map: { k: 'v'.repeat(1001) } }],
    [400, 'otherwise has the wrong form', { value_map: {}, otherwise: 'drop' }],
    [400, 'otherwise has the wrong form', { value_map: {}, otherwise: { values: 'x' } }],
    [422, 'has no value_map, so there is nothing otherwise', { otherwise: 'reject' }],
    [400, 'round must be an integer', { round: 1.5 }],
    [422, 'round must be at most 20', { round: 21 }],
    [422, 'goes to no column of the table', { target_column: null, round: 1 }],
    [422, 'goes to no column of the table', { target_column: null, value_map: {} }],
  ])('are rejected in a mapping that makes no sense: %d %s', async (status, problem, given) => {
    const column_mappings = [{ source_column: 'name', target_column: 'name', ...given }];
    const refused = await call('POST', '', { table_definition_id: table, name: 'no map', column_mappings });
    expect([refused.status, refused.body.errors.join()]).toEqual([status, expect.stringContaining(problem)]);
  });
});
