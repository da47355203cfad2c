import { samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { createPool, pgSql } from '@almanac/service-kit/postgres/database';
import { findSqlState } from '@almanac/service-kit/postgres/errors';
import { eventually } from '@almanac/testkit/eventually';
import { anyPayload, startBus } from '@almanac/testkit/messaging/bus';
import { sweepStaging } from '../../src/imports/staging/staging.ts';
import { sweep } from '../../src/maintenance/housekeeping.ts';
import { load } from '../files.ts';
import { caller, create, type DataNet, deploy, givenData } from '../given.ts';

import { edit, givenCopy, merge, rowsOf } from '../merges/row-merges.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [{ id: 1, columns: [{ name: 'id', data_type: 'integer', is_primary_key: true }, { name: 'x' }] }]);
});

afterAll(() => net.stop());

describe('changed rows', () => {
  it('are announced per table, batched and counted', async () => {
    const heard: Record<string, unknown>[] = [];
    const bus = await startBus(net.database.url, 'jobs');
    await bus.subscribe(
      samePayload(['data.rows.changed'], anyPayload),
      async ({ payload }) => void heard.push(payload),
    );
    const rows = await Promise.all([1, 2, 3].map((id) => create(net, 1, { id })));
    await load(net, 1, Array.from({ length: 50 }, (_, i) => `${100 + i},y\n`).join(''), { file_columns: ['id', 'x'] });
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: 1, ids: [rows[0].svc_sk] });
    const sum = (name: string) => heard.reduce((total, each) => total + Number(each[name]), 0);
    // The deleted row was announced before, or is announced as deleted only.
    await eventually(() => {
      expect(sum('deleted')).toBe(1);
      expect([52, 53]).toContain(sum('inserted'));
    });
    const place = { table_definition_key: expect.any(String), branch_id: 1, domain_id: expect.any(Number) };
    const mark = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
    expect(heard[0]).toMatchObject({ account_id: 1, table_definition_id: 1, ...place });
    expect(heard[0]).toMatchObject({ changed_after: mark, changed_until: mark });
    expect(heard.length).toBeLessThan(10);
    await bus.stop();
  });

  it('of one table are announced while those of another table can not be', async () => {
    const columns = [{ name: 'id', data_type: 'integer', is_primary_key: true }];
    await deploy(net, [
      { id: 6, columns },
      { id: 7, columns },
    ]);
    const heard: unknown[] = [];
    const bus = await startBus(net.database.url, 'jobs');
    await bus.subscribe(samePayload(['data.rows.changed'], anyPayload), async ({ payload }) => {
      heard.push(payload.table_definition_id);
    });
    await create(net, 6, { id: 1 });
    await eventually(() => expect(heard).toContain(6));
    heard.length = 0;
    await net.query('alter table b_1.t_6 rename to away');
    await net.query('update b_1.away set svc_updated_at = clock_timestamp()');
    net.context.announcer.touch({ table_definition_id: 6 });
    await create(net, 7, { id: 1 });
    await eventually(() => expect(heard).toEqual([7]));
    await net.query('alter table b_1.away rename to t_6');
    await eventually(() => expect(heard).toEqual([7, 6]));
    await bus.stop();
  });
});

describe('who has changed rows', () => {
  it('is announced with them, when it is one', async () => {
    await deploy(net, [{ id: 5, columns: [{ name: 'id', data_type: 'integer', is_primary_key: true }] }]);
    const heard: Record<string, unknown>[] = [];
    const bus = await startBus(net.database.url, 'jobs');
    await bus.subscribe(samePayload(['data.rows.changed'], anyPayload), async ({ payload }) => {
      if (payload.table_definition_id === 5) heard.push(payload);
    });
    const { svc_updated_by } = await create(net, 5, { id: 1 });
    await eventually(() => expect(heard.map(({ by }) => by)).toEqual([svc_updated_by]));
    await net.query('update b_1.t_5 set svc_updated_by = $1, svc_updated_at = clock_timestamp()', ['application:99']);
    await create(net, 5, { id: 2 });
    await eventually(() => expect(heard.map(({ by }) => by)).toEqual([svc_updated_by, null]));
    await bus.stop();
  });
});

