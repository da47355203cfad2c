// The main job, step by step: what an integration engineer does in the first hour, with the client
// package. Tests run it alone, and while services are killed.
import { poll } from '@almanac/api-client/api';
import type { Client, Export, Grid, Import, NewExport, paths, Row } from '@almanac/client';
import { unique } from '@almanac/testkit/system/builders';
import { iso31661, iso31662 } from 'iso-3166';

/** The results of the steps so far. */
export type Progress = {
  /** Called when work begins in the background, by tests that disturb it. */
  disturb?: () => Promise<void>;
  domainId: number;
  branchId: number;
  countries: number;
  subdivisions: number;
  key: string;
  mark: string;
  created: Row;
  updated: Row;
  deleted: Row;
};

export type Step = { name: string; run(almanac: Client, progress: Progress): Promise<void> };

type Body<P extends keyof paths> = paths[P] extends {
  post: { requestBody: { content: { 'application/json': infer B } } };
}
  ? B
  : never;
type Column = Body<'/column_definitions'>['column_definition'];

const code = { is_primary_key: true, is_required: true } as const;

const countryColumns: Column[] = [
  { name: 'alpha2', data_type: 'string', length: 2, ...code },
  { name: 'name', data_type: 'string', length: 100, is_required: true },
];

const subdivisionColumns = (countries: number): Column[] => [
  { name: 'code', data_type: 'string', length: 6, ...code },
  { name: 'country', data_type: 'string', length: 2, is_required: true, foreign_key_table_id: countries },
  { name: 'name', data_type: 'string', length: 150, is_required: true },
  { name: 'level', data_type: 'string', length: 10, valid_values: 'first|second' },
];

const levelOf = (parent: string) => (parent.includes('-') ? 'second' : 'first');
const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csv = (rows: string[][]) => rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');

/** All ISO 3166-1 countries, as a file. */
export const countriesCsv = () => csv([['alpha2', 'name'], ...iso31661.map(({ alpha2, name }) => [alpha2, name])]);

/** All ISO 3166-2 subdivisions, as a file. */
export const subdivisionsCsv = () =>
  csv([
    ['code', 'country', 'name', 'level'],
    ...iso31662.map((part) => [part.code, part.code.slice(0, 2), part.name, levelOf(part.parent)]),
  ]);

export const steps: Step[] = [
  {
    name: 'makes a domain and finds the branch main',
    run: async (almanac, progress) => {
      const domain = await almanac.post('/domains', {
        body: { domain: { name: `Geography ${unique()}`, abbreviation: 'GEO' } },
      });
      progress.domainId = domain.id;
      const { data } = await almanac.get('/branches');
      progress.branchId = data.find(({ name }) => name === 'main')?.id as number;
      expect(progress.branchId).toEqual(expect.any(Number));
    },
  },
  {
    name: 'defines two tables with keys, lengths, valid values and a foreign key',
    run: async (almanac, progress) => {
      progress.countries = (await define(almanac, progress, 'Countries', countryColumns)).id;
      const subdivisions = await define(almanac, progress, 'Subdivisions', subdivisionColumns(progress.countries));
      progress.subdivisions = subdivisions.id;
      progress.key = subdivisions.key;
      const shown = await almanac.get('/table_definitions/{id}', { params: { path: { id: String(subdivisions.id) } } });
      expect(shown.column_definitions.map(({ name }) => name)).toEqual(['code', 'country', 'name', 'level']);
    },
  },
  {
    name: 'deploys them with one deployment',
    run: async (almanac, progress) => {
      const deployment = await almanac.post('/deployments', {
        body: { branch_id: progress.branchId, table_definition_ids: [progress.subdivisions, progress.countries] },
      });
      expect(deployment.status).toBe('created');
      const deployed = await almanac.post('/deployments/{id}/deploy', { params: { path: { id: deployment.id } } });
      expect(deployed.status).toBe('deployed');
      const { data } = await almanac.get('/deployed_table_definitions', {
        params: { query: { branch_id: progress.branchId } },
      });
      expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining([progress.countries, progress.subdivisions]));
    },
  },
  {
    name: 'imports all countries and all subdivisions of ISO 3166 from CSV files',
    run: async (almanac, progress) => {
      const first = await load(almanac, progress, progress.countries, countriesCsv());
      expect(first.import_tables[0]?.metrics).toMatchObject({
        rows_read: iso31661.length,
        inserted: iso31661.length,
        rejected: 0,
      });
      const second = await load(almanac, progress, progress.subdivisions, subdivisionsCsv());
      expect(second.import_tables[0]?.metrics).toMatchObject({
        rows_read: iso31662.length,
        inserted: iso31662.length,
        rejected: 0,
      });
    },
  },
  {
    name: 'queries them as a grid with filter and sort',
    run: async (almanac, progress) => {
      const expected = iso31662.filter(({ code }) => code.startsWith('DE-')).map(({ name }) => name);
      const answer = await grid(almanac, progress, { country: { filterType: 'text', type: 'equals', filter: 'DE' } }, [
        { colId: 'code', sort: 'desc' },
      ]);
      expect(answer.rowCount).toBe(expected.length);
      expect(answer.rows.map((row) => row.name)).toEqual(expected.toReversed());
      const page = await almanac.post('/table_data/grid', {
        body: {
          table_definition_key: progress.key,
          branch_id: progress.branchId,
          startRow: 1000,
          endRow: 2000,
          sortModel: [{ colId: 'code', sort: 'asc' }],
        },
      });
      expect(page.rowCount).toBe(iso31662.length);
      const codes = iso31662.map((part) => part.code).toSorted((a, b) => (a < b ? -1 : 1));
      expect(page.rows.map((row) => row.code)).toEqual(codes.slice(1000, 2000));
    },
  },
  {
    name: 'takes a first export and with it the mark',
    run: async (almanac, progress) => {
      const newest = await newestChange(almanac, progress);
      // The service's own work may hold the mark back for a moment; changes before it would be
      // repeated.
      const full = await poll(
        () => takeExport(almanac, progress, { pattern: 'full' }),
        ({ next_high_water_mark }) => String(next_high_water_mark) > newest,
      );
      expect(full.rows_exported).toBe(iso31662.length);
      progress.mark = String(full.next_high_water_mark);
      expect(Number.isNaN(Date.parse(progress.mark))).toBe(false);
    },
  },
  {
    name: 'creates, updates and soft-deletes a row',
    run: async (almanac, progress) => {
      const table_definition_id = progress.subdivisions;
      const made = await almanac.post('/table_data', {
        body: { table_definition_id, record: { code: 'DE-XX', country: 'DE', name: 'Anywhere', level: 'first' } },
      });
      expect(made).toMatchObject({ record: { code: 'DE-XX', svc_is_deleted: false } });
      progress.created = made.record as Row;
      const [berlin, hamburg] = await Promise.all([
        findRow(almanac, progress, 'DE-BE'),
        findRow(almanac, progress, 'DE-HH'),
      ]);
      const renamed = await almanac.patch('/table_data/{id}', {
        params: { path: { id: berlin.svc_sk } },
        body: { table_definition_id, record: { name: 'Berlin, Land' } },
      });
      expect(renamed).toMatchObject({ svc_sk: berlin.svc_sk, name: 'Berlin, Land', country: 'DE' });
      progress.updated = renamed as Row;
      const deletion = await almanac.post('/table_data/delete_records', {
        body: { table_definition_id, ids: [hamburg.svc_sk] },
      });
      expect(deletion.deleted_count).toBe(1);
      progress.deleted = hamburg;
      const shown = await almanac.get('/table_data/{id}', {
        params: { path: { id: progress.created.svc_sk }, query: { table_definition_id } },
      });
      expect(shown).toEqual(progress.created);
    },
  },
  {
    name: 'exports exactly the changes since the mark',
    run: async (almanac, progress) => {
      const changes = await takeExport(almanac, progress, { pattern: 'incremental', high_water_mark: progress.mark });
      expect(changes.rows_exported).toBe(3);
      const file = await (await almanac.download(changes.id)).text();
      expect(Buffer.byteLength(file)).toBe(changes.bytes_exported);
      const [header = '', ...lines] = file.trimEnd().split(/\r?\n/);
      const columns = header.split(',');
      const at = (name: string) => columns.indexOf(name);
      const seen = lines.map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/));
      const summary = seen
        .map((row) => [row[at('svc_transaction_code')], row[at('code')], row[at('name')]].join(' '))
        .toSorted();
      expect(summary).toEqual(['d DE-HH Hamburg', 'i DE-XX Anywhere', 'u DE-BE "Berlin, Land"']);
    },
  },
];

