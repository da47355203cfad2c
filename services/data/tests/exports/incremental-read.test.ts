// What an incremental read has of rows that changed since its mark (ADR 24).
import pg from 'pg';
import { load, read } from '../files.ts';
import { create, deploy, failureOf } from '../given.ts';
import { net } from '../running-data.ts';
import { marksPassed, patch, remove, restore } from '../versions.ts';
import { codes, lines, useTable } from './bulk-reads.ts';

useTable();

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
    const old = await create(net, 1, { id: 7, x: 'old' });
    const deleted = await create(net, 1, { id: 8, x: 'old' });
    await marksPassed(net);
    const { mark } = await read(net, 1);
    const one = await create(net, 1, { id: 100_001, x: 'new' });
    const two = await create(net, 1, { id: 100_002, x: 'new' });
    await net.call('PATCH', `/api/v1/table_data/${old.svc_sk}`, { table_definition_id: 1, record: { x: 'changed' } });
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