describe('housekeeping', () => {
  it('drops abandoned staged files, and keeps those of running loads', async () => {
    await net.query('create unlogged table staging.s_4711 (f_1 text)');
    let send = () => {};
    const sent = new Promise<void>((resolve) => {
      send = resolve;
    });
    async function* slow() {
      yield Buffer.from('500,a\n');
      await sent;
      yield Buffer.from('501,b\n');
    }
    const loading = load(net, 1, slow(), { file_columns: ['id', 'x'] });
    const copying = "select 1 from pg_stat_activity where datname = current_database() and query like 'copy staging.%'";
    await eventually(async () => expect((await net.query(copying)).length).toBe(1));
    await sweep(net.context);
    send();
    expect(await loading).toMatchObject({ inserted: 2 });
    expect(await net.query("select to_regclass('staging.s_4711') as left_over")).toEqual([{ left_over: null }]);
  });

  it('keeps no lock of a staged file that could not be dropped', async () => {
    await net.query('create unlogged table staging.s_4712 (f_1 text)');
    await net.query('create view public.in_use as select * from staging.s_4712');
    // No other work uses this pool, and so ends the lock.
    const pool = createPool({ url: net.database.url, name: 'sweep', max: 1, logger: net.context.logger });
    await expect(sweepStaging(pool)).rejects.toThrow(/depend/);
    const locks = "select 1 from pg_locks where locktype = 'advisory' and objid = 4712";
    // Sooner than the pool closes an idle connection, which would end the lock too.
    await eventually(async () => expect(await net.query(locks)).toEqual([]), { withinMs: 10_000 });
    await net.query('drop view public.in_use');
    expect(await sweepStaging(pool)).toBe(1);
    await pool.end();
  });

  it('deletes after a week what was retired, and after a day what was kept', async () => {
    await deploy(net, [
      { id: 2, columns: [{ name: 'a' }, { name: 'b' }] },
      { id: 3, columns: [{ name: 'a' }] },
    ]);
    await create(net, 2, { a: '1', b: '2' });
    await net.call(
      'POST',
      '/api/v1/table_data',
      { table_definition_id: 2, record: { a: 'k' } },
      { 'idempotency-key': 'old' },
    );
    await deploy(net, [{ id: 2, columns: [{ name: 'a' }] }]);
    await net.metadata.DropTable(caller, { table_definition_id: 3 });
    await load(net, 2, 'a,b,c\n', { file_columns: ['a'], load_id: 'old' });
    await sweep(net.context);
    const kept = () =>
      net.query(
        "select (select count(*)::int from retired_table) as tables, (select count(*)::int from retired_column) as columns, (select count(*)::int from idempotent_answer) as answers, (select count(*)::int from pg_attribute where attrelid = 'b_1.t_2'::regclass and attname like 'x!_%' escape '!') as physical",
      );
    expect(await kept()).toEqual([{ tables: 1, columns: 1, answers: 1, physical: 1 }]);
    await net.query("update retired_table set retired_at = now() - interval '8 days'");
    await net.query("update retired_column set retired_at = now() - interval '8 days'");
    await net.query("update idempotent_answer set created_at = now() - interval '25 hours'");
    await sweep(net.context);
    expect(await kept()).toEqual([{ tables: 0, columns: 0, answers: 0, physical: 0 }]);
  });
});

