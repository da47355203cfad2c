// Views for SQL clients, as the service's own role makes them, which is no superuser, and as the
// reader sees them.
import { randomBytes } from 'node:crypto';
import { eventually } from '@almanac/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { sweep } from '../../src/maintenance/housekeeping.ts';
import { load } from '../files.ts';
import { type ColumnInput, caller, create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { patch, remove } from '../versions.ts';

const suffix = randomBytes(4).toString('hex');
const [owner, reader, latecomer] = ['owner', 'reader', 'latecomer'].map((name) => `views_${name}_${suffix}`) as [
  string,
  string,
  string,
];
const password = 'of no secret';

let main: TestDatabase;
let north: TestDatabase;
let admin: pg.Client;
let net: DataNet;
let people: pg.Client;

beforeAll(async () => {
  [main, north] = await Promise.all([createTestDatabase('views'), createTestDatabase('views_north')]);
  admin = new pg.Client({ connectionString: main.url });
  await admin.connect();
  for (const role of [owner, reader]) await admin.query(`create role ${role} login password '${password}'`);
  for (const { url } of [main, north])
    await admin.query(`alter database "${new URL(url).pathname.slice(1)}" owner to ${owner}`);
  net = await givenViews({ DATA_SQL_READER: reader });
  people = await connect(main, reader);
});

afterAll(async () => {
  await people.end();
  await net.stop();
  await north.drop();
  const cluster = new pg.Client({ connectionString: main.url.replace(/[^/]*$/, 'postgres') });
  await admin.end();
  await main.drop();
  await cluster.connect();
  for (const role of [owner, reader, latecomer]) await cluster.query(`drop role if exists ${role}`);
  await cluster.end();
});

const as = (database: TestDatabase, role: string) =>
  Object.assign(new URL(database.url), { username: role, password }).href;

const givenViews = (env: Record<string, string>) =>
  givenData({
    database: { ...main, url: as(main, owner) },
    env: { DATA_DATABASE_URLS: `north=${as(north, owner)}`, ...env },
  });

async function connect(database: TestDatabase, role: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: as(database, role) });
  await client.connect();
  return client;
}

let lastId = 0;

/** A table on a branch of its own, deployed. */
async function givenTable(table: Partial<TableInput> = {}, accountId = 1) {
  lastId += 1;
  const id = lastId;
  const whole = { id, branch_id: id, key: 'things', columns: [code, { name: 'Size' }], ...table };
  await deploy(net, [whole], { accountId });
  return {
    ...whole,
    redeploy: (columns: ColumnInput[]) => deploy(net, [{ ...whole, version: 2, columns }], { accountId }),
  };
}

const code: ColumnInput = { name: 'code', is_primary_key: true };
const rowsOf = async (view: string, client = people) => (await client.query(`select * from ${view}`)).rows;
const refused = (text: string, client = people) =>
  client.query(text).then(
    () => 'done',
    (error: { code: string }) => error.code,
  );
const viewsOf = async (branch: number, client: pg.Client = admin) =>
  (
    await client.query('select viewname from pg_views where schemaname = $1 order by viewname', [`v_${branch}`])
  ).rows.map(({ viewname }) => viewname);

