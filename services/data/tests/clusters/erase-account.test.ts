// The erasure of an account, on two clusters: no schema, row or file of it is left on either, and
// its neighbours stay as they were.
import { randomUUID } from 'node:crypto';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { eventually } from '@almanac/testkit/eventually';
import { collectMessages, startBus } from '@almanac/testkit/messaging/bus';
import type { TestDatabase } from '@almanac/testkit/postgres/postgres';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import pg from 'pg';
import { caller, create, type DataNet, deploy, givenData } from '../given.ts';
import { patch } from '../versions.ts';

type Report = { account_id: number; counts: Record<string, number> };

let home: TestDatabase;
let north: TestDatabase;
let net: DataNet;
let bus: Bus;
let reports: Report[];
let clients: pg.Client[];

beforeAll(async () => {
  [home, north] = await Promise.all([createServiceDatabase('data'), createServiceDatabase('data')]);
  net = await givenData({ database: home, env: { DATA_DATABASE_URLS: `north=${north.url}` } });
  bus = await startBus(home.url, 'listener');
  reports = await collectMessages<Report>(
    bus,
    'listener.erased',
    ['data.account.erased'],
    ({ payload }) => payload as Report,
  );
  clients = [home, north].map(({ url }) => new pg.Client({ connectionString: url }));
  for (const client of clients) await client.connect();
});
afterAll(async () => {
  for (const client of clients) await client.end();
  await bus.stop();
  await net.stop();
  await Promise.all([home.drop(), north.drop()]);
});

let lastAccount = 300;

/** An account with two tables, of which one is a hierarchy, history, a removed table and a load. */
async function givenAccount() {
  lastAccount += 1;
  const account = lastAccount;
  const [regions, codes, old] = [account * 10, account * 10 + 1, account * 10 + 2];
  const call = net.as({ accountId: account });
  const key = { name: 'code', length: 5, is_primary_key: true };
  await deploy(
    net,
    [
      {
        id: regions,
        branch_id: account,
        columns: [key, { name: 'parent', length: 5, foreign_key_table_id: regions, is_hierarchy: true }],
      },
      { id: codes, branch_id: account, columns: [key, { name: 'region', length: 5, foreign_key_table_id: regions }] },
      { id: old, branch_id: account, columns: [key] },
    ],
    { accountId: account },
  );
  await create(net, regions, { code: 'EU' }, call);
  await create(net, regions, { code: 'FR', parent: 'EU' }, call);
  const row = await create(net, codes, { code: 'X', region: 'EU' }, call);
  await patch(call, codes, row.svc_sk, { region: 'FR' });
  await create(net, old, { code: 'Y' }, call);
  await net.metadata.DropTable({ ...caller, accountId: account }, { table_definition_id: old });
  await call('POST', '/api/v1/table_data/grid', { table_definition_id: codes, startRow: 0, endRow: 10 });
  const request = { change_request_id: account, branch_id: account };
  await net.metadata.OpenChangeRequest({ ...caller, accountId: account }, request);
  await call('POST', `/api/v1/change_requests/${account}/operations`, {
    table_definition_id: codes,
    operations: [{ operation: 'create', record: { code: 'Z' } }],
  });
  return { account, regions, codes, call };
}

const request = (account: number) =>
  eventually(() =>
    bus.publish([
      {
        v: 1,
        id: randomUUID(),
        type: 'identity.account_erasure.requested',
        occurred_at: new Date().toISOString(),
        payload: { account_id: account },
      },
    ]),
  );
const reportOf = (account: number, count = 1) =>
  eventually(() => {
    const own = reports.filter(({ account_id }) => account_id === account);
    expect(own).toHaveLength(count);
    return own.at(-1) as Report;
  });

/** Everything of an account in both databases: rows by the catalogue's columns, and schemas. */
async function stateOf(account: number): Promise<Record<string, string>> {
  const state: Record<string, string> = {};
  for (const [at, client] of clients.entries()) {
    const { rows: tables } = await client.query(
      `select format('%I.%I', table_schema, table_name) as name, column_name as column from information_schema.columns
       where column_name in ('account_id', 'branch_id') and table_schema = 'public' and table_name <> 'account_erasure'
       union select format('%I.%I', schemaname, tablename), null from pg_tables where schemaname = $1`,
      [`b_${account}`],
    );
    for (const { name, column } of tables) {
      const { rows } = await client.query(
        `select count(*)::int as n, md5(string_agg(t::text, '|' order by t::text)) as hash from ${name} t ${column ? `where ${column} = $1` : 'where $1::int is not null'}`,
        [account],
      );
      // Its times move on whenever changes are announced.
      const hash = name.endsWith('.announced_rows') ? '' : rows[0].hash;
      if (rows[0].n > 0) state[`${at} ${name} ${column}`] = `${rows[0].n} ${hash}`;
    }
    const { rows: schemas } = await client.query(`select nspname from pg_namespace where nspname in ($1, $2)`, [
      `b_${account}`,
      `v_${account}`,
    ]);
    for (const { nspname } of schemas) state[`${at} schema ${nspname}`] = 'there';
    const indexes = await client.query('select 1 from grid_index where table_definition_id / 10 = $1', [account]);
    if (indexes.rows.length > 0) state[`${at} grid_index`] = 'there';
  }
  return state;
}

