import { eventually } from '@almanac/testkit/eventually';
import type pg from 'pg';
import { bulkRead } from '../../src/exports/bulk-read.ts';
import { quietName } from '../../src/postgres/pools.ts';
import { load, read, readAll } from '../files.ts';
import { caller, create, deploy, failureOf } from '../given.ts';
import { net } from '../running-data.ts';
import { passed } from '../versions.ts';
import { codes, lines, useTable } from './bulk-reads.ts';

useTable();

describe('a full read', () => {
  it('has the live rows, a header, and useful chunks', async () => {
    const rows = Array.from({ length: 60_000 }, (_, i) => `${i},text of row ${i}\n`).join('');
    await load(net, 1, rows, { file_columns: ['id', 'x'] });
    const deleted = (await net.call('GET', '/api/v1/table_data?table_definition_id=1&q=id:eq:5')).body.data[0];
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: 1, ids: [deleted.svc_sk] });
    const answer = await read(net, 1);
    expect(answer.text.split('\n')[0]).toBe('svc_sk,svc_created_at,svc_updated_at,id,x');
    expect([answer.rows, lines(answer.text).length]).toEqual([59_999, 59_999]);
    expect(answer.text).toMatch(/\n1,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,\d{4}-[^,]+Z,0,text of row 0\n/);
    expect(answer.chunks).toBeLessThan(15);
  });

  describe('of a large table', () => {
    const table = 3;
    const count = 20_000;
    const ids = (text: string) => lines(text).map((line) => Number(line.split(',')[0]));
    let [first, last] = [0, 0];

    beforeAll(async () => {
      await deploy(net, [{ id: table, columns: [{ name: 'x', data_type: 'text' }] }]);
      const text = 'a'.repeat(200);
      await load(net, table, `${text}\n`.repeat(count), { file_columns: ['x'] });
      [first, last] = [1, count];
    });

    it('has each row once, in the order of their keys, all at one instant while others write', async () => {
      let isReading = true;
      let written = 0;
      const writing = (async () => {
        for (; isReading; written += 1) {
          const operations = [first, last].map((id) => ({
            operation: 'update',
            id,
            record: { x: `together ${written}` },
          }));
          const answer = await net.call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations });
          expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
          await create(net, table, { x: 'new' });
        }
      })();
      for (let round = 0; round < 5; round += 1) {
        const { text, rows } = await read(net, table);
        const found = ids(text);
        expect([rows, new Set(found).size]).toEqual([found.length, found.length]);
        expect(found).toEqual(found.toSorted((a, b) => a - b));
        const cellOf = (id: number) => lines(text)[found.indexOf(id)]?.split(',')[3];
        expect(cellOf(first)).toBe(cellOf(last));
      }
      isReading = false;
      await writing;
      expect(written).toBeGreaterThan(0);
    });

    it('is put on disk for an order that no index has, and still comes in chunks', async () => {
      const onDisk = async () => {
        const found = await net.query('select temp_bytes from pg_stat_database where datname = current_database()');
        return Number(found[0]?.temp_bytes);
      };
      const before = await onDisk();
      const filterModel = { svc_sk: { filterType: 'number', type: 'lessThanOrEqual', filter: count } };
      const criteria = JSON.stringify({
        filterModel,
        sortModel: [{ colId: 'x', sort: 'desc' }],
        columns: ['svc_sk', 'x'],
      });
      const answer = await readAll(net, { table_definition_id: table, pattern: 'full', criteria });
      const found = lines(answer.text).map((line) => line.split(','));
      expect(answer.rows).toBe(count);
      const expected = found.toSorted(([id, x], [otherId, otherX]) =>
        x === otherX ? Number(id) - Number(otherId) : `${x}` < `${otherX}` ? 1 : -1,
      );
      expect(found).toEqual(expected);
      expect(answer.chunks).toBeGreaterThan(3);
      await eventually(async () => expect(await onDisk()).toBeGreaterThan(before));
    });

    it('runs when many exports do so at once', async () => {
      const all = await Promise.all(Array.from({ length: 16 }, () => read(net, table)));
      expect(new Set(all.map(({ rows }) => rows)).size).toBe(1);
      await eventually(async () => {
        const { totalCount, idleCount, waitingCount } = net.context.pools.quiet;
        expect([totalCount - idleCount, waitingCount]).toEqual([0, 0]);
      });
    });
  });

  describe('beside a deployment that rewrites the table', () => {
    const table = 50;
    const name = `b_1.t_${table}`;
    let deployer: pg.PoolClient;

    const untilWaited = (mode: string) =>
      eventually(async () => {
        const waiting = await net.query(
          'select from pg_locks where relation = $1::regclass and mode = $2 and not granted',
          [name, mode],
        );
        expect(waiting).toHaveLength(1);
      });

    beforeAll(async () => {
      await deploy(net, [{ id: table, columns: [{ name: 'x' }] }]);
      await load(net, table, 'a\nb\n', { file_columns: ['x'] });
      deployer = await net.context.pools.work.connect();
    });
    afterAll(() => deployer.release());

    it.each(['full', 'incremental', 'as of an instant'])('has all rows, %s', async (how) => {
      const [row] = await net.query(`select max(svc_updated_at)::text as at from ${name}`);
      const at = new Date(`${row?.at}`).toISOString();
      await passed(net, at);
      const [column] = await net.query(
        "select attname from pg_attribute where attrelid = $1::regclass and attname ~ '^c_'",
        [name],
      );
      await deployer.query('begin');
      await deployer.query(`lock table ${name} in access exclusive mode`);
      const reading = read(
        net,
        table,
        ...({
          full: [],
          incremental: ['2000-01-01T00:00:00Z'],
          'as of an instant': ['', caller, at],
        }[how] as []),
      );
      await untilWaited('AccessShareLock');
      for (const each of [name, name.replace('t_', 'h_')])
        await deployer.query(`alter table ${each} alter ${column?.attname} type text using ${column?.attname} || ''`);
      await deployer.query('commit');
      expect((await reading).rows).toBe(2);
    });
  });

  it('ends its snapshot when the caller stops', async () => {
    for await (const message of net.jobs.BulkRead(caller, { table_definition_id: 1, pattern: 'full' }))
      if (message.chunk) break;
    await eventually(async () => {
      const open = await net.query(
        "select pid from pg_stat_activity where datname = current_database() and application_name = $1 and xact_start is not null and state <> 'active'",
        [quietName],
      );
      const copying = await net.query(
        "select pid from pg_stat_activity where datname = current_database() and query like 'copy (select%' and state = 'active'",
      );
      expect(open.length + copying.length).toBe(0);
    });
  });

  it('releases its connection when the caller stops after the first part', async () => {
    const { pools } = net.context;
    const taken = () => pools.quiet.totalCount - pools.quiet.idleCount;
    await eventually(async () => expect(taken()).toBe(0));
    const call = { ...caller, scopes: ['api'], branching: true, issuer: 'jobs' as const, requestId: 'stops-early' };
    const request = {
      tableDefinitionId: 1,
      pattern: 'full',
      highWaterMark: '',
      asOf: '',
      forEditing: false,
      criteria: '',
    };
    const parts = bulkRead(net.context, call, request, new AbortController().signal);
    expect((await parts.next()).value).toEqual({ start: expect.objectContaining({ columns: expect.anything() }) });
    await parts.return(undefined);
    expect(taken()).toBe(0);
  });

  it('as of an instant has the rows that were live then, and the next export has the changes since', async () => {
    const table = 2;
    await deploy(net, [{ id: table, columns: [{ name: 'x' }] }]);
    const a = await create(net, table, { x: 'a' });
    const b = await create(net, table, { x: 'b' });
    await passed(net, b.svc_updated_at);
    const path = `/api/v1/table_data/${a.svc_sk}`;
    const changed = await net.call('PATCH', path, { table_definition_id: table, record: { x: 'c' } });
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: table, ids: [b.svc_sk] });
    await create(net, table, { x: 'd' });
    const then = await read(net, table, '', caller, b.svc_updated_at);
    expect(lines(then.text).map((line) => line.split(',')[3])).toEqual(['a', 'b']);
    expect([then.rows, then.mark <= b.svc_updated_at]).toEqual([2, true]);
    expect(codes((await read(net, table, then.mark)).text).sort()).toContain('db');
    const now = await read(net, table, '', caller, changed.body.svc_updated_at);
    expect(lines(now.text).map((line) => line.split(',')[3])).toContain('c');
    for (const asOf of ['2999-01-01T00:00:00Z', '2026-01-01T00:00:00', 'x'])
      expect((await failureOf(read(net, table, '', caller, asOf))).kind).toBe('bad_request');
    expect((await failureOf(read(net, table, then.mark, caller, b.svc_updated_at))).errors).toEqual([
      'as_of goes with the pattern full only.',
    ]);
  });

  it('is refused for a table that is not there', async () => {
    expect((await failureOf(read(net, 99))).kind).toBe('not_found');
    expect((await failureOf(read(net, 1, '', { ...caller, accountId: 2 }))).kind).toBe('not_found');
    expect((await failureOf(read(net, 1, "2024-01-01' or 'x"))).kind).toBe('bad_request');
  });
});
