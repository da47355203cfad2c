// Deployments that are killed in the middle, or blocked by a slow reader: the tables and the
// catalogue agree, and are the old ones or the new ones. DEPLOYMENT_SEED repeats a run.

import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { caller, create, type DataNet, deploy, failureOf, givenData, type TableInput, wanted } from '../given.ts';
import { type DataProcess, startData } from '../process.ts';

const seed = Number(process.env.DEPLOYMENT_SEED ?? Date.now() % 1_000_000);
const gate = 4711;

const key = { name: 'code', length: 5, is_primary_key: true };
const before: TableInput[] = [
  { id: 10, columns: [key, { name: 'x' }, { name: 'n', data_type: 'string' }, { name: 'dropped' }] },
  { id: 20, columns: [key, { name: 'of', length: 5 }] },
];
const after: TableInput[] = [
  {
    id: 10,
    version: 2,
    columns: [
      { ...key, length: 9 },
      { name: 'y', is_required: true, valid_values: ['a', 'b'] },
      { name: 'n', data_type: 'integer' },
      { name: 'new', data_type: 'date', lineage_id: 10_099 },
    ],
  },
  { id: 20, version: 2, columns: [key, { name: 'of', length: 9, foreign_key_table_id: 10 }] },
  { id: 30, columns: [key] },
];

