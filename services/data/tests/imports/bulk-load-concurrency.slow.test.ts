import { load } from '../files.ts';
import { caller, create, deploy, type TableInput } from '../given.ts';

import { file_columns, givenTable, list, net, overLoads, shown } from './loads.ts';

overLoads();

describe('beside other sessions', () => {
  it('loads of one table come one after the other and lose nothing', async () => {
    const { table } = await givenTable();
    const file = (from: number) => Array.from({ length: 500 }, (_, i) => `${from + i},n,${from},\n`).join('');
    const results = await Promise.all(
      [0, 250, 500, 250, 0].map((from) => load(net, table, file(from), { file_columns })),
    );
    expect(results.map((result) => result.status)).toEqual(Array(5).fill('completed'));
    expect(results.reduce((sum, result) => sum + result.inserted, 0)).toBe(1000);
    expect((await list(table)).length).toBe(1000);
  });

  it('row writes and a load of the same keys end as if one after the other', async () => {
    const { table } = await givenTable();
    const file = Array.from({ length: 3000 }, (_, i) => `${i},file,${i},\n`).join('');
    await load(net, table, file, { file_columns });
    const statuses: number[] = [];
    const writes = async () => {
      for (let i = 0; i < 60; i += 1) {
        const made = await net.call('POST', '/api/v1/table_data', {
          table_definition_id: table,
          record: { code: String(2980 + i), name: 'api' },
        });
        statuses.push(made.status);
      }
    };
    const changed = Array.from({ length: 3050 }, (_, i) => `${i},again,${i},\n`).join('');
    const [result] = await Promise.all([load(net, table, changed, { file_columns }), writes()]);
    expect(result?.status).toBe('completed');
    // 503: the write waited longer for the load than its lock timeout.
    for (const status of statuses) expect([201, 422, 503]).toContain(status);
    const { counts } = await net.jobs.CountRows(caller, { table_definition_ids: [table] });
    const [distinct] = await net.query(
      `select count(distinct c_${table * 1000 + 1})::int as n from b_1.t_${table} where svc_live`,
    );
    expect(distinct?.n).toBe(counts[0]?.rows);
  });

  it('readers see the table before or after, never between', async () => {
    const { table } = await givenTable();
    const file = (name: string) => Array.from({ length: 5000 }, (_, i) => `${i},${name},,\n`).join('');
    await load(net, table, file('before'), { file_columns });
    let running = true;
    const seen = new Set<string>();
    const reader = async () => {
      while (running) {
        const { body } = await net.call('POST', '/api/v1/table_data/grid', {
          table_definition_id: table,
          startRow: 0,
          endRow: 1,
          filterModel: { name: { filterType: 'text', type: 'equals', filter: 'after' } },
        });
        seen.add(String(body.rowCount));
      }
    };
    const reading = reader();
    await load(net, table, file('after'), { file_columns });
    running = false;
    await reading;
    expect([...seen].filter((count) => count !== '0' && count !== '5000')).toEqual([]);
  });

  it('deployments and loads of one table wait for each other, and each ends as if it ran alone', async () => {
    const { table, definition } = await givenTable();
    const version = (n: number): TableInput => ({
      ...definition,
      version: n,
      columns: [...definition.columns, ...(n % 2 ? [{ name: 'more', data_type: 'integer' }] : [])].map((column) =>
        column.name === 'size' ? { ...column, data_type: n % 3 ? 'integer' : 'bigint' } : column,
      ),
    });
    const file = (n: number) => Array.from({ length: 4000 }, (_, i) => `${i},load ${n},${i},A\n`).join('');
    const loading = (async () => {
      const results = [];
      for (let n = 0; n < 4; n += 1) results.push(await load(net, table, file(n), { file_columns }));
      return results;
    })();
    for (let n = 2; n < 10; n += 1) await deploy(net, [version(n)]);
    const results = await loading;
    expect(results.map((result) => [result.status, result.inserted + result.updated + result.unchanged])).toEqual(
      Array(4).fill(['completed', 4000]),
    );
    const { counts } = await net.jobs.CountRows(caller, { table_definition_ids: [table] });
    expect(counts[0]?.rows).toBe(4000);
    const refused = await net.call('POST', '/api/v1/table_data', {
      table_definition_id: table,
      record: { code: '1', name: 'x' },
    });
    expect(refused.status).toBe(422);
  });

  it('readers never block the load that rebuilds their table, nor does it block them', async () => {
    const { table } = await givenTable();
    let running = true;
    const seen = new Set<string>();
    const reader = async () => {
      while (running) {
        const { status, body } = await net.call('POST', '/api/v1/table_data/grid', {
          table_definition_id: table,
          startRow: 0,
          endRow: 5,
        });
        seen.add(`${status} ${body.rowCount}`);
      }
    };
    const reading = [reader(), reader(), reader()];
    const file = Array.from({ length: 20_000 }, (_, i) => `${i},n,${i},B\n`).join('');
    expect(await load(net, table, file, { file_columns })).toMatchObject({ inserted: 20_000 });
    const after = await net.call('POST', '/api/v1/table_data/grid', {
      table_definition_id: table,
      startRow: 0,
      endRow: 5,
    });
    running = false;
    await Promise.all(reading);
    expect(after.body.rowCount).toBe(20_000);
    expect([...seen].filter((each) => each !== '200 0' && each !== '200 20000')).toEqual([]);
    const direct = net.query(
      `insert into b_1.t_${table} (svc_created_at, svc_updated_at, c_${table * 1000 + 1}, c_${table * 1000 + 2}) values (now(), now(), '5', 'x')`,
    );
    await expect(direct).rejects.toMatchObject({ code: '23505' });
    const made = await create(net, table, { code: 'next', name: 'n', grp: 'C' });
    expect(made.svc_sk).toBeGreaterThan(20_000);
    for (const record of [
      { code: 'y', name: 'n', grp: 'Q' },
      { code: 'next', name: 'n' },
    ])
      expect((await net.call('POST', '/api/v1/table_data', { table_definition_id: table, record })).status).toBe(422);
  });

  it('a file with a doubled key for a table without rows is refused with its rows', async () => {
    const { table } = await givenTable();
    const file = Array.from({ length: 3000 }, (_, i) => `${i % 2999},n,${i},${i === 7 ? 'Q' : 'B'}\n`).join('');
    const result = await load(net, table, file, { file_columns });
    expect(result.rejections.map(({ row, column }) => [row, column])).toEqual([
      [8, 'grp'],
      [3000, 'code'],
    ]);
    expect(await load(net, table, file, { file_columns, on_error: 'reject_rows' })).toMatchObject({
      inserted: 2998,
      rejected: 2,
    });
    expect(await net.query("select nspname from pg_namespace where nspname like 'l!_%' escape '!'")).toEqual([]);
  });

  it('a caller that disconnects in the middle leaves nothing behind', async () => {
    const { table } = await givenTable();
    async function* half() {
      yield Buffer.from('a,1,,\n');
      throw new Error('the caller disconnected');
    }
    await expect(load(net, table, half(), { file_columns, load_id: 'half' })).rejects.toThrow();
    expect(await shown(table)).toEqual([]);
    expect(await load(net, table, 'a,1,,\n', { file_columns, load_id: 'half' })).toMatchObject({ inserted: 1 });
  });
});