describe('a view', () => {
  it('shows the live rows with the columns of their records, and nothing else can be read', async () => {
    const { id } = await givenTable({
      key: 'countries',
      name: 'Countries',
      description: "The world's",
      columns: [
        code,
        { name: 'Area_km2', data_type: 'decimal', length: 12, scale: 2, description: 'With "lakes"; and \\' },
        { name: 'member_since', data_type: 'date' },
      ],
    });
    const deleted = await create(net, id, { code: 'XX' });
    const { svc_is_deleted: _, ...record } = await create(net, id, {
      code: 'FR',
      Area_km2: '643801.00',
      member_since: '1958-01-01',
    });
    await remove(net.call, id, [deleted.svc_sk]);
    const [row] = await rowsOf(`v_${id}.countries`);
    expect(Object.keys(row)).toEqual(Object.keys(record));
    expect(row).toMatchObject({ code: 'FR', Area_km2: '643801.00', svc_version: 1 });
    expect(String(row.svc_sk)).toBe(String(record.svc_sk));
    expect(await rowsOf(`v_${id}.countries`)).toHaveLength(1);
    const { rows } = await people.query(
      `select obj_description(c.oid) as of_view, col_description(c.oid, attnum) as of_column
       from pg_attribute join pg_class c on c.oid = attrelid where c.oid = 'v_${id}.countries'::regclass and attname = 'Area_km2'`,
    );
    expect(rows).toEqual([{ of_view: "Countries: The world's", of_column: 'With "lakes"; and \\' }]);
    for (const text of [
      `delete from v_${id}.countries`,
      `update v_${id}.countries set code = 'DE'`,
      `select * from b_${id}.t_${id}`,
      'select * from deployed_table',
      `create view v_${id}.mine as select 1`,
    ])
      expect(await refused(text)).toBe('42501');
  });

  it.each<[string, (id: number) => ColumnInput[], string[]]>([
    ['a column gets another name', () => [code, { name: 'Width' }], ['code', 'Width']],
    ['a column gets another type', () => [code, { name: 'Size', data_type: 'integer' }], ['code', 'Size']],
    ['a column goes', () => [code], ['code']],
    [
      'a column is added',
      (id) => [code, { name: 'a', lineage_id: id * 1000 + 77 }, { name: 'Size', lineage_id: id * 1000 + 2 }],
      ['code', 'a', 'Size'],
    ],
    [
      'the columns change places',
      (id) => [
        { name: 'Size', lineage_id: id * 1000 + 2 },
        { ...code, lineage_id: id * 1000 + 1 },
      ],
      ['Size', 'code'],
    ],
  ])('is as the table is when %s', async (_, columns, names) => {
    const table = await givenTable();
    await create(net, table.id, { code: 'A', Size: '7' });
    await table.redeploy(columns(table.id));
    const rows = await rowsOf(`v_${table.id}.things`);
    expect(rows).toHaveLength(1);
    expect(Object.keys(rows[0]).filter((name) => !name.startsWith('svc_'))).toEqual(names);
  });

  it('stays while a large file rebuilds the table', async () => {
    const { id } = await givenTable();
    const lines = Array.from({ length: 2_500 }, (_, i) => `${i},x\n`).join('');
    expect(await load(net, id, lines, { file_columns: ['code', 'Size'] })).toMatchObject({ inserted: 2_500 });
    expect((await people.query(`select count(*)::int as n from v_${id}.things`)).rows).toEqual([{ n: 2_500 }]);
  });

  it('is dropped and made with its table, and its schema is dropped with the branch', async () => {
    const { id } = await givenTable();
    const row = await create(net, id, { code: 'A' });
    await net.metadata.DropTable(caller, { table_definition_id: id });
    expect(await viewsOf(id)).toEqual([]);
    await net.metadata.RestoreTable(caller, { table_definition_id: id });
    await patch(net.call, id, row.svc_sk, { Size: 'XL' });
    expect(await rowsOf(`v_${id}.things`)).toMatchObject([{ code: 'A', Size: 'XL' }]);
    await net.metadata.DropBranch(caller, { branch_id: id });
    expect((await admin.query('select 1 from pg_namespace where nspname = $1', [`v_${id}`])).rows).toEqual([]);
  });

  it('replaces one that an earlier release has left under its name', async () => {
    const branch = lastId + 1;
    await admin.query(
      `set role ${owner}; create schema v_${branch}; create view v_${branch}.things as select 1; reset role`,
    );
    const { id } = await givenTable();
    expect(id).toBe(branch);
    await create(net, id, { code: 'A' });
    expect(await rowsOf(`v_${branch}.things`)).toMatchObject([{ code: 'A' }]);
  });

  it('has the name of its table, whatever that is and however long', async () => {
    lastId += 10;
    const [branch, long] = [lastId, 'é'.repeat(200)];
    const tables = ['with "quotes"; --', 'select', long, `${long}1`, 'x'.repeat(63)].map((key, i) => ({
      id: branch + i,
      branch_id: branch,
      key,
      columns: [code],
    }));
    lastId += tables.length;
    await deploy(net, tables);
    const end = (i: number) => `~${branch + i}`;
    const begin = 'é'.repeat(Math.floor((63 - end(2).length) / 2));
    expect((await viewsOf(branch)).toSorted()).toEqual(
      ['with "quotes"; --', 'select', `${begin}${end(2)}`, `${begin}${end(3)}`, 'x'.repeat(63)].toSorted(),
    );
    expect(await rowsOf(`v_${branch}."with ""quotes""; --"`)).toEqual([]);
  });
});