describe('data killed in the middle of a deployment', () => {
  let database: TestDatabase;
  let keys: TestKeys;
  let test: pg.Client;
  let holder: pg.Client;
  let data: DataProcess;
  beforeAll(async () => {
    [database, keys] = await Promise.all([createTestDatabase('data'), createTestKeys()]);
    [test, holder] = [
      new pg.Client({ connectionString: database.url }),
      new pg.Client({ connectionString: database.url }),
    ];
    await Promise.all([test.connect(), holder.connect()]);
    data = await startData(database.url, keys);
    await data.apply('first', before);
    const operations = ['a', 'b'].map((x, n) => ({
      operation: 'create',
      record: { code: x, x, n: String(n), dropped: 'g' },
    }));
    await data.call('POST', '/api/v1/table_data/batch', { table_definition_id: 10, operations });
    await data.call('POST', '/api/v1/table_data', { table_definition_id: 20, record: { code: '1', of: 'a' } });
    // Stops before the nth statement of the transaction; a sequence also counts when it is rolled
    // back.
    await test.query(`create sequence public.ddl; create sequence public.stop_at`);
    await test.query(
      `create function public.stop() returns event_trigger language plpgsql as $$begin
         if current_setting('application_name') = 'almanac-data-work' and nextval('public.ddl') = (select last_value from public.stop_at)
         then perform pg_advisory_xact_lock(${gate}); end if; end$$`,
    );
    await test.query('create event trigger stop on ddl_command_end execute function public.stop()');
  });

  afterAll(async () => {
    await data.end();
    await Promise.all([test.end(), holder.end()]);
    await database.drop();
  });

  /** Everything that deployments change. */
  const state = async () => {
    const { rows } = await test.query(
      `select (select jsonb_agg(to_jsonb(d) - 'deployed_at' order by table_definition_id) from deployed_table d) as catalogue,
         (select jsonb_agg(deployment_id order by deployment_id) from applied_deployment) as applied,
         (select jsonb_agg(to_jsonb(c) order by table_name, column_name) from information_schema.columns c where table_schema = 'b_1') as columns,
         (select jsonb_agg(conname || pg_get_constraintdef(oid) order by conname) from pg_constraint where connamespace = 'b_1'::regnamespace) as constraints,
         (select jsonb_agg(indexdef order by indexdef) from pg_indexes where schemaname = 'b_1') as indexes,
         (select jsonb_agg(proname || prosrc order by proname) from pg_proc where pronamespace = 'b_1'::regnamespace) as functions,
         (select count(*)::int from retired_column) as retired`,
    );
    return rows[0];
  };
  const rowsOf = async (table: number) => {
    const { status, body } = await data.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=svc_sk`);
    return status === 200
      ? body.data.map((row: object) => Object.fromEntries(Object.entries(row).filter(([name]) => !/^svc_/.test(name))))
      : status;
  };
  const inWork = async () =>
    (
      await test.query(
        "select wait_event_type as waits from pg_stat_activity where datname = current_database() and application_name = 'almanac-data-work' and state <> 'idle'",
      )
    ).rows;
  const stopAt = (n: number) => test.query(`select setval('public.stop_at', ${n}), setval('public.ddl', 1, false)`);

  /**
   * Kills data when its deployment waits for a lock that `hold` holds, expects that nothing has
   * changed, and starts data again.
   */
  const expectUndone = async (old: unknown, hold: string, release: string): Promise<void> => {
    await holder.query(hold);
    const applied = data.apply('second', after).catch(() => undefined);
    await eventually(async () => expect(await inWork()).toEqual([{ waits: 'Lock' }]));
    await data.end('SIGKILL');
    await applied;
    await holder.query(release);
    await eventually(async () => expect(await inWork()).toEqual([]));
    expect(await state()).toEqual(old);
    data = await startData(database.url, keys);
    expect(await rowsOf(10)).toMatchObject([
      { code: 'a', dropped: 'g' },
      { code: 'b', dropped: 'g' },
    ]);
    expect(await rowsOf(30)).toBe(404);
  };

  it('leaves it undone, whichever statement it was killed at; repeating the request applies it', async () => {
    const old = await state();
    // At the insert of the applied deployment, after everything else.
    await stopAt(1_000_000);
    await expectUndone(old, 'begin; lock table applied_deployment in exclusive mode', 'rollback');
    const { rows } = await test.query('select last_value::int as total from public.ddl');
    const { total } = rows[0];
    expect(total).toBeGreaterThan(15);
    console.log(`DEPLOYMENT_SEED=${seed}`);
    for (const place of new Set([1, 2 + (seed % (total - 2)), 2 + ((seed * 7 + 3) % (total - 2)), total])) {
      await stopAt(place);
      await expectUndone(old, `select pg_advisory_lock(${gate})`, `select pg_advisory_unlock(${gate})`);
    }
    await stopAt(1_000_000);
    await data.apply('second', after);
    expect(await rowsOf(10)).toEqual([
      { code: 'a', y: 'a', n: 0, new: null },
      { code: 'b', y: 'b', n: 1, new: null },
    ]);
    expect(await rowsOf(30)).toEqual([]);
    const done = await state();
    await data.apply('second', after);
    expect(await state()).toEqual(done);
  });
});

describe('a reader that holds a table', () => {
  let net: DataNet;
  let reader: pg.Client;

  beforeAll(async () => {
    net = await givenData();
    await deploy(net, before);
    await create(net, 10, { code: 'a', x: 'a', n: '1' });
    reader = new pg.Client({ connectionString: net.database.url });
    await reader.connect();
  });

  beforeEach(() => reader.query('begin; select from b_1.t_10'));

  afterAll(async () => {
    await reader.end();
    await net.stop();
  });

  /** Sessions that wait for a lock, and since when: the time distinguishes attempts. */
  const waiting = () =>
    net.query(
      `select query_start::text as since from pg_stat_activity where datname = current_database()
       and application_name = 'almanac-data-work' and wait_event_type = 'Lock'`,
    );
  const nextTry = (since?: unknown) =>
    eventually(async () => {
      const [found] = await waiting();
      expect(found?.since ?? since).not.toBe(since);
      return found?.since;
    });
  // With the deadline of metadata.
  const apply = (id: string, tables: TableInput[]) =>
    net.metadata.ApplyDeployment(
      caller,
      { deployment_id: id, branch_id: 1, tables: tables.map(wanted) },
      { deadlineMs: 60_000 },
    );
  const read = () => net.call('GET', '/api/v1/table_data?table_definition_id=10');

  it('lets others read between attempts, and the deployment gets its turn', async () => {
    const deployment = apply('polite', after);
    let since: unknown;
    for (let tries = 0; tries < 2; tries += 1) {
      since = await nextTry(since);
      // Sent while the deployment waits, answered while the reader still holds the table.
      expect((await read()).status).toBe(200);
    }
    await reader.query('commit');
    await deployment;
    expect((await read()).body.data).toMatchObject([{ code: 'a', y: 'a', n: 1 }]);
  });

  it('for too long makes the deployment fail unchanged, and a retry applies it', async () => {
    const third = after.map((table) => ({ ...table, version: 3, columns: [...table.columns, { name: 'more' }] }));
    const before = await net.query('select table_definition_id, version, revision from deployed_table order by 1');
    const failure = await failureOf(apply('patient', third));
    expect(failure).toEqual({ kind: 'unavailable', errors: ['The database was too busy to finish this; try again.'] });
    expect(await net.query('select table_definition_id, version, revision from deployed_table order by 1')).toEqual(
      before,
    );
    await reader.query('commit');
    await apply('patient', third);
    expect((await read()).body.data).toMatchObject([{ code: 'a', more: null }]);
  });
});
