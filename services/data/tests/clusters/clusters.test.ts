// Accounts on several PostgreSQL clusters: two databases stand for them, and a second instance of
// the service has no knowledge of the first.
import { eventually } from '@almanac/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import type { Cluster } from '../../src/cluster.ts';
import { lockMove } from '../../src/clusters/move-account.ts';
import { load, read } from '../files.ts';
import { caller, create, type DataNet, deploy, failureOf, givenData, type TableInput } from '../given.ts';
import { passed, patch, rowsAsOf, versionsOf } from '../versions.ts';

let main: TestDatabase;
let north: TestDatabase;
let first: DataNet;
let second: DataNet;
let far: pg.Client;

beforeAll(async () => {
  [main, north] = await Promise.all([createTestDatabase('main'), createTestDatabase('north')]);
  const env = { DATA_DATABASE_URLS: `north=${north.url}` };
  first = await givenData({ database: main, env });
  second = await givenData({ database: main, env, keys: first.keys });
  far = new pg.Client({ connectionString: north.url });
  await far.connect();
});

afterAll(async () => {
  await far.end();
  await second.stop();
  await first.stop();
  await Promise.all([main.drop(), north.drop()]);
});

let lastAccount = 100;

/** An account with two tables, one of which refers to the other, on a branch of its own. */
async function givenAccount(net = first) {
  lastAccount += 1;
  const account = lastAccount;
  const regions = account * 10;
  const countries = regions + 1;
  const tables: TableInput[] = [
    { id: regions, branch_id: account, columns: [{ name: 'code', length: 5, is_primary_key: true }] },
    {
      id: countries,
      branch_id: account,
      columns: [
        { name: 'code', length: 2, is_primary_key: true },
        { name: 'name', length: 40, is_required: true },
        { name: 'region', length: 5, foreign_key_table_id: regions },
        { name: 'status', length: 5, valid_values: ['on', 'off'] },
        { name: 'area', data_type: 'decimal', length: 20, scale: 4 },
      ],
    },
  ];
  await deploy(net, tables, { accountId: account });
  const call = net.as({ accountId: account });
  await create(net, regions, { code: 'EU' }, call);
  const row = await create(
    net,
    countries,
    { code: 'FR', name: 'France', region: 'EU', status: 'on', area: '1.5' },
    call,
  );
  return { account, regions, countries, tables, row, call, elsewhere: second.as({ accountId: account }) };
}

type Given = Awaited<ReturnType<typeof givenAccount>>;

async function place(net: DataNet, account: number, cluster: string): Promise<string[]> {
  const said: string[] = [];
  for await (const { stage, rows } of net.operator.PlaceAccount({ ...caller, accountId: account }, { cluster }))
    said.push(`${stage} ${rows}`);
  return said;
}

const grid = (call: Given['call'], table: number) =>
  call('POST', '/api/v1/table_data/grid', { table_definition_id: table, startRow: 0, endRow: 100 });
const namesOn = async (call: Given['call'], table: number) =>
  (await grid(call, table)).body.rows.map((row: { name: string }) => row.name);
const schemasOn = async (client: Pick<pg.Client, 'query'>, account: number) =>
  (await client.query('select nspname from pg_namespace where nspname = $1', [`b_${account}`])).rows.length;