describe('a reader', () => {
  it('makes a deployment wait', async () => {
    const table = await givenTable();
    await people.query(`begin; select * from v_${table.id}.things`);
    const deploying = table.redeploy([code, { name: 'Size', data_type: 'integer' }]);
    await eventually(async () => {
      const { rows } = await admin.query(
        `select 1 from pg_locks where relation = 'v_${table.id}.things'::regclass and not granted`,
      );
      expect(rows).toHaveLength(1);
    });
    await people.query('commit');
    await deploying;
    expect(await rowsOf(`v_${table.id}.things`)).toEqual([]);
  });

  it('does not block a deployment of another table, to which the table they read refers', async () => {
    const target = await givenTable({ key: 'targets' });
    const own = { name: 'own', foreign_key_table_id: target.id };
    const table = await givenTable({ branch_id: target.id, columns: [code, own] });
    const view = `v_${target.id}.things`;
    await people.query(`begin; select * from ${view}`);
    await target.redeploy([{ ...code, name: 'key', lineage_id: target.id * 1000 + 1 }]);
    expect(await rowsOf(view)).toEqual([]);
    await people.query('commit');
    await create(net, target.id, { key: 'A' });
    await create(net, table.id, { code: 'B', own: 'A' });
    expect(await rowsOf(view)).toMatchObject([{ code: 'B', own: 'A' }]);
  });

  it('does not keep a table from changing by views built on its view', async () => {
    const table = await givenTable();
    await people.query(`create temporary view mine as select "Size" from v_${table.id}.things`);
    await table.redeploy([code]);
    expect(await refused('select * from mine')).toBe('42P01');
    expect(await rowsOf(`v_${table.id}.things`)).toEqual([]);
  });

  it('sees the tables of an account where it has moved to', async () => {
    const { id } = await givenTable({}, 7);
    await create(net, id, { code: 'A' }, net.as({ accountId: 7 }));
    const place = async (cluster: string) => {
      for await (const _ of net.operator.PlaceAccount({ ...caller, accountId: 7 }, { cluster }));
    };
    const far = await connect(north, reader);
    await place('north');
    expect(await rowsOf(`v_${id}.things`, far)).toMatchObject([{ code: 'A' }]);
    expect((await admin.query('select 1 from pg_namespace where nspname = $1', [`v_${id}`])).rows).toEqual([]);
    await place('main');
    expect(await rowsOf(`v_${id}.things`)).toMatchObject([{ code: 'A' }]);
    await far.end();
  });
});

it('many files at once fill the first tables with views of a branch', async () => {
  lastId += 1;
  const branch = lastId;
  const tables = Array.from({ length: 5 }, (_, i) => ({
    id: branch + i,
    branch_id: branch,
    key: `t${i}`,
    columns: [code],
  }));
  lastId += tables.length;
  await deploy(net, tables);
  await admin.query(`drop schema v_${branch} cascade`); // as if they were from before there were views
  const lines = Array.from({ length: 2_000 }, (_, i) => `${i}\n`).join('');
  await Promise.all([...tables.map(({ id }) => load(net, id, lines, { file_columns: ['code'] })), sweep(net.context)]);
  await sweep(net.context);
  for (const { key } of tables) expect(await rowsOf(`v_${branch}.${key}`)).toHaveLength(2_000);
});

describe('housekeeping', () => {
  let other: DataNet | undefined;
  const restart = async (env: Record<string, string>) => {
    await other?.stop();
    other = await givenViews({ ...env });
    return other;
  };
  afterAll(() => other?.stop());

  it('drops the views without the setting, makes missing ones, and grants them once the role exists', async () => {
    const { id } = await givenTable();
    const without = await restart({});
    await eventually(async () => expect(await viewsOf(id)).toEqual([]));
    await deploy(without, [{ id, branch_id: id, key: 'things', version: 2, columns: [code] }]);
    expect(await viewsOf(id)).toEqual([]);

    const early = await restart({ DATA_SQL_READER: latecomer });
    await eventually(async () => expect(await viewsOf(id)).toEqual(['things']));
    await deploy(early, [{ id, branch_id: id, key: 'things', version: 30, columns: [code, { name: 'x' }] }]);
    await admin.query(`create role ${latecomer} login password '${password}'`);
    const late = await connect(main, latecomer);
    expect(await refused(`select x from v_${id}.things`, late)).toBe('42501');
    await sweep(early.context);
    expect(await rowsOf(`v_${id}.things`, late)).toEqual([]);
    await late.end();
    await admin.query(`drop owned by ${latecomer}`);
  });

  it('blocks no deployment and no load while the setting reaches one instance after the other', async () => {
    const without = await restart({});
    const table = await givenTable();
    const lines = Array.from({ length: 2_000 }, (_, i) => `${i}\n`).join('');
    for (let round = 0; round < 20; round += 1) {
      const { id } = await givenTable();
      const loading = load(net, id, lines, { file_columns: ['code'] });
      await Promise.all([table.redeploy(table.columns), loading, sweep(without.context)]);
    }
    await sweep(net.context);
    expect(await rowsOf(`v_${table.id}.things`)).toEqual([]);
  });
});
