// ListTableStatistics: how many rows tables have, their last change and their last import.
import { eventually } from '@almanac/testkit/eventually';
import { sweep } from '../../src/maintenance/housekeeping.ts';
import { load } from '../files.ts';
import { caller, create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { patch, remove } from '../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});
afterAll(() => net.stop());

const columns = [{ name: 'code', length: 20, is_primary_key: true }, { name: 'title' }];

async function givenTable(more: Partial<TableInput> = {}): Promise<number> {
  last += 1;
  await deploy(net, [{ id: last, columns, ...more }]);
  return last;
}

const statistics = async (ids: number[], as = caller) =>
  (await net.metadata.ListTableStatistics(as, { table_definition_ids: ids })).tables;
const one = async (id: number) => (await statistics([id]))[0];

it('are those of the rows that are there, and of who changed them last', async () => {
  const table = await givenTable();
  expect(await one(table)).toMatchObject({ table_definition_id: table, row_count: 0, last_changed_at: '' });
  expect((await one(table))?.last_import).toBeNull();
  await create(net, table, { code: 'A' });
  const changed = await create(net, table, { code: 'B' }, net.as({ applicationId: 4 }));
  expect(await one(table)).toMatchObject({
    row_count: 2,
    last_changed_at: changed.svc_updated_at,
    last_changed_by_application: 4,
  });
  net.rights.set(7, {
    license_type: 'developer',
    permissions: [{ action: 'edit', resource_type: 'account', resource_id: 1 }] as never,
  });
  await remove(net.as({ userId: 7 }), table, [changed.svc_sk]);
  const after = await one(table);
  expect(after).toMatchObject({ row_count: 1, last_changed_by_user: 7 });
  expect(after?.last_changed_at.localeCompare(changed.svc_updated_at)).toBe(1);
  expect(after).not.toHaveProperty('last_changed_by_application');
});

it('are of tables whose rows the caller may view, in their own account', async () => {
  const open = await givenTable({ domain_id: 11 });
  const closed = await givenTable({ domain_id: 12 });
  net.rights.set(8, {
    license_type: 'developer',
    permissions: [
      { action: 'view', resource_type: 'domain', resource_id: 11 },
      { action: 'approve', resource_type: 'branch', resource_id: 1 },
    ] as never,
  });
  const idsSeen = async (as: typeof caller) =>
    (await statistics([open, closed, 999_999], as)).map(({ table_definition_id: id }) => id);
  expect(await idsSeen(caller)).toEqual([open, closed]);
  expect(await idsSeen({ ...caller, userId: 8 })).toEqual([open]);
  expect(await idsSeen({ ...caller, accountId: 2 })).toEqual([]);
});

it('follow a deployment of which another instance knows', async () => {
  const table = await givenTable();
  await create(net, table, { code: 'A' });
  const other = await givenData({ database: net.database, keys: net.keys });
  try {
    const ask = () => other.metadata.ListTableStatistics(caller, { table_definition_ids: [table] });
    expect((await ask()).tables).toMatchObject([{ row_count: 1 }]);
    await deploy(net, [{ id: table, version: 2, columns: columns.slice(0, 1) }]);
    expect((await ask()).tables).toMatchObject([{ row_count: 1 }]);
    await net.metadata.DropTable(caller, { table_definition_id: table });
    expect((await ask()).tables).toEqual([]);
  } finally {
    await other.stop();
  }
});

describe('the last import', () => {
  const file = { file_columns: ['code', 'title'] };

  it('is the latest that came as far as the rows', async () => {
    const table = await givenTable();
    await load(net, table, 'A,1\n', { ...file, import_id: 41 });
    expect((await one(table))?.last_import).toMatchObject({ id: 41, status: 'completed' });
    const failed = await load(net, table, 'B,1\nB,2\n', { ...file, import_id: 42 });
    expect(failed.status).toBe('failed');
    expect((await one(table))?.last_import).toMatchObject({ id: 42, status: 'failed' });
    await load(net, table, 'C,1\nC,2\nD,1\n', { ...file, import_id: 43, on_error: 'reject_rows' });
    const { last_import: latest } = (await one(table)) ?? {};
    expect(latest).toMatchObject({ id: 43, status: 'completed_with_errors' });
    expect(new Date(latest?.at as string).toISOString()).toBe(latest?.at);
  });

  it('is no dry run, and none of a release that does not name it', async () => {
    const table = await givenTable();
    await load(net, table, 'A,1\n', { ...file, import_id: 51, dry_run: true });
    await load(net, table, 'A,1\n', file);
    expect((await one(table))?.last_import).toBeNull();
  });

  it('is kept for thirty days', async () => {
    const table = await givenTable();
    await load(net, table, 'A,1\n', { ...file, import_id: 61 });
    await net.query(`update finished_load set finished_at = now() - interval '29 days' where import_id = 61`);
    await sweep(net.context);
    expect((await one(table))?.last_import).toMatchObject({ id: 61 });
    await net.query(`update finished_load set finished_at = now() - interval '31 days' where import_id = 61`);
    await sweep(net.context);
    expect((await one(table))?.last_import).toBeNull();
  });
});

describe('the rows of a large table', () => {
  let table: number;
  // A page that is requested again comes from a cache of its own, without a count.
  const page = (startRow: number) =>
    net.call('POST', '/api/v1/table_data/grid?exact_numbers=true', {
      table_definition_id: table,
      startRow,
      endRow: startRow + 1,
    });

  beforeAll(async () => {
    table = await givenTable();
    await net.query(
      `insert into b_1.t_${table} (svc_created_at, svc_updated_at, c_${table * 1000 + 1})
       select now() - interval '1 hour', now() - interval '1 hour', 'N-' || n from generate_series(1, 40000) n`,
    );
  });

  it('are not counted: neither before nor after PostgreSQL has statistics', async () => {
    const before = await one(table);
    expect(before).not.toHaveProperty('row_count');
    await net.query(`analyze b_1.t_${table}`);
    const { row_count_estimate: estimate, ...after } = (await one(table)) ?? {};
    expect(after).not.toHaveProperty('row_count');
    expect(Math.abs((estimate as number) - 40_000)).toBeLessThan(4_000);
  });

  it('are known exactly while a page of all rows has their count, whatever is written since', async () => {
    await net.query(`analyze b_1.t_${table}`);
    let startRow = 0;
    await eventually(async () => {
      startRow += 1;
      await page(startRow);
      expect(await one(table)).toMatchObject({ row_count: 40_000 });
    });
    await create(net, table, { code: 'new' });
    await patch(net.call, table, 1, { title: 'other' });
    await remove(net.call, table, [2, 3]);
    expect(await one(table)).toMatchObject({ row_count: 39_999 });
    expect(await one(table)).not.toHaveProperty('row_count_estimate');
  });
});

it('are one answer for more tables than a statement takes', async () => {
  const ids: number[] = [];
  for (let i = 0; i < 60; i += 1) ids.push(await givenTable());
  expect((await statistics(ids)).map(({ table_definition_id: id }) => id).toSorted((a, b) => a - b)).toEqual(ids);
});
