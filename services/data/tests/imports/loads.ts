// Fixtures of the tests of loads: a data service, tables to load into, and their rows afterwards.
import { eventually } from '@almanac/testkit/eventually';
import { sweepStaging } from '../../src/imports/staging/staging.ts';
import { load } from '../files.ts';
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';

export let net: DataNet;
let last = 0;

/** An id for a table that nothing here has used. */
export function nextId(): number {
  last += 10;
  return last;
}

/**
 * A data service for all tests of the file; at the end no staged file is left. `callersGo`: files
 * of callers that disconnected may be left to housekeeping.
 */
export function overLoads({ callersGo = false } = {}): void {
  beforeAll(async () => {
    net = await givenData();
  });

  afterAll(async () => {
    const staged = "select relname from pg_class where relnamespace = 'staging'::regnamespace and relkind = 'r'";
    await eventually(async () => {
      if (callersGo) await sweepStaging(net.context.pools.quiet);
      expect(await net.query(staged)).toEqual([]);
    });
    await net.stop();
  });
}

/** A table `code, name, size` with a key, and one it refers to that has `A`, `B`, `C`. */
export async function givenTable(
  extra: TableInput['columns'] = [],
): Promise<{ table: number; groups: number; definition: TableInput }> {
  const groups = nextId();
  const table = groups + 1;
  const definition: TableInput = {
    id: table,
    columns: [
      { name: 'code', length: 10, is_primary_key: true },
      { name: 'name', length: 20, is_required: true },
      { name: 'size', data_type: 'integer' },
      { name: 'grp', length: 5, foreign_key_table_id: groups },
      ...extra,
    ],
  };
  await deploy(net, [{ id: groups, columns: [{ name: 'id', length: 5, is_primary_key: true }] }, definition]);
  for (const id of ['A', 'B', 'C']) await create(net, groups, { id });
  return { table, groups, definition };
}

export const file_columns = ['code', 'name', 'size', 'grp'];
export const list = async (table: number) =>
  (await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=code&per_page=1000`)).body.data;
export const shown = async (table: number) =>
  (await list(table)).map((row: Record<string, unknown>) => [row.code, row.name, row.size, row.grp].join('|'));

/** A table whose rows have a `boss` in it, filled with the rows of a CSV. */
export async function givenStaff(rows = '', is_hierarchy = false): Promise<number> {
  const table = nextId();
  const columns = [
    { name: 'id', length: 8, is_primary_key: true },
    { name: 'boss', length: 8, foreign_key_table_id: table, is_hierarchy },
    { name: 'deputy', length: 8 },
  ];
  await deploy(net, [{ id: table, columns }]);
  if (rows !== '')
    expect(await load(net, table, rows, { file_columns: ['id', 'boss'] })).toMatchObject({
      errors: [],
      rejections: [],
    });
  return table;
}

/** Its rows by `id`, each as `id>boss`. */
export const staff = async (table: number): Promise<string[]> =>
  (await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=id&per_page=1000`)).body.data.map(
    (row: Record<string, unknown>) => `${row.id}>${row.boss ?? ''}`,
  );
