import { sampleCharacters } from '../../src/samples/read-sample.ts';
import { givenJobs, type Jobs, runImport } from '../given.ts';

let jobs: Jobs;
let countries: number;
let cities: number;

const column = (name: string, data_type = 'string', rest = {}) => ({ name, data_type, is_primary_key: false, ...rest });
const key = { is_primary_key: true, length: 2 };

beforeAll(async () => {
  jobs = await givenJobs();
  countries = jobs.neighbours.addTable({
    key: 'countries',
    columns: [column('code', 'string', key), column('name')],
  }).table_definition_id;
  cities = jobs.neighbours.addTable({
    key: 'cities',
    columns: [
      column('id', 'integer', { is_primary_key: true }),
      column('city_name'),
      column('country_code', 'string', { foreign_key_table_id: countries }),
      column('area', 'decimal'),
      column('founded', 'date'),
    ],
  }).table_definition_id;
  jobs.neighbours.addTable({ key: 'foreign', account_id: 2, branch_id: 3 });
  const edit = { action: 'edit' as const, resource_type: 'table_definition' as const, resource_id: cities };
  jobs.neighbours.permissions.set(81, { license_type: 'developer', permissions: [edit] });
  const view = { ...edit, action: 'view' as const };
  jobs.neighbours.permissions.set(82, { license_type: 'developer', permissions: [view] });
});
afterAll(() => jobs.close());

const infer = (id: number | string, body: unknown, call = jobs.call) =>
  call('POST', `/api/v1/table_definitions/${id}/infer_columns`, body);
const suggest = (body: object, call = jobs.call) =>
  call('POST', '/api/v1/import_mappings/suggest', { table_definition_id: cities, ...body });

describe('columns inferred from a sample', () => {
  it('are bodies for POST /column_definitions, without those that the table has', async () => {
    const sample =
      'Code;Name;Größe;Seit;PLZ\nDE;Deutschland;357.592,5;23.05.1949;01067\nFR;Frankreich;1,5;04.10.1958;75001\n';
    const { status, body } = await infer(countries, { sample });
    expect([status, body]).toEqual([
      200,
      {
        table_definition_id: countries,
        column_definitions: [
          {
            table_definition_id: countries,
            name: 'grosse',
            data_type: 'decimal',
            length: 10,
            scale: 1,
            is_primary_key: false,
            is_required: true,
          },
          { table_definition_id: countries, name: 'seit', data_type: 'date', is_primary_key: false, is_required: true },
          {
            table_definition_id: countries,
            name: 'plz',
            data_type: 'string',
            length: 5,
            is_primary_key: false,
            is_required: true,
          },
        ],
        columns: [
          { source_column: 'Code', name: 'code', notes: ['The table has this column already.'] },
          { source_column: 'Name', name: 'name', notes: ['The table has this column already.'] },
          { source_column: 'Größe', name: 'grosse', notes: [] },
          { source_column: 'Seit', name: 'seit', notes: [] },
          { source_column: 'PLZ', name: 'plz', notes: [] },
        ],
        format: 'csv',
        delimiter: ';',
        rows: 2,
        date_style: 'DMY',
        decimal_separator: ',',
      },
    ]);
  });

  it('accept a sample up to its limit, and report what is wrong with it', async () => {
    const padded = (size: number) => `a,b\n1,${'x'.repeat(size - 6)}`;
    expect((await infer(countries, { sample: padded(sampleCharacters) })).status).toBe(200);
    for (const [body, status] of [
      [{ sample: padded(sampleCharacters + 1) }, 400],
      [{ sample: '' }, 400],
      [{}, 400],
      [{ sample: 5 }, 400],
      [{ sample: 'a', delimiter: '#' }, 400],
      [{ sample: 'a', other: 1 }, 400],
      [{ sample: '\n' }, 422],
      [{ sample: 'a,"b\n1' }, 422],
      [{ sample: Array.from({ length: 201 }, (_, i) => `c${i}`).join() }, 422],
    ] as const)
      expect([body, (await infer(countries, body)).status]).toEqual([body, status]);
  });

  it('need the right to develop the table, which is checked before the body', async () => {
    expect((await infer(cities, {}, jobs.as({ userId: 81 }))).status).toBe(403);
    const [foreign, unknown] = [await infer(12, { sample: 'a' }), await infer(9999, { sample: 'a' })];
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
  });
});

describe('a mapping suggested from a sample', () => {
  const sample =
    'ID;City;Land (ISO);Country name;Area;Founded\n1;Köln ;;Deutschland;405,02;31.12.0050\n2;Bonn;;Frankreich;141,06;01.02.0011\n';

  it('can be posted with a name, and then reads the file', async () => {
    const { status, body } = await suggest({ sample });
    expect([status, body.questions, body.unmatched_source_columns, body.unmatched_target_columns]).toEqual([
      200,
      [],
      ['Land (ISO)'],
      [],
    ]);
    expect(body.import_mapping).toMatchObject({
      date_style: 'DMY',
      decimal_separator: ',',
      delimiter: ';',
      quote: null,
      has_header: true,
      column_mappings: [
        { source_column: 'ID', target_column: 'id' },
        { source_column: 'City', target_column: 'city_name', trim: true },
        { source_column: 'Land (ISO)', target_column: null },
        { source_column: 'Country name', target_column: 'country_code', lookup: 'name' },
        { source_column: 'Area', target_column: 'area' },
        { source_column: 'Founded', target_column: 'founded', format: null },
      ],
    });
    const made = await jobs.call('POST', '/api/v1/import_mappings', { ...body.import_mapping, name: 'Suggested' });
    expect([made.status, made.body]).toEqual([201, expect.objectContaining(body.import_mapping)]);
    const done = await runImport(jobs, { cities: sample }, { import_mapping_id: made.body.id });
    expect(done.import_tables[0]).toMatchObject({ status: 'completed', metrics: { rows_read: 2 } });
  });

  it('uses the date style of the account where the sample leaves dates open, and nowhere else', async () => {
    const styleOf = async (days: string) => {
      const { body } = await suggest({ sample: `ID;Founded\n${days}` });
      return [body.import_mapping.date_style, body.ambiguous_date_columns, body.questions.length];
    };
    expect(await styleOf('1;01/02/2024\n')).toEqual(['ISO', ['Founded'], 1]);
    try {
      jobs.neighbours.dateStyles.set(1, 'DMY');
      expect(await styleOf('1;01/02/2024\n')).toEqual(['DMY', [], 0]);
      expect(await styleOf('1;01/31/2024\n')).toEqual(['MDY', [], 0]);
    } finally {
      jobs.neighbours.dateStyles.clear();
    }
  });

  it('reports columns without a unique name, and leaves them out', async () => {
    const { body } = await suggest({ sample: 'id,id,,city\n1,2,3,4\n' });
    expect(body.import_mapping.column_mappings).toHaveLength(2);
    expect(body.questions).toEqual([
      'Column 3 of the file has no name; give it one in the file.',
      'id stands in the header more than once; rename one in the file.',
    ]);
  });

  it('needs the right to load the table, and shows only the other tables that may be viewed', async () => {
    expect((await suggest({ sample }, jobs.as({ userId: 82 }))).status).toBe(403);
    const { status, body } = await suggest({ sample }, jobs.as({ userId: 81 }));
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain('"lookup":"name"');
    const foreign = await suggest({ sample, table_definition_id: 12 });
    const unknown = await suggest({ sample, table_definition_id: 9999 });
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
  });
});