describe('an account', () => {
  it('moves with its rows, its rules and its numbers, and is found there by every instance', async () => {
    const given = await givenAccount();
    const before = await grid(given.call, given.countries);
    await grid(given.elsewhere, given.countries); // the second instance caches the old cluster
    const removed = { id: given.account * 10 + 2, branch_id: given.account, columns: [{ name: 'x' }] };
    await deploy(first, [removed], { accountId: given.account });
    await first.metadata.DropTable({ ...caller, accountId: given.account }, { table_definition_id: removed.id });

    const said = await place(first, given.account, 'north');
    expect(said.at(-1)).toBe('moved 0');
    expect(said.filter((text) => text.startsWith('copied'))).toContain('copied 1');

    for (const call of [given.call, given.elsewhere]) {
      expect(await grid(call, given.countries)).toMatchObject({ status: 200, body: before.body });
      const show = await call('GET', `/api/v1/table_data/${given.row.svc_sk}?table_definition_id=${given.countries}`);
      expect(show.body).toEqual(given.row);
    }
    const next = await create(first, given.countries, { code: 'DE', name: 'Germany', region: 'EU' }, given.elsewhere);
    expect(next.svc_sk).toBeGreaterThan(given.row.svc_sk);
    for (const record of [
      { code: 'FR', name: 'Twice' },
      { code: 'XX', name: 'Nowhere', region: 'ZZ' },
      { code: 'YY', name: 'Unlisted', status: 'odd' },
      { code: 'ZZ' },
    ])
      expect(
        (await given.call('POST', '/api/v1/table_data', { table_definition_id: given.countries, record })).status,
      ).toBe(422);

    expect(await schemasOn(far, given.account)).toBe(1);
    expect(await first.query('select 1 from deployed_table where account_id = $1', [given.account])).toEqual([]);
    expect(await first.query('select 1 from pg_namespace where nspname = $1', [`b_${given.account}`])).toEqual([]);
    const kept = await far.query('select id from retired_table where account_id = $1', [given.account]);
    expect(kept.rows).toHaveLength(1);
    expect(
      (await far.query('select to_regclass($1) as found', [`b_${given.account}.r_${kept.rows[0].id}`])).rows[0].found,
    ).not.toBeNull();
  });

  it('moves with its change requests, whose operations keep their numbers, and takes more of them', async () => {
    const given = await givenAccount();
    const account = { ...caller, accountId: given.account };
    const open = { change_request_id: given.account, branch_id: given.account };
    await first.metadata.OpenChangeRequest(account, open);
    const path = `/api/v1/change_requests/${given.account}/operations`;
    const propose = (record: Record<string, unknown>) =>
      given.call('POST', path, { table_definition_id: given.regions, operations: [{ operation: 'create', record }] });
    await propose({ code: 'AS' });
    await propose({ code: 'much too long' });
    const before = await given.elsewhere('GET', path);
    expect(before.body.rowCount).toBe(2);
    await place(first, given.account, 'north');
    for (const call of [given.elsewhere, given.call]) expect((await call('GET', path)).body).toEqual(before.body);
    const more = await propose({ code: 'AF' });
    expect(more.status).toBe(201);
    const ids = before.body.operations.map(({ id }: { id: number }) => id);
    expect(more.body.operations[0].id).toBeGreaterThan(Math.max(...ids));
    await place(first, given.account, 'main');
    expect((await propose({ code: 'OC' })).status).toBe(201);
    expect((await given.call('GET', path)).body.rowCount).toBe(4);
  });

  it('moves with the history of its rows, also of retired tables, and continues it', async () => {
    const given = await givenAccount();
    const { account, countries, call, row } = given;
    const as = { ...caller, accountId: account, requestId: 'import-of-before' };
    await passed(first, row.svc_updated_at);
    const changed = (await patch(call, countries, row.svc_sk, { name: 'Frankreich' })).body;
    await passed(first, changed.svc_updated_at);
    await load(first, countries, 'FR,Francia,EU\n', { file_columns: ['code', 'name', 'region'] }, as);
    const removed = { id: account * 10 + 2, branch_id: account, columns: [{ name: 'x' }] };
    await deploy(first, [removed], { accountId: account });
    const deleted = await create(first, removed.id, { x: 'a' }, call);
    await patch(call, removed.id, deleted.svc_sk, { x: 'b' });
    await first.metadata.DropTable(as, { table_definition_id: removed.id });
    const before = await versionsOf(call, countries, row.svc_sk);
    expect(before[0]).toMatchObject({ channel: 'import', request_id: 'import-of-before' });

    await place(first, account, 'north');
    expect(await versionsOf(given.elsewhere, countries, row.svc_sk)).toEqual(before);
    expect(await rowsAsOf(call, countries, changed.svc_updated_at)).toEqual([changed]);
    await patch(call, countries, row.svc_sk, { name: 'France' });
    expect((await versionsOf(call, countries, row.svc_sk)).map((version) => version.record.name)).toEqual([
      'France',
      'Francia',
      'Frankreich',
      'France',
    ]);
    const { rows } = await far.query('select id from retired_table where account_id = $1', [account]);
    expect((await far.query(`select count(*)::int as n from b_${account}.rh_${rows[0].id}`)).rows).toEqual([{ n: 1 }]);
  });

  it('is deployed to, loaded, read and dropped where it lives', async () => {
    const given = await givenAccount();
    await place(first, given.account, 'north');
    const [regions, countries] = given.tables as [TableInput, TableInput];
    const wider = { ...countries, columns: [...countries.columns, { name: 'note', data_type: 'text' }] };
    await deploy(second, [regions, wider], { accountId: given.account });
    const as = { ...caller, accountId: given.account };
    const loaded = await load(second, given.countries, 'IT,Italy\nES,Spain\n', { file_columns: ['code', 'name'] }, as);
    expect(loaded).toMatchObject({ inserted: 2 });
    expect((await read(first, given.countries, '', as)).rows).toBe(3);
    expect(await first.metadata.CountRows(as, { table_definition_ids: [given.countries] })).toEqual({
      counts: [{ table_definition_id: given.countries, rows: 3 }],
    });
    expect(await first.query('select 1 from pg_namespace where nspname = $1', [`b_${given.account}`])).toEqual([]);
    expect(await second.metadata.DropBranch(as, { branch_id: given.account })).toEqual({ dropped: 2 });
    expect(await schemasOn(far, given.account)).toBe(0);
  });

  it('moves back, any number of times', async () => {
    const given = await givenAccount();
    for (const cluster of ['north', 'main', 'north', 'main']) {
      await place(cluster === 'north' ? first : second, given.account, cluster);
      for (const call of [given.call, given.elsewhere]) {
        const name = `in ${cluster}`;
        const change = { table_definition_id: given.countries, record: { name } };
        expect((await call('PATCH', `/api/v1/table_data/${given.row.svc_sk}`, change)).status).toBe(200);
        expect(await namesOn(call, given.countries)).toEqual([name]);
      }
    }
    expect(await place(first, given.account, 'main')).toEqual(['there 0']);
  });

  it('loses no write that was acknowledged while it moved, and readers are never refused', async () => {
    const given = await givenAccount();
    const acknowledged = new Set<string>();
    const odd: number[] = [];
    let moving = true;
    let n = 0;
    const write = async (call: Given['call']) => {
      while (moving) {
        n += 1;
        const record = { code: n.toString(36) };
        const answer = await call('POST', '/api/v1/table_data', { table_definition_id: given.regions, record });
        if (answer.status === 201) acknowledged.add(record.code);
        else if (answer.status !== 503) odd.push(answer.status);
      }
    };
    const look = async (call: Given['call']) => {
      while (moving) {
        const { status, body } = await grid(call, given.countries);
        if (status !== 200 || body.rowCount !== 1) odd.push(status);
      }
    };
    const busy = [write(given.call), write(given.elsewhere), look(given.call), look(given.elsewhere)];
    for (const cluster of ['north', 'main', 'north']) {
      await place(first, given.account, cluster);
      const before = acknowledged.size;
      await eventually(() => expect(acknowledged.size).toBeGreaterThan(before + 5));
    }
    moving = false;
    await Promise.all(busy);
    expect(odd).toEqual([]);
    const found = new Set<string>();
    for (let page = 1; found.size < acknowledged.size && page < 50; page += 1) {
      const { body } = await given.call(
        'GET',
        `/api/v1/table_data?table_definition_id=${given.regions}&per_page=1000&page=${page}`,
      );
      for (const row of body.data) found.add(row.code);
      if (page >= body.meta.total_pages) break;
    }
    expect([...acknowledged].filter((code) => !found.has(code))).toEqual([]);
    expect(acknowledged.size).toBeGreaterThan(10);
  });

  it('completes a killed move at the next call, after it had left', async () => {
    const given = await givenAccount();
    await place(first, given.account, 'north');
    // The state after a process was killed between leaving and arriving: hidden on north, with a
    // departure on main.
    await far.query(
      `with tables as (delete from deployed_table where account_id = $1 returning *)
       insert into arriving_account (account_id, cluster, schemas, tables)
       select $1, 'main', '{}', jsonb_agg(to_jsonb(tables)) from tables`,
      [given.account],
    );
    await first.query(`update placement set cluster = 'main' where account_id = $1`, [given.account]);
    const fresh = await givenData({
      database: main,
      keys: first.keys,
      env: { DATA_DATABASE_URLS: `north=${north.url}` },
    });
    try {
      expect(await namesOn(fresh.as({ accountId: given.account }), given.countries)).toEqual(['France']);
      expect(await first.query('select cluster from placement where account_id = $1', [given.account])).toEqual([
        { cluster: 'north' },
      ]);
    } finally {
      await fresh.stop();
    }
  });

  it('stays where it was when a move is cut off, and the next one starts over', async () => {
    const given = await givenAccount();
    for await (const { stage } of first.operator.PlaceAccount(
      { ...caller, accountId: given.account },
      { cluster: 'north' },
    )) {
      expect(stage).toBe('copied');
      break;
    }
    expect(await namesOn(given.elsewhere, given.countries)).toEqual(['France']);
    // The first may still be rolling back.
    const said = await eventually(() => place(first, given.account, 'north'), {
      isFinal: (error) => (error as { kind?: string }).kind !== 'wrong_state',
    });
    expect(said.at(-1)).toBe('moved 0');
    expect(await namesOn(given.elsewhere, given.countries)).toEqual(['France']);
  });

  it('stays where it was, and keeps no connection, when the other cluster refuses connections', async () => {
    const given = await givenAccount();
    const { work } = first.context.pools;
    const name = new URL(north.url).pathname.slice(1);
    await first.query(`alter database ${name} with allow_connections false`);
    try {
      await first.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'almanac-data-work'",
        [name],
      );
      await expect(place(first, given.account, 'north')).rejects.toThrow();
      await eventually(() => expect(work.totalCount - work.idleCount).toBe(0));
    } finally {
      await first.query(`alter database ${name} with allow_connections true`);
    }
    expect((await place(first, given.account, 'north')).at(-1)).toBe('moved 0');
  });

  it('that can not be locked for a move keeps no connection', async () => {
    const { quiet } = first.context.pools;
    const noInteger = 2 ** 40;
    await expect(lockMove({ context: first.context } as Cluster, noInteger)).rejects.toThrow(/out of range/);
    await eventually(() => expect(quiet.totalCount - quiet.idleCount).toBe(0));
  });

  it('is hidden from other accounts on either cluster', async () => {
    const given = await givenAccount();
    await place(first, given.account, 'north');
    const otherAccount = first.as({ accountId: given.account + 500_000 });
    expect((await grid(otherAccount, given.countries)).status).toBe(404);
  });
});

describe('placing', () => {
  it('is refused for a cluster that is not known', async () => {
    const given = await givenAccount();
    expect(await failureOf(place(first, given.account, 'south'))).toEqual({
      kind: 'bad_request',
      errors: ['There is no cluster south; there are: main, north.'],
    });
  });

  it('puts accounts without tables on the configured cluster', async () => {
    const env = { DATA_DATABASE_URLS: `north=${north.url}`, DATA_NEW_ACCOUNTS_ON: 'north' };
    const net = await givenData({ database: main, keys: first.keys, env });
    try {
      const given = await givenAccount(net);
      expect(await schemasOn(far, given.account)).toBe(1);
      expect(await namesOn(given.elsewhere, given.countries)).toEqual(['France']);
    } finally {
      await net.stop();
    }
  });
});
