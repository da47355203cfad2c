// The pages of a change feed fit together, whatever is written between them.
import pg from 'pg';
import { load } from '../files.ts';
import { create, givenData } from '../given.ts';
import { net, useData } from '../running-data.ts';
import { marksPassed, patch, remove } from '../versions.ts';
import { ask, type Change, CopyByKey, follow, lineOf, pageOf } from './feed.ts';
import { begin, givenTable, next } from './followed-tables.ts';

useData();

describe('pages', () => {
  it('of one change each are the same as one page, deletions before creations', async () => {
    const { id, ids } = await givenTable({ A: '1', B: '2', C: '3', D: '4', E: '5' });
    const cursor = await begin(id);
    await patch(net.call, id, ids.A as number, { code: 'F' });
    await patch(net.call, id, ids.B as number, { code: 'A' });
    await remove(net.call, id, [ids.C as number, ids.D as number]);
    await create(net, id, { code: 'D' });
    await create(net, id, { code: 'G' });
    await marksPassed(net);
    const whole = await follow(net.call, id, cursor);
    expect(whole.pages).toBe(1);
    expect(whole.changes.map(lineOf)).toEqual([
      'deleted B to A',
      'deleted C',
      'updated F from A',
      'updated A from B',
      'updated D',
      'created G',
    ]);
    for (const limit of [1, 2, 5, 6]) {
      const paged = await follow(net.call, id, cursor, { limit });
      expect([paged.changes, paged.pages]).toEqual([whole.changes, Math.ceil(6 / limit)]);
    }
  });

  it('fit together when rows change between them', async () => {
    const { id, ids } = await givenTable({ A: '1', B: '2', C: '3' });
    const copy = new CopyByKey();
    copy.apply(
      (await net.call('GET', `/api/v1/table_data?table_definition_id=${id}`)).body.data.map(
        (record: Record<string, unknown>) => ({ change: 'created', key: { code: record.code }, record }),
      ),
    );
    let cursor = await begin(id);
    for (const code of ['A', 'B', 'C']) await patch(net.call, id, ids[code] as number, { name: 'first' });
    await marksPassed(net);
    const first = await pageOf(net.call, id, { after: cursor, limit: 1 });
    copy.apply(first.data);
    // One row of a page before, one of a page to come, one that swaps its key with a page to come.
    await patch(net.call, id, ids.A as number, { code: 'T', name: 'again' });
    await patch(net.call, id, ids.C as number, { code: 'A' });
    await remove(net.call, id, [ids.B as number]);
    await create(net, id, { code: 'C', name: 'other' });
    cursor = first.cursor;
    expect(first.has_more).toBe(true);
    const rest = await follow(net.call, id, cursor, { limit: 1 });
    copy.apply(rest.changes);
    await marksPassed(net);
    copy.apply((await follow(net.call, id, rest.cursor, { limit: 1 })).changes);
    const { data } = (await net.call('GET', `/api/v1/table_data?table_definition_id=${id}&sort=svc_sk`)).body;
    expect(copy.content).toEqual(data);
  });

  it('go on after a restart of the service', async () => {
    const { id } = await givenTable();
    const cursor = await begin(id);
    for (const code of ['A', 'B', 'C']) await create(net, id, { code });
    await marksPassed(net);
    const first = await pageOf(net.call, id, { after: cursor, limit: 1 });
    const other = await givenData({ database: net.database, keys: net.keys });
    try {
      const { changes } = await follow(other.call, id, first.cursor, { limit: 1 });
      expect([...first.data, ...changes].map(lineOf)).toEqual(['created A', 'created B', 'created C']);
    } finally {
      await other.stop();
    }
  });

  it('take 1 to 1,000 changes', async () => {
    const { id } = await givenTable();
    const cursor = await begin(id);
    const rows = Array.from({ length: 1001 }, (_, i) => `K${i},n,1\n`).join('');
    await load(net, id, rows, { file_columns: ['code', 'name', 'size'] });
    await marksPassed(net);
    const page = await pageOf(net.call, id, { after: cursor, limit: 1000 });
    expect([page.data.length, page.has_more]).toEqual([1000, true]);
    for (const limit of [0, 1001])
      expect(await ask(net.call, id, { after: cursor, limit })).toMatchObject({
        status: 400,
        body: { problems: [{ field: 'limit' }] },
      });
  });

  it('net the changes of a record among ten thousand, not of more', async () => {
    const { id, ids } = await givenTable({ A: '1' });
    const cursor = await begin(id);
    const file_columns = ['code', 'name', 'size'];
    const loaded = (from: number, count: number) =>
      load(net, id, Array.from({ length: count }, (_, i) => `K${from + i},n,1\n`).join(''), { file_columns });
    await patch(net.call, id, ids.A as number, { name: 'x' });
    await loaded(0, 9998);
    await patch(net.call, id, ids.A as number, { name: 'y' });
    await marksPassed(net);
    const isA = ({ key }: Change) => key.code === 'A';
    const net10k = await follow(net.call, id, cursor, { limit: 1000 });
    expect([net10k.changes.length, net10k.changes.filter(isA).map(({ svc_version }) => svc_version)]).toEqual([
      9999,
      [3],
    ]);
    await create(net, id, { code: 'L', name: 'later' });
    await marksPassed(net);
    const more = await follow(net.call, id, cursor, { limit: 1000 });
    expect(more.changes.filter(isA).map(({ svc_version }) => svc_version)).toEqual([3]);
    expect(more.changes.at(-1)?.key).toEqual({ code: 'L' });
    await patch(net.call, id, ids.A as number, { name: 'z' });
    await marksPassed(net);
    const twice = await follow(net.call, id, cursor, { limit: 1000 });
    expect(twice.changes.filter(isA).map(({ svc_version }) => svc_version)).toEqual([3, 4]);
  });
});

it('an open transaction holds the feed back, and nothing that it commits is missed', async () => {
  const { id } = await givenTable();
  let cursor = await begin(id);
  const slow = new pg.Client({ connectionString: net.database.url });
  await slow.connect();
  try {
    await slow.query('begin');
    await slow.query(
      `insert into b_1.t_${id} (svc_created_at, svc_updated_at, svc_channel, c_${id}001)
       select at, at, 'a', 'SLOW' from (select date_trunc('milliseconds', clock_timestamp()) as at) c`,
    );
    await create(net, id, { code: 'QUICK' });
    const during = await follow(net.call, id, cursor);
    expect(during.changes).toEqual([]);
    cursor = during.cursor;
    await slow.query('commit');
  } finally {
    await slow.end();
  }
  expect(await next(id, cursor)).toEqual(['created SLOW', 'created QUICK']);
});