describe('a round of housekeeping', () => {
  const retiredTables = async () => (await net.query('select id, branch_id from retired_table order by id')) as Ids[];
  type Ids = { id: number; branch_id: number };

  it('drops the other retired tables while one is locked, and that one in a later round', async () => {
    await deploy(net, [
      { id: 8, columns: [{ name: 'a' }] },
      { id: 9, columns: [{ name: 'a' }] },
    ]);
    for (const id of [8, 9]) await net.metadata.DropTable(caller, { table_definition_id: id });
    await net.query("update retired_table set retired_at = now() - interval '8 days'");
    const [locked] = await retiredTables();
    await net.query('begin');
    await net.query(`lock table b_1.r_${locked?.id} in access share mode`);
    await sweep(net.context);
    await net.query('commit');
    expect(await retiredTables()).toEqual([locked]);
    await sweep(net.context);
    expect(await retiredTables()).toEqual([]);
  });

  it('runs the later tasks when one fails', async () => {
    await deploy(net, [{ id: 10, columns: [{ name: 'a' }] }]);
    await net.metadata.DropTable(caller, { table_definition_id: 10 });
    await net.query("update retired_table set retired_at = now() - interval '8 days'");
    await net.query('alter table applied_deployment rename to away');
    await sweep(net.context);
    await net.query('alter table away rename to applied_deployment');
    expect(await retiredTables()).toEqual([]);
  });
});

describe('housekeeping of deployments and merges', () => {
  const baseOf = ({ id }: { id: number }) =>
    net.query('select 1 from row_base where $1 in (table_definition_id, other_id)', [id]);
  const sweepAll = () => sweep(net.context);

  it('deletes merge bases of dropped tables, not of those that may be restored', async () => {
    const [stays, goes] = [await givenCopy(net, { A: { name: 'a' } }), await givenCopy(net, { A: { name: 'a' } })];
    await net.metadata.DropTable(caller, { table_definition_id: goes.copy.id });
    await sweepAll();
    expect([(await baseOf(stays.copy)).length, (await baseOf(goes.copy)).length]).toEqual([2, 2]);
    await net.query("update retired_table set retired_at = now() - interval '8 days'");
    await sweepAll();
    expect([(await baseOf(stays.copy)).length, (await baseOf(goes.copy)).length]).toEqual([2, 0]);
    const leaving = await givenCopy(net, { A: { name: 'a' } });
    await net.query('insert into arriving_account (account_id, cluster, schemas, tables) values (1, $1, $2, $3)', [
      'north',
      [],
      '[]',
    ]);
    await net.query('delete from deployed_table where table_definition_id = $1', [leaving.copy.id]);
    await sweepAll();
    expect(await baseOf(leaving.copy)).toHaveLength(2);
    await net.query('delete from arriving_account');
    await sweepAll();
    expect(await baseOf(leaving.copy)).toEqual([]);
  });

  it('deletes their results after a month', async () => {
    const { main, copy } = await givenCopy(net, { A: { name: 'a' } });
    await edit(net, copy.id, { A: { name: 'b' } });
    await merge(net, [[copy.id, main.id]]);
    const kept = () =>
      net.query(
        'select (select count(*)::int from applied_deployment) > 0 as deployed, (select count(*)::int from finished_merge) as merged',
      );
    await net.query("update finished_merge set finished_at = now() - interval '29 days'");
    await net.query("update applied_deployment set applied_at = now() - interval '29 days'");
    await sweepAll();
    expect(await kept()).toEqual([{ deployed: true, merged: 1 }]);
    await net.query("update finished_merge set finished_at = now() - interval '31 days'");
    await net.query("update applied_deployment set applied_at = now() - interval '31 days'");
    await sweepAll();
    expect(await kept()).toEqual([{ deployed: false, merged: 0 }]);
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { name: 'b' } });
  });
});

describe('the database', () => {
  it('takes one statement at a time, so that no text can append another', async () => {
    const sql = pgSql(net.context.pools.rows);
    const failure = await sql('select 1; select 2').catch((error: unknown) => error);
    expect(findSqlState(failure)).toBe('42601');
  });

  it('that is down is 503, and is used again when it is back', async () => {
    const show = () => net.call('GET', '/api/v1/table_data?table_definition_id=1&per_page=1');
    expect((await show()).status).toBe(200);
    await net.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'almanac-data'",
    );
    await eventually(async () => expect((await show()).status).toBe(200));
    const during = Promise.all(Array.from({ length: 20 }, show));
    await net.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'almanac-data'",
    );
    for (const { status } of await during) expect([200, 503]).toContain(status);
  });
});
