// The example of the client that keeps tables in SQLite: its copies have what the tables have,
// whatever changes, and after any interruption.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { Api } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import {
  type Account,
  type Column,
  type DeployedTable,
  deployTable,
  givenAccount,
  givenDeployedTable,
  importFile,
} from '@almanac/testkit/system/builders';

const program = resolve(import.meta.dirname, '../../../packages/client/examples/keep-a-copy.ts');

let account: Account;
let api: Api;
let tables: DeployedTable[];
let folder: string;
let running: ChildProcess | undefined;

const code: Column = { name: 'code', data_type: 'string', length: 10, is_primary_key: true };
const columns: Column[][] = [
  [code, { name: 'name', data_type: 'string', length: 50 }],
  [code, { name: 'amount', data_type: 'decimal', length: 28, scale: 10 }, { name: 'used', data_type: 'boolean' }],
  [code, { name: 'part', data_type: 'bigint', is_primary_key: true }, { name: 'since', data_type: 'timestamptz' }],
];

beforeAll(async () => {
  account = await givenAccount({ plan: 'enterprise' });
  api = await account.person();
  tables = [];
  for (const each of columns) tables.push(await givenDeployedTable(api, { columns: each }));
  folder = mkdtempSync(join(tmpdir(), 'almanac-copy-'));
});

afterEach(() => {
  running?.kill('SIGKILL');
  running = undefined;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, 'copy.sqlite');
const words = () => [program, file(), ...tables.map(({ key }) => key)];
const env = () => ({
  PATH: process.env.PATH,
  ALMANAC_BASE_URL: account.baseUrl,
  ALMANAC_CLIENT_ID: account.application.client_id,
  ALMANAC_CLIENT_SECRET: account.application.client_secret,
});
const bringUpToDate = () => promisify(execFile)(process.execPath, [...words(), '--once'], { env: env() });

type Row = Record<string, unknown> & { svc_sk: number };

async function rowsOf({ id }: DeployedTable): Promise<Row[]> {
  return (await api.get<{ data: Row[] }>(`/table_data?table_definition_id=${id}&per_page=1000&exact_numbers=true`))
    .data;
}

const sorted = (rows: Record<string, unknown>[]) => rows.map((row) => JSON.stringify(row)).toSorted();

async function contentOf(table: DeployedTable): Promise<string[]> {
  const shown = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value);
  const own = (row: Row) => Object.entries(row).filter(([name]) => name === 'svc_sk' || !name.startsWith('svc_'));
  return sorted((await rowsOf(table)).map((row) => Object.fromEntries(own(row).map(([n, v]) => [n, shown(v)]))));
}

function copyOf({ key }: DeployedTable): string[] {
  const database = new DatabaseSync(file(), { readOnly: true });
  try {
    return sorted(database.prepare(`select * from "${key}"`).all());
  } finally {
    database.close();
  }
}

async function expectEqual(): Promise<void> {
  for (const table of tables) expect(copyOf(table)).toEqual(await contentOf(table));
}

const first = () => tables[0] as DeployedTable;
const second = () => tables[1] as DeployedTable;
const third = () => tables[2] as DeployedTable;
const add = (table: DeployedTable, record: object) =>
  api.post<{ record: Row }>('/table_data', { table_definition_id: table.id, record });
const idOf = async (table: DeployedTable, wanted: string) =>
  (await rowsOf(table)).find((row) => row.code === wanted)?.svc_sk;
const change = async (table: DeployedTable, wanted: string, record: object) =>
  api.patch(`/table_data/${await idOf(table, wanted)}`, { table_definition_id: table.id, record });
const remove = async (table: DeployedTable, wanted: string) =>
  api.post('/table_data/delete_records', { table_definition_id: table.id, ids: [await idOf(table, wanted)] });

it('copies three tables, and follows what changes in them', async () => {
  for (const each of ['A', 'B', 'C']) {
    await add(first(), { code: each, name: `"${each}", é` });
    await add(second(), { code: each, amount: '123456789012345678.0123456789', used: each === 'A' });
    await add(third(), { code: each, part: '9007199254740993', since: '2026-01-31T12:00:00.5+02:00' });
  }
  await bringUpToDate();
  await expectEqual();
  expect(copyOf(second())).toHaveLength(3);

  await change(first(), 'A', { code: 'X' });
  await change(first(), 'B', { code: 'A' });
  await change(first(), 'X', { code: 'B', name: 'swapped' });
  await remove(first(), 'C');
  await add(first(), { code: 'C', name: 'again' });
  await change(second(), 'B', { amount: '0.5', used: null });
  await remove(third(), 'A');
  await importFile(
    api,
    third(),
    { pattern: 'incremental' },
    'code,part,since\nZ,1,2026-02-01T00:00:00Z\nB,9007199254740993,\n',
  );
  await eventually(
    async () => {
      await bringUpToDate();
      await expectEqual();
    },
    { everyMs: 500 },
  );
});

it('goes on where it was killed, and begins again when a table has another column', async () => {
  running = spawn(process.execPath, words(), { env: env(), stdio: 'inherit' });
  await add(first(), { code: 'R', name: 'while it runs' });
  await eventually(expectEqual, { everyMs: 500 });
  running.kill('SIGKILL');
  await change(first(), 'R', { name: 'while it is away' });
  await api.post('/column_definitions', {
    table_definition_id: second().id,
    column_definition: { name: 'note', data_type: 'string', length: 20 },
  });
  await deployTable(api, second());
  await change(second(), 'C', { note: 'new' });
  running = spawn(process.execPath, words(), { env: env(), stdio: 'inherit' });
  await eventually(expectEqual, { everyMs: 500 });
  expect(copyOf(second()).some((row) => row.includes('"note":"new"'))).toBe(true);
  await api.post('/column_definitions', {
    table_definition_id: third().id,
    column_definition: { name: 'note', data_type: 'string', length: 20 },
  });
  await deployTable(api, third());
  await change(third(), 'C', { note: 'while it runs' });
  await eventually(expectEqual, { everyMs: 500 });
});