const countedReads = '0 public.table_reads account_id';

describe('the erasure of an account', () => {
  it('leaves no schema and no row of it, and its neighbour as it was', async () => {
    const [given, neighbour] = [await givenAccount(), await givenAccount()];
    // Announcements that still have to be made would change the neighbour during the test.
    await eventually(async () => expect(await net.query('select id from outbox')).toEqual([]));
    expect(Object.keys(await stateOf(given.account)).length).toBeGreaterThan(5);
    const { [countedReads]: _stored, ...before } = await stateOf(neighbour.account);
    await request(given.account);
    const { counts } = await reportOf(given.account);
    expect(counts).toMatchObject({
      tables: 3,
      rows: 4,
      'superseded versions': 1,
      deployed_table: 2,
      retired_table: 1,
      placement: 1,
    });
    expect(await stateOf(given.account)).toEqual({});
    // Its counted reads are stored a while after they were made.
    const { [countedReads]: _reads, ...after } = await stateOf(neighbour.account);
    expect(after).toEqual(before);
    const grid = (call: typeof given.call, id: number) =>
      call('POST', '/api/v1/table_data/grid', { table_definition_id: id, startRow: 0, endRow: 10 });
    expect((await grid(given.call, given.codes)).status).toBe(404);
    expect((await grid(neighbour.call, neighbour.codes)).body.rowCount).toBe(1);
  });

  it('finds the account on the cluster that it moved to, and what it left on others', async () => {
    const given = await givenAccount();
    for await (const _step of net.operator.PlaceAccount({ ...caller, accountId: given.account }, { cluster: 'north' }));
    expect(await stateOf(given.account)).toHaveProperty([`1 schema b_${given.account}`]);
    // As a move that left its schema behind because a reader was in it.
    await clients[0]?.query(`create schema b_${given.account}`);
    await clients[0]?.query(
      `update departed_account set schemas = array['b_${given.account}'] where account_id = ${given.account}`,
    );
    await request(given.account);
    expect((await reportOf(given.account)).counts).toMatchObject({ tables: 3, rows: 4 });
    expect(await stateOf(given.account)).toEqual({});
    const move = async () => {
      for await (const _step of net.operator.PlaceAccount(
        { ...caller, accountId: given.account },
        { cluster: 'north' },
      ));
    };
    await expect(move()).rejects.toMatchObject({ kind: 'wrong_state' });
  });

  it('waits for a long reader, and is reported with the same counts when it is repeated', async () => {
    const given = await givenAccount();
    const reader = clients[0] as pg.Client;
    await reader.query('begin');
    await reader.query(`select from b_${given.account}.t_${given.codes}`);
    await request(given.account);
    await eventually(async () =>
      expect(await net.query('select 1 from account_erasure where account_id = $1', [given.account])).toHaveLength(1),
    );
    expect(reports.some(({ account_id }) => account_id === given.account)).toBe(false);
    await reader.query('commit');
    const first = await reportOf(given.account);
    await request(given.account);
    expect(await reportOf(given.account, 2)).toEqual(first);
  });

  it('drops the empty schema of a branch whose tables were removed long ago', async () => {
    lastAccount += 1;
    const account = lastAccount;
    await net.query(`create schema b_${account}`);
    const next = await givenAccount();
    await request(next.account);
    await reportOf(next.account);
    expect(await stateOf(account)).toEqual({});
  });

  it('takes away what late work has written after it', async () => {
    const given = await givenAccount();
    await request(given.account);
    await reportOf(given.account);
    await deploy(
      net,
      [{ id: given.codes, branch_id: given.account, columns: [{ name: 'code', length: 5, is_primary_key: true }] }],
      {
        accountId: given.account,
      },
    );
    await create(net, given.codes, { code: 'A' }, given.call);
    expect(Object.keys(await stateOf(given.account)).length).toBeGreaterThan(0);
    await request(given.account);
    await reportOf(given.account, 2);
    expect(await stateOf(given.account)).toEqual({});
  });
});
