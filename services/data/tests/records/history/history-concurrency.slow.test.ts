// Concurrent writers: every version is kept once, none is lost, and each ends when the next one
// begins.
import { eventually } from '@almanac/testkit/eventually';
import { load } from '../../files.ts';
import { create, type DataNet, deploy, givenData, type TableInput } from '../../given.ts';
import { gaps, patch, remove, restore, revert, rowsAsOf, versionsOf } from '../../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const columns: TableInput['columns'] = [
  { name: 'id', data_type: 'integer', is_primary_key: true },
  { name: 'x', length: 20 },
];

async function givenTable(rows: number): Promise<{ table: TableInput; id: number; ids: number[] }> {
  last += 10;
  const table = { id: last, columns };
  await deploy(net, [table]);
  const made = [];
  for (let n = 0; n < rows; n += 1) made.push(await create(net, last, { id: n, x: 'first' }));
  return { table, id: last, ids: made.map((row) => row.svc_sk) };
}

const several = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describe('writers of one row', () => {
  it('leave a version each', async () => {
    const { id, ids } = await givenTable(1);
    const [row] = ids as [number];
    const statuses = await several(8, async (n) => {
      const own = [];
      for (let i = 0; i < 15; i += 1) own.push((await patch(net.call, id, row, { x: `${n}.${i}` })).status);
      return own;
    });
    expect(new Set(statuses.flat())).toEqual(new Set([200]));
    const versions = await versionsOf(net.call, id, row);
    expect(versions).toHaveLength(121);
    expect(new Set(versions.map((version) => version.record.x)).size).toBe(121);
    expect(await gaps(net, id)).toEqual([]);
  });

  it('change, delete, restore and revert it one after the other', async () => {
    const { id, ids } = await givenTable(3);
    const works = [
      (row: number) => patch(net.call, id, row, { x: 'changed' }),
      () => remove(net.call, id, ids),
      () => restore(net.call, id, [...ids].reverse()),
      (row: number) => revert(net.call, id, row, 1),
    ];
    const statuses = await several(8, async (n) => {
      const own = [];
      for (let i = 0; i < 12; i += 1)
        own.push((await (works[(n + i) % 4] as (typeof works)[0])(ids[i % 3] as number)).status);
      return own;
    });
    // 503: deleted when the change was tried, and restored when the reason was queried.
    for (const status of statuses.flat()) expect([200, 404, 503]).toContain(status);
    expect(await gaps(net, id)).toEqual([]);
    for (const row of ids) {
      const versions = (await versionsOf(net.call, id, row)).reverse();
      for (const [i, version] of versions.entries()) {
        const wasDeleted = versions[i - 1]?.record.svc_is_deleted ?? true;
        if (version.action === 'restored') expect(wasDeleted).toBe(true);
        if (version.action === 'updated' || version.action === 'deleted') expect(wasDeleted).toBe(false);
      }
    }
  });
});

describe('writers beside', () => {
  it('deployments leave each version whole, in the columns of its time', async () => {
    const { table, id, ids } = await givenTable(4);
    let running = true;
    const statuses = new Set<number>();
    const writing = several(4, async (n) => {
      for (let i = 0; running; i += 1) {
        const row = ids[(n + i) % 4] as number;
        const answer =
          i % 5 === 4 ? await remove(net.call, id, [row]) : await patch(net.call, id, row, { x: `${n}.${i}` });
        statuses.add(answer.status);
        if (i % 5 === 4) statuses.add((await restore(net.call, id, [row])).status);
      }
    });
    for (let version = 2; version < 12; version += 1)
      await deploy(net, [
        {
          ...table,
          version,
          columns: [
            ...columns,
            ...(version % 2 ? [{ name: 'more', data_type: version % 3 ? 'text' : 'integer' }] : []),
          ],
        },
      ]);
    running = false;
    await writing;
    for (const status of statuses) expect([200, 404, 503]).toContain(status);
    expect(statuses).toContain(200);
    expect(await gaps(net, id)).toEqual([]);
  });

  it('an import that changes the same rows lose no change, nor does the import', async () => {
    const { id } = await givenTable(0);
    const file = (x: string) => Array.from({ length: 2_500 }, (_, n) => `${n},${x}\n`).join('');
    await load(net, id, file('loaded'), { file_columns: ['id', 'x'] });
    const rows = await net.query(`select svc_sk::int as row from b_1.t_${id} order by svc_sk limit 20`);
    let running = true;
    let written = 0;
    const writing = several(3, async (n) => {
      for (let i = 0; running; i += 1) {
        const { status } = await patch(net.call, id, rows[(n * 7 + i) % 20]?.row as number, { x: `${n}.${i}` });
        expect([200, 503]).toContain(status); // 503: it waited longer for the import than a row's writer does
        if (status === 200) written += 1;
      }
    });
    let updated = 0;
    for (let n = 0; n < 3; n += 1) {
      const result = await load(net, id, file(`again ${n}`), { file_columns: ['id', 'x'] });
      expect(result.status).toBe('completed');
      updated += result.updated;
    }
    running = false;
    await writing;
    expect(await gaps(net, id)).toEqual([]);
    expect(await net.query(`select count(*)::int as n from b_1.h_${id}`)).toEqual([{ n: written + updated }]);
  });

  it('readers as of an instant find each row once, beside any writers', async () => {
    const { id, ids } = await givenTable(10);
    const ago = `to_char(clock_timestamp() - interval '20 milliseconds', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    const [{ svc_updated_at: complete }] = (await versionsOf(net.call, id, ids[9] as number)).map(
      ({ record }) => record,
    );
    await eventually(async () =>
      expect((await net.query(`select ${ago} > $1 as later`, [complete]))[0]).toEqual({ later: true }),
    );
    let running = true;
    const writing = several(3, async (n) => {
      for (let i = 0; running; i += 1) await patch(net.call, id, ids[(n + i) % 10] as number, { x: `${n}.${i}` });
    });
    for (let i = 0; i < 60; i += 1) {
      const [clock] = await net.query(`select ${ago} as at`);
      const found = await rowsAsOf(net.call, id, clock?.at as string);
      expect(found.map((row: { svc_sk: number }) => row.svc_sk)).toEqual(ids);
    }
    running = false;
    await writing;
  });
});
