import { eventually } from '@almanac/testkit/eventually';
import pg from 'pg';
import { bulkRead } from '../../src/exports/bulk-read.ts';
import { quietName } from '../../src/postgres/pools.ts';
import { load, read, readAll } from '../files.ts';
import { caller, create, type DataNet, deploy, failureOf, givenData } from '../given.ts';
import { marksPassed, passed, patch, remove, restore } from '../versions.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [
    {
      id: 1,
      columns: [
        { name: 'id', data_type: 'integer', is_primary_key: true },
        { name: 'x', data_type: 'text' },
      ],
    },
  ]);
});

afterAll(() => net.stop());

const lines = (text: string) => text.trimEnd().split('\n').slice(1);
/** The code of each line of an incremental read, and its key. */
const codes = (text: string) => lines(text).map((line) => `${line.split(',')[0]}${line.split(',')[5]}`);

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

describe('an incremental read', () => {
  it('is refused from a mark more than a minute in the future, by the clock of the rows', async () => {
    const later = async (by: string) =>
      (await net.query('select clock_timestamp() + $1::interval as at', [by]))[0]?.at as Date;
    for (const by of ['1 hour', '2 minutes'])
      expect(await failureOf(read(net, 1, (await later(by)).toISOString()))).toEqual({
        kind: 'bad_request',
        errors: ['high_water_mark must not be in the future: use the next_high_water_mark of an export.'],
      });
    expect((await read(net, 1, (await later('30 seconds')).toISOString())).rows).toBe(0);
    const { mark } = await read(net, 1);
    expect((await read(net, 1, mark)).rows).toBeGreaterThanOrEqual(0);
  });

  it('has exactly the changes after the mark, with their codes', async () => {
    await marksPassed(net);
    const { mark } = await read(net, 1);
    const one = await create(net, 1, { id: 100_001, x: 'new' });
    const two = await create(net, 1, { id: 100_002, x: 'new' });
    const [old] = (await net.call('GET', '/api/v1/table_data?table_definition_id=1&q=id:eq:7')).body.data;
    await net.call('PATCH', `/api/v1/table_data/${old.svc_sk}`, { table_definition_id: 1, record: { x: 'changed' } });
    const [deleted] = (await net.call('GET', '/api/v1/table_data?table_definition_id=1&q=id:eq:8')).body.data;
    await net.call('POST', '/api/v1/table_data/delete_records', {
      table_definition_id: 1,
      ids: [deleted.svc_sk, two.svc_sk],
    });
    await marksPassed(net);
    const answer = await read(net, 1, mark);
    const system = ['svc_transaction_code', 'svc_sk', 'svc_created_at', 'svc_updated_at', 'svc_is_deleted'];
    expect(answer.columns).toEqual([...system, 'id', 'x']);
    expect(codes(answer.text)).toEqual(['d8', 'd100002', 'u7', 'i100001']);
    expect(lines(answer.text).map((line) => line.split(',')[4])).toEqual(['true', 'true', 'false', 'false']);
    expect((await read(net, 1, answer.mark)).rows).toBe(0);
    expect(one.svc_sk).toBeGreaterThan(0);
  });

  describe('is net and in order:', () => {
    const table = 60;
    let mark: string;

    beforeAll(() =>
      deploy(net, [
        {
          id: table,
          columns: [
            { name: 'a', data_type: 'text', is_primary_key: true },
            { name: 'b', data_type: 'integer', is_primary_key: true },
            { name: 'x', data_type: 'text' },
          ],
        },
      ]),
    );

    const add = (a: string, x: string) => create(net, table, { a, b: 1, x });
    const change = async (id: number, record: Record<string, unknown>) =>
      expect((await patch(net.call, table, id, record)).status).toBe(200);
    const drop = (...ids: number[]) => remove(net.call, table, ids);
    /** The code of each key in the next incremental read. */
    async function next(): Promise<string[]> {
      await marksPassed(net);
      const answer = await read(net, table, mark);
      return lines(answer.text).map((line) => {
        const [code, , , , isDeleted, ...values] = line.split(',');
        expect(isDeleted).toBe(String(code === 'd'));
        return [code, ...values].join(' ');
      });
    }
    async function begin(rows: Record<string, string>): Promise<Record<string, number>> {
      const ids: Record<string, number> = {};
      for (const [a, x] of Object.entries(rows)) ids[a] = (await add(a, x)).svc_sk;
      await marksPassed(net);
      mark = (await read(net, table)).mark;
      return ids;
    }

    it('a key that was deleted and created again is one row', async () => {
      const ids = await begin({ b1: 'old' });
      await drop(ids.b1 as number);
      const second = await add('b1', 'between');
      await drop(second.svc_sk);
      await add('b1', 'new');
      expect(await next()).toEqual(['u b1 1 new']);
    });

    it('a row that is restored after another had its key is the row of the key', async () => {
      const ids = await begin({ b2: 'first' });
      await drop(ids.b2 as number);
      const second = await add('b2', 'second');
      await drop(second.svc_sk);
      await restore(net.call, table, [ids.b2 as number]);
      expect(await next()).toEqual(['u b2 1 first']);
    });

    it('a changed key is one deleted key and one new key', async () => {
      const ids = await begin({ c1: 'x' });
      await change(ids.c1 as number, { a: 'c2' });
      await change(ids.c1 as number, { a: 'c3', x: 'y' });
      expect(await next()).toEqual(['d c1 1 x', 'd c2 1 x', 'i c3 1 y']);
      await marksPassed(net);
      mark = (await read(net, table)).mark;
      await change(ids.c1 as number, { b: 2 });
      await change(ids.c1 as number, { b: 1 });
      expect(await next()).toEqual(['d c3 2 y', 'u c3 1 y']);
    });

    it('keys that rows exchange or pass on appear once each', async () => {
      const ids = await begin({ e1: 'one', e2: 'two', f1: 'three' });
      await change(ids.e1 as number, { a: 'e0' });
      await change(ids.e2 as number, { a: 'e1' });
      await change(ids.e1 as number, { a: 'e2' });
      await change(ids.f1 as number, { a: 'f2' });
      await add('f1', 'other');
      expect((await next()).toSorted()).toEqual([
        'd e0 1 one',
        'i f2 1 three',
        'u e1 1 two',
        'u e2 1 one',
        'u f1 1 other',
      ]);
    });

    it('a key that was created and deleted since is deleted, too: a copy may be younger than its mark', async () => {
      await begin({});
      const made = await add('g', 'x');
      await drop(made.svc_sk);
      expect(await next()).toEqual(['d g 1 x']);
    });

    it('the rows of an import are exported the same way', async () => {
      const file_columns = ['svc_transaction_code', 'a', 'b', 'x'];
      await begin({ h1: 'x', h2: 'y', h3: 'z' });
      for (const rows of ['d,h1,1,\nd,h2,1,\n', 'i,h1,1,new\n'])
        await load(net, table, rows, { file_columns, pattern: 'incremental_with_delete' });
      expect(await next()).toEqual(['d h2 1 y', 'u h1 1 new']);
    });

    it('rows without a key are identified by svc_sk', async () => {
      const keyless = 61;
      await deploy(net, [{ id: keyless, columns: [{ name: 'x' }] }]);
      const [a, b] = [await create(net, keyless, { x: 'a' }), await create(net, keyless, { x: 'a' })];
      await marksPassed(net);
      const before = (await read(net, keyless)).mark;
      await patch(net.call, keyless, a.svc_sk, { x: 'c' });
      await remove(net.call, keyless, [b.svc_sk]);
      await marksPassed(net);
      expect(codes((await read(net, keyless, before)).text)).toEqual(['da', 'uc']);
    });

    it('a mark before the kept versions is refused', async () => {
      await begin({ k: 'x' });
      const since = (at: string) =>
        net.query(`update deployed_table set history_since = ${at} where table_definition_id = $1`, [table]);
      await since("now() + interval '1 hour'");
      const failure = await failureOf(read(net, table, mark));
      expect(failure.kind).toBe('bad_request');
      expect(failure.errors[0]).toMatch(
        /^What changed in .* is known since .*Z only; make a full export and go on from its mark\.$/,
      );
      await since("'0001-01-01'");
    });
  });

  it('continues from its mark to the millisecond, in any form of the instant', async () => {
    const table = 3;
    await deploy(net, [{ id: table, columns: [{ name: 'x' }] }]);
    await marksPassed(net);
    const { mark } = await read(net, table);
    for (const [x, apart] of [
      ['before', -1],
      ['at', 0],
      ['after', 1],
    ] as const)
      await net.query(
        `insert into b_1.t_3 (svc_created_at, svc_updated_at, c_3001)
         select at, at, $1 from (select $2::timestamptz + $3::int * interval '1 millisecond' as at) mark`,
        [x, mark, apart],
      );
    const text = mark.slice(0, -1);
    for (const given of [mark, `${text}+00:00`, `${text}000000-00`, `${text}999Z`, text, mark.replace(/[-:]/g, '')]) {
      const next = await read(net, table, given);
      expect([given, lines(next.text).map((line) => line.split(',')[5])]).toEqual([given, ['after']]);
    }
  });

  it('loses no row of a writer that was slow to commit', async () => {
    const slow = new pg.Client({ connectionString: net.database.url });
    await slow.connect();
    await slow.query('begin');
    await slow.query('select 1');
    await slow.query(
      "insert into b_1.t_1 (svc_created_at, svc_updated_at, c_1001, c_1002) select at, at, 200001, 'slow' from (select clock_timestamp() as at) c",
    );
    await create(net, 1, { id: 200_002, x: 'quick' });
    const first = await read(net, 1);
    expect(first.text).not.toContain('slow');
    await slow.query('commit');
    await slow.end();
    const second = await read(net, 1, first.mark);
    expect(codes(second.text)).toContain('i200001');
  });

  it('loses no change in a long chain beside many writers', async () => {
    let { mark } = await read(net, 1);
    const seen = new Map<string, string>();
    let running = true;
    let next = 300_000;
    const written: string[] = [];
    const writer = async () => {
      while (running) {
        next += 1;
        const id = next;
        await create(net, 1, { id, x: 'chain' });
        written.push(String(id));
      }
    };
    const loader = async () => {
      for (let i = 0; i < 5; i += 1) {
        const from = 400_000 + i * 2000;
        await load(net, 1, Array.from({ length: 2000 }, (_, n) => `${from + n},loaded\n`).join(''), {
          file_columns: ['id', 'x'],
        });
        for (let n = 0; n < 2000; n += 1) written.push(String(from + n));
      }
    };
    const follow = async () => {
      const answer = await read(net, 1, mark);
      mark = answer.mark;
      for (const line of lines(answer.text)) seen.set(line.split(',')[5] as string, line);
    };
    const writers = Array.from({ length: 4 }, writer);
    const loading = loader();
    for (let i = 0; i < 25; i += 1) await follow();
    await loading;
    running = false;
    await Promise.all(writers);
    await follow();
    expect(written.filter((id) => !seen.has(id))).toEqual([]);
  });
});
