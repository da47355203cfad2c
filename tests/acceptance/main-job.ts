// The main job, step by step: what an integration engineer does in the first hour. Tests run it as it is, and again while
// services are killed.
import { type Api, type Page, poll, upload } from '@almanac/api-client/api';
import { type Column, unique } from '@almanac/testkit/builders';
import { iso31661, iso31662 } from 'iso-3166';

type Row = Record<string, unknown> & { svc_sk: number; svc_updated_at: string };
type Grid = { rows: Row[]; rowCount: number };
type Import = {
  id: number;
  status: string;
  import_tables: { id: number; status: string; metrics: Record<string, number> }[];
};
type Export = {
  id: number;
  status: string;
  download_url: string | null;
  rows_exported: number;
  bytes_exported: number;
  next_high_water_mark: string;
};

/** What the steps have made so far. */
export type Progress = {
  /** Called when work has just begun in the background, by tests that disturb it. */
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

export type Step = { name: string; run(api: Api, progress: Progress): Promise<void> };

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
    run: async (api, progress) => {
      const domain = await api.post('/domains', { domain: { name: `Geography ${unique()}`, abbreviation: 'GEO' } });
      progress.domainId = domain.id;
      const { data } = await api.get<Page<{ id: number; name: string }>>('/branches');
      progress.branchId = data.find(({ name }) => name === 'main')?.id as number;
      expect(progress.branchId).toEqual(expect.any(Number));
    },
  },
  {
    name: 'defines two tables with keys, lengths, valid values and a foreign key',
    run: async (api, progress) => {
      progress.countries = (await define(api, progress, 'Countries', countryColumns)).id;
      const subdivisions = await define(api, progress, 'Subdivisions', subdivisionColumns(progress.countries));
      progress.subdivisions = subdivisions.id;
      progress.key = subdivisions.key;
      const shown = await api.get(`/table_definitions/${subdivisions.id}`);
      expect(shown.column_definitions.map((column: Column) => column.name)).toEqual([
        'code',
        'country',
        'name',
        'level',
      ]);
    },
  },
  {
    name: 'deploys them with one deployment',
    run: async (api, progress) => {
      const deployment = await api.post('/deployments', {
        branch_id: progress.branchId,
        table_definition_ids: [progress.subdivisions, progress.countries],
      });
      expect(deployment.status).toBe('created');
      const deployed = await api.post(`/deployments/${deployment.id}/deploy`);
      expect(deployed.status).toBe('deployed');
      const { data } = await api.get<Page<{ id: number }>>(
        `/deployed_table_definitions?branch_id=${progress.branchId}`,
      );
      expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining([progress.countries, progress.subdivisions]));
    },
  },
  {
    name: 'imports all countries and all subdivisions of ISO 3166 from CSV files',
    run: async (api, progress) => {
      const first = await load(api, progress, progress.countries, countriesCsv());
      expect(first.import_tables[0]?.metrics).toMatchObject({
        rows_read: iso31661.length,
        inserted: iso31661.length,
        rejected: 0,
      });
      const second = await load(api, progress, progress.subdivisions, subdivisionsCsv());
      expect(second.import_tables[0]?.metrics).toMatchObject({
        rows_read: iso31662.length,
        inserted: iso31662.length,
        rejected: 0,
      });
    },
  },
  {
    name: 'queries them as a grid with filter and sort',
    run: async (api, progress) => {
      const expected = iso31662.filter(({ code }) => code.startsWith('DE-')).map(({ name }) => name);
      const answer = await grid(api, progress, { country: { filterType: 'text', type: 'equals', filter: 'DE' } }, [
        { colId: 'code', sort: 'desc' },
      ]);
      expect(answer.rowCount).toBe(expected.length);
      expect(answer.rows.map((row) => row.name)).toEqual(expected.toReversed());
      const page = await api.post<Grid>('/table_data/grid', {
        table_definition_key: progress.key,
        branch_id: progress.branchId,
        startRow: 1000,
        endRow: 2000,
        sortModel: [{ colId: 'code', sort: 'asc' }],
      });
      expect(page.rowCount).toBe(iso31662.length);
      const codes = iso31662.map((part) => part.code).toSorted((a, b) => (a < b ? -1 : 1));
      expect(page.rows.map((row) => row.code)).toEqual(codes.slice(1000, 2000));
    },
  },
  {
    name: 'takes a first export and with it the mark',
    run: async (api, progress) => {
      const newest = await newestChange(api, progress);
      // What the service does meanwhile may hold the mark back for a moment; changes before it would come once more.
      const full = await poll(
        () => takeExport(api, progress, { pattern: 'full' }),
        ({ next_high_water_mark }) => next_high_water_mark > newest,
      );
      expect(full.rows_exported).toBe(iso31662.length);
      progress.mark = full.next_high_water_mark;
      expect(Number.isNaN(Date.parse(progress.mark))).toBe(false);
    },
  },
  {
    name: 'creates, updates and soft-deletes a row',
    run: async (api, progress) => {
      const table_definition_id = progress.subdivisions;
      const made = await api.send<{ record: Row; message: string }>('POST', '/table_data', {
        table_definition_id,
        record: { code: 'DE-XX', country: 'DE', name: 'Anywhere', level: 'first' },
      });
      expect(made).toMatchObject({ status: 201, body: { record: { code: 'DE-XX', svc_is_deleted: false } } });
      progress.created = made.body.record;
      const [berlin, hamburg] = await Promise.all([findRow(api, progress, 'DE-BE'), findRow(api, progress, 'DE-HH')]);
      const renamed = await api.patch<Row>(`/table_data/${berlin.svc_sk}`, {
        table_definition_id,
        record: { name: 'Berlin, Land' },
      });
      expect(renamed).toMatchObject({ svc_sk: berlin.svc_sk, name: 'Berlin, Land', country: 'DE' });
      progress.updated = renamed;
      const gone = await api.post('/table_data/delete_records', { table_definition_id, ids: [hamburg.svc_sk] });
      expect(gone.deleted_count).toBe(1);
      progress.deleted = hamburg;
      const shown = await api.get<Row>(
        `/table_data/${progress.created.svc_sk}?table_definition_id=${table_definition_id}`,
      );
      expect(shown).toEqual(progress.created);
    },
  },
  {
    name: 'exports exactly the changes since the mark',
    run: async (api, progress) => {
      const changes = await takeExport(api, progress, { pattern: 'incremental', high_water_mark: progress.mark });
      expect(changes.rows_exported).toBe(3);
      const file = await download(changes);
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

async function define(api: Api, { branchId, domainId }: Progress, name: string, columns: Column[]) {
  const definition = await api.post<{ id: number; key: string }>('/table_definitions', {
    branch_id: branchId,
    table_definition: { name: `${name} ${unique()}`, domain_id: domainId },
  });
  for (const column_definition of columns)
    await api.post('/column_definitions', { table_definition_id: definition.id, column_definition });
  return definition;
}

async function load(
  api: Api,
  { branchId, disturb }: Progress,
  tableDefinitionId: number,
  file: string,
): Promise<Import> {
  const { id } = await api.post<Import>('/imports', { branch_id: branchId });
  const table = await api.post(`/imports/${id}/tables`, { table_definition_id: tableDefinitionId, pattern: 'full' });
  await upload(table.upload_url, file);
  await api.post(`/imports/${id}/upload_complete`);
  await disturb?.();
  const done = await poll(
    () => api.get<Import>(`/imports/${id}`),
    ({ status }) => /^(complete|completed|completed_with_errors|failed|cancelled)$/.test(status),
    { timeoutMs: 120_000 },
  );
  if (done.status !== 'completed') throw new Error(`The import ended as ${JSON.stringify(done)}`);
  expect(done.import_tables).toMatchObject([{ status: 'completed' }]);
  return done;
}

function grid(api: Api, { subdivisions }: Progress, filterModel: object, sortModel: object[] = []): Promise<Grid> {
  return api.post<Grid>('/table_data/grid', {
    table_definition_id: subdivisions,
    startRow: 0,
    endRow: 1000,
    filterModel,
    sortModel,
  });
}

async function findRow(api: Api, progress: Progress, wanted: string): Promise<Row> {
  const { rows } = await grid(api, progress, { code: { filterType: 'text', type: 'equals', filter: wanted } });
  expect(rows).toHaveLength(1);
  return rows[0] as Row;
}

async function takeExport(api: Api, { branchId, key }: Progress, how: object): Promise<Export> {
  const made = await api.post<Export>('/exports', { branch_id: branchId, table_definition_key: key, ...how });
  expect(made).toMatchObject({ status: 'created', download_url: null });
  const done = await poll(
    () => api.get<Export>(`/exports/${made.id}`),
    ({ status }) => /^(completed|failed)$/.test(status),
    { timeoutMs: 120_000 },
  );
  expect(done).toMatchObject({ status: 'completed', download_url: expect.stringMatching(/^https?:/) });
  return done;
}

async function newestChange(api: Api, { subdivisions }: Progress): Promise<string> {
  const page = await api.get<{ data: Row[] }>(
    `/table_data?table_definition_id=${subdivisions}&sort=-svc_updated_at&per_page=1&include_deleted=true`,
  );
  return String(page.data[0]?.svc_updated_at);
}

async function download({ download_url }: Export): Promise<string> {
  const answer = await fetch(download_url as string);
  expect(answer.status).toBe(200);
  return answer.text();
}
