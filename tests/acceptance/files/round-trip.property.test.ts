// An import of an exported file brings the same values: random rows with columns of every type,
// through the whole system, in every format. ROUND_TRIP_RUNS: the number of tables of random rows
// (1); ROUND_TRIP_SEED repeats a run.
import type { Api } from '@almanac/api-client/api';
import {
  type Column,
  type DeployedTable,
  exportFile,
  givenAccount,
  givenDeployedTable,
  importFile,
} from '@almanac/testkit/system/builders';
import fc from 'fast-check';

const seed = Number(process.env.ROUND_TRIP_SEED ?? Date.now() % 1_000_000);
const runs = Number(process.env.ROUND_TRIP_RUNS ?? 1);
const rowCount = 60;

const text = fc
  .oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '',
      ' ',
      ' a ',
      '\ta',
      "'",
      "'=1",
      '=1+1',
      '+1',
      '-1',
      '@x',
      '＝1',
      'a\r\nb\rc\nd',
      '"',
      '""',
      ',',
      ';',
    ),
    fc.constantFrom(
      '007',
      '1e3',
      'true',
      'null',
      'NULL',
      '\\N',
      '\\.',
      '_x0041_',
      '\u0001\u001f\u007f',
      '<&>',
      '🏔é',
      '\ufeff',
    ),
  )
  .filter((value) => value.isWellFormed() && !value.includes('\0') && [...value].length <= 200);
const instant = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const digits = (most: bigint) => fc.bigInt({ min: -most, max: most });
const decimal = fc
  .tuple(digits(10n ** 28n - 1n), fc.integer({ min: 0, max: 9_999_999_999 }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(10, '0')}`);
const float = (all: fc.Arbitrary<number>) => all.map((value) => (Object.is(value, -0) ? 0 : value));
const finite = { noNaN: true, noDefaultInfinity: true };
const json = fc
  .jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })
  .filter(
    (value) =>
      value !== null && !/\\u0000|__proto__/.test(JSON.stringify(value)) && JSON.stringify(value).isWellFormed(),
  );

/** A column for each type, with values of its whole range. */
const kinds: { column: Omit<Column, 'name'>; values: fc.Arbitrary<unknown> }[] = [
  { column: { data_type: 'string', length: 200 }, values: text },
  { column: { data_type: 'text' }, values: text },
  { column: { data_type: 'smallint' }, values: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }) },
  { column: { data_type: 'integer' }, values: fc.integer() },
  { column: { data_type: 'bigint' }, values: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) },
  { column: { data_type: 'decimal', length: 38, scale: 10 }, values: decimal },
  {
    column: { data_type: 'decimal', length: 5, scale: 5 },
    values: fc.integer({ min: 0, max: 99_999 }).map((n) => n / 100_000),
  },
  { column: { data_type: 'real' }, values: float(fc.float(finite)) },
  { column: { data_type: 'double' }, values: float(fc.double(finite)) },
  { column: { data_type: 'boolean' }, values: fc.boolean() },
  { column: { data_type: 'date' }, values: instant.map((at) => at.slice(0, 10)) },
  { column: { data_type: 'time' }, values: instant.map((at) => at.slice(11, 23)) },
  { column: { data_type: 'datetime' }, values: instant },
  { column: { data_type: 'timestamptz' }, values: instant },
  { column: { data_type: 'uuid' }, values: fc.uuid() },
  { column: { data_type: 'json' }, values: json },
];
const columns: Column[] = [
  { name: 'n', data_type: 'integer', is_primary_key: true },
  ...kinds.map(({ column }, place) => ({ name: `c${place}_${column.data_type}`, ...column })),
];
const record = fc
  .tuple(...kinds.map(({ values }) => fc.option(values, { freq: 6 })))
  .map((cells) => Object.fromEntries(cells.map((cell, place) => [columns[place + 1]?.name, cell])));

const formats: How[] = [
  ...['csv', 'tsv', 'ndjson', 'json', 'xlsx', 'parquet'].map((format, n) => ({ format, gzip: n % 2 === 0 })),
  { format: 'csv', safe_cells: true },
  { format: 'json', exact_numbers: true },
];

let api: Api;

beforeAll(async () => {
  api = await (await givenAccount({ plan: 'enterprise' })).person();
});

type Row = Record<string, unknown>;

async function rowsOf(table: DeployedTable): Promise<Row[]> {
  const { data } = await api.get<{ data: Row[] }>(`/table_data?table_definition_id=${table.id}&sort=n&per_page=1000`);
  return data.map((row) => Object.fromEntries(columns.map(({ name }) => [name, row[name]])));
}

type How = { format: string; gzip?: boolean; safe_cells?: boolean; exact_numbers?: boolean };

async function exported(table: DeployedTable, how: How): Promise<Uint8Array> {
  const { done, file } = await exportFile(api, table, { pattern: 'full', ...how });
  expect(done).toMatchObject({ rows_exported: rowCount, error: null });
  return file;
}

async function imported(table: DeployedTable, file: Uint8Array, { safe_cells = false }: How) {
  const wish = { pattern: 'full', allow_mass_delete: true, safe_cells };
  const { status, errors, rejections, metrics } = await importFile(api, table, wish, file);
  expect([status, errors, rejections]).toEqual(['completed', [], []]);
  return metrics;
}

async function expectSame(rows: Row[]): Promise<void> {
  const [source, twin] = [await givenDeployedTable(api, { columns }), await givenDeployedTable(api, { columns })];
  const operations = rows.map((cells, n) => ({ operation: 'create', record: { n, ...cells } }));
  await api.post('/table_data/batch', { table_definition_id: source.id, operations });
  const there = await rowsOf(source);
  expect(there).toHaveLength(rowCount);
  for (const how of formats) {
    const file = await exported(source, how);
    // Another table gets the same values. The table itself reports them as unchanged, which also
    // shows differences that the API would not show.
    await imported(twin, file, how);
    expect({ how, rows: await rowsOf(twin) }).toEqual({ how, rows: there });
    expect({ how, metrics: await imported(source, file, how) }).toMatchObject({
      how,
      metrics: { unchanged: rowCount, inserted: 0, updated: 0, deleted: 0, rejected: 0 },
    });
  }
}

it('what was exported is imported as what it was, in every format', async () => {
  console.log(`ROUND_TRIP_SEED=${seed}`);
  const rows = fc.array(record, { minLength: rowCount, maxLength: rowCount });
  // Not shrunk: the seed repeats it, and each try takes a system.
  for (const sample of fc.sample(rows, { seed, numRuns: runs })) await expectSame(sample);
}, 1_200_000);