async function define(almanac: Client, { branchId, domainId }: Progress, name: string, columns: Column[]) {
  const definition = await almanac.post('/table_definitions', {
    body: { branch_id: branchId, table_definition: { name: `${name} ${unique()}`, domain_id: domainId } },
  });
  for (const column of columns)
    await almanac.post('/column_definitions', {
      body: { table_definition_id: definition.id, column_definition: column },
    });
  return definition;
}

async function load(
  almanac: Client,
  { branchId, disturb }: Progress,
  tableDefinitionId: number,
  file: string,
): Promise<Import> {
  const { id } = await almanac.post('/imports', { body: { branch_id: branchId } });
  const params = { path: { id } };
  const table = await almanac.post('/imports/{id}/tables', {
    params,
    body: { table_definition_id: tableDefinitionId, pattern: 'full' },
  });
  await almanac.upload(table.upload_url, file);
  await almanac.post('/imports/{id}/upload_complete', { params });
  await disturb?.();
  const done = await almanac.waitForImport(id, { everyMs: 1_000 });
  if (done.status !== 'completed') throw new Error(`The import ended as ${JSON.stringify(done)}`);
  expect(done.import_tables).toMatchObject([{ status: 'completed' }]);
  return done;
}

function grid(
  almanac: Client,
  { subdivisions }: Progress,
  filterModel: NonNullable<Grid['filterModel']>,
  sortModel: { colId: string; sort: 'asc' | 'desc' }[] = [],
) {
  return almanac.post('/table_data/grid', {
    body: { table_definition_id: subdivisions, startRow: 0, endRow: 1000, filterModel, sortModel },
  });
}

async function findRow(almanac: Client, progress: Progress, wanted: string): Promise<Row> {
  const { rows } = await grid(almanac, progress, { code: { filterType: 'text', type: 'equals', filter: wanted } });
  expect(rows).toHaveLength(1);
  return rows[0] as Row;
}

type How = Pick<NewExport, 'pattern' | 'high_water_mark'>;

async function takeExport(almanac: Client, { branchId, key }: Progress, how: How): Promise<Export> {
  const made = await almanac.post('/exports', { body: { branch_id: branchId, table_definition_key: key, ...how } });
  expect(made).toMatchObject({ status: 'created', download_url: null });
  const done = await almanac.waitForExport(made.id, { everyMs: 1_000 });
  expect(done).toMatchObject({ status: 'completed', download_url: expect.stringMatching(/^https?:/) });
  return done;
}

async function newestChange(almanac: Client, { subdivisions }: Progress): Promise<string> {
  const query = {
    table_definition_id: subdivisions,
    sort: '-svc_updated_at',
    per_page: 1,
    include_deleted: 'true' as const,
  };
  const page = await almanac.get('/table_data', { params: { query } });
  return String(page.data[0]?.svc_updated_at);
}
