import pg from 'pg';
import { apply, givenRequest, nextRequest } from '../change-requests/applied-requests.ts';
import { load, read } from '../files.ts';
import { caller, create, type DataNet, deploy, givenData, holding, type TableInput } from '../given.ts';
import { codeColumn, copyOf, edit, merge, nextId } from '../merges/row-merges.ts';
import { equals } from '../records/sets/sets.ts';
import { marksPassed, patch, remove, restore, revert } from '../versions.ts';
import { ask, type Change, CopyById, CopyByKey, cursorOf, follow, lineOf, pageOf } from './feed.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const columns = [codeColumn, { name: 'name', length: 20 }, { name: 'size', data_type: 'integer' }];

async function givenTable(
  rows: Record<string, string> = {},
): Promise<{ table: TableInput; id: number; ids: Record<string, number> }> {
  const table: TableInput = { id: nextId(), columns };
  await deploy(net, [table]);
  const ids: Record<string, number> = {};
  for (const [code, name] of Object.entries(rows)) ids[code] = (await create(net, table.id, { code, name })).svc_sk;
  return { table, id: table.id, ids };
}

/** The cursor after all that has happened so far. */
async function begin(table: number): Promise<string> {
  await marksPassed(net);
  return cursorOf(net.call, table);
}

/** The lines of the changes after a cursor. */
async function next(table: number, cursor: string, query = {}): Promise<string[]> {
  await marksPassed(net);
  return (await follow(net.call, table, cursor, query)).changes.map(lineOf);
}

describe('a change feed', () => {
  it('begins with an empty page and the cursor of now', async () => {
    const { id, ids } = await givenTable({ A: 'one' });
    await marksPassed(net);
    const first = await pageOf(net.call, id);
    expect(first).toEqual({ data: [], cursor: expect.any(String), has_more: false });
    await patch(net.call, id, ids.A as number, { name: 'two' });
    expect(await next(id, first.cursor)).toEqual(['updated A']);
  });

  it('has what happened to each record, where it comes from, and the record as it is', async () => {
    const { id, ids } = await givenTable({ A: 'one', B: 'one', C: 'one' });
    const cursor = await begin(id);
    net.rights.set(7, holding(['edit', 'account', 1]));
    const steward = net.as({ userId: 7, applicationId: 3 });
    await patch(steward, id, ids.A as number, { name: 'two' }, { 'x-request-id': 'request-0001' });
    await patch(steward, id, ids.A as number, { size: 3 }, { 'x-request-id': 'request-0002' });
    await remove(net.as({ applicationId: 3 }), id, [ids.B as number]);
    const made = await create(net, id, { code: 'D', name: 'new' });
    await marksPassed(net);
    const { changes } = await follow(net.call, id, cursor);
    const by = { channel: 'api', change_request: null, key_before: null, key_after: null };
    expect(changes).toEqual([
      {
        ...by,
        change: 'deleted',
        svc_sk: ids.B,
        svc_version: 2,
        at: expect.any(String),
        key: { code: 'B' },
        user_id: null,
        application_id: 3,
        request_id: expect.any(String),
        record: expect.objectContaining({ svc_sk: ids.B, svc_is_deleted: true, code: 'B', name: 'one' }),
      },
      {
        ...by,
        change: 'updated',
        svc_sk: ids.A,
        svc_version: 3,
        at: expect.any(String),
        key: { code: 'A' },
        user_id: 7,
        application_id: null,
        request_id: 'request-0002',
        record: expect.objectContaining({ svc_sk: ids.A, svc_version: 3, code: 'A', name: 'two', size: 3 }),
      },
      {
        ...by,
        change: 'created',
        svc_sk: made.svc_sk,
        svc_version: 1,
        at: made.svc_updated_at,
        key: { code: 'D' },
        user_id: null,
        application_id: null,
        request_id: expect.any(String),
        record: made,
      },
    ]);
  });

  it('moves its cursor when nothing has changed', async () => {
    const { id } = await givenTable();
    const first = await begin(id);
    await marksPassed(net);
    const { data, cursor, has_more } = await pageOf(net.call, id, { after: first });
    expect([data, has_more, cursor === first]).toEqual([[], false, false]);
  });

  it('takes the mark of an export as a cursor, in the middle of what goes on', async () => {
    const { id, ids } = await givenTable({ A: 'one', B: 'two' });
    const copy = new CopyByKey();
    const { mark } = await read(net, id);
    for (const record of (await net.call('GET', `/api/v1/table_data?table_definition_id=${id}`)).body.data)
      copy.apply([{ change: 'created', key: { code: record.code }, record } as unknown as Change]);
    await remove(net.call, id, [ids.A as number]);
    await create(net, id, { code: 'C', name: 'three' });
    await marksPassed(net);
    copy.apply((await follow(net.call, id, mark)).changes);
    expect(copy.content.map(({ code, name }) => [code, name])).toEqual([
      ['B', 'two'],
      ['C', 'three'],
    ]);
  });
});

describe('the net changes', () => {
  it('of a changed key are the old key, deleted, and the record with both', async () => {
    const { id, ids } = await givenTable({ A: 'x' });
    const cursor = await begin(id);
    await patch(net.call, id, ids.A as number, { code: 'B' });
    await patch(net.call, id, ids.A as number, { code: 'C', name: 'y' });
    expect(await next(id, cursor)).toEqual(['deleted A to C', 'deleted B to C', 'updated C from A']);
    const later = await begin(id);
    await patch(net.call, id, ids.A as number, { code: 'D' });
    await patch(net.call, id, ids.A as number, { code: 'C' });
    expect(await next(id, later)).toEqual(['deleted D to C', 'updated C']);
    const last = await begin(id);
    await patch(net.call, id, ids.A as number, { code: 'E' });
    await remove(net.call, id, [ids.A as number]);
    expect(await next(id, last)).toEqual(['deleted C', 'deleted E']);
  });

  it('of swapped keys are two updates, and no deletion of either', async () => {
    const { id, ids } = await givenTable({ A: 'one', B: 'two' });
    const cursor = await begin(id);
    await patch(net.call, id, ids.A as number, { code: 'X' });
    await patch(net.call, id, ids.B as number, { code: 'A' });
    await patch(net.call, id, ids.A as number, { code: 'B' });
    expect(await next(id, cursor)).toEqual(['deleted X to B', 'updated B from A', 'updated A from B']);
    await marksPassed(net);
    const { changes } = await follow(net.call, id, cursor);
    for (const copy of [new CopyByKey(), new CopyById()]) {
      copy.apply(changes);
      expect(copy.content.map(({ code, name }) => [code, name])).toEqual([
        ['B', 'one'],
        ['A', 'two'],
      ]);
    }
  });

  it('of a key that was deleted and created again are its new record alone', async () => {
    const { id, ids } = await givenTable({ A: 'old' });
    const cursor = await begin(id);
    await remove(net.call, id, [ids.A as number]);
    const between = await create(net, id, { code: 'A', name: 'between' });
    await remove(net.call, id, [between.svc_sk]);
    const made = await create(net, id, { code: 'A', name: 'new' });
    await marksPassed(net);
    const { changes } = await follow(net.call, id, cursor);
    expect(changes.map(lineOf)).toEqual(['updated A']);
    expect(changes[0]?.record).toEqual(made);
  });

  it('of a key that came and went are its deletion: a copy may be younger than its mark', async () => {
    const { id } = await givenTable();
    const cursor = await begin(id);
    const made = await create(net, id, { code: 'A' });
    await remove(net.call, id, [made.svc_sk]);
    expect(await next(id, cursor)).toEqual(['deleted A']);
  });

  it('of a table without a key are by svc_sk', async () => {
    const id = nextId();
    await deploy(net, [{ id, columns: [{ name: 'x' }] }]);
    const [a, b] = [await create(net, id, { x: 'a' }), await create(net, id, { x: 'a' })];
    const cursor = await begin(id);
    await patch(net.call, id, a.svc_sk, { x: 'b' });
    await remove(net.call, id, [b.svc_sk]);
    await marksPassed(net);
    const { changes } = await follow(net.call, id, cursor);
    expect(changes.map(({ change, key }) => [change, key])).toEqual([
      ['deleted', { svc_sk: b.svc_sk }],
      ['updated', { svc_sk: a.svc_sk }],
    ]);
  });

  it('show exact numbers on demand, in keys too', async () => {
    const id = nextId();
    const long = '9007199254740993';
    await deploy(net, [
      {
        id,
        columns: [
          { name: 'id', data_type: 'bigint', is_primary_key: true },
          { name: 'amount', data_type: 'decimal', length: 28, scale: 10 },
        ],
      },
    ]);
    const cursor = await begin(id);
    await create(net, id, { id: long, amount: '123456789012345678.0123456789' });
    await marksPassed(net);
    const { changes } = await follow(net.call, id, cursor, { exact_numbers: 'true' });
    expect(changes[0]).toMatchObject({
      key: { id: long },
      record: { id: long, amount: '123456789012345678.0123456789' },
    });
    const rounded = await follow(net.call, id, cursor);
    expect(typeof rounded.changes[0]?.key.id).toBe('number');
  });
});

describe('every channel', () => {
  const channelsOf = async (id: number, cursor: string, versions = 'net') => {
    await marksPassed(net);
    const { changes } = await follow(net.call, id, cursor, { versions });
    return changes.map((change) => [lineOf(change), change.channel]);
  };

  it('is in the feed: batches, sets and undos', async () => {
    const { id } = await givenTable({ A: 'one', B: 'two' });
    const cursor = await begin(id);
    await edit(net, id, { A: { name: 'x' }, B: null, C: { name: 'c' } });
    expect(await channelsOf(id, cursor)).toEqual([
      ['deleted B', 'api'],
      ['updated A', 'api'],
      ['created C', 'api'],
    ]);
    const later = await begin(id);
    const headers = { 'x-request-id': 'request-set-1' };
    const set = { table_definition_id: id, filterModel: equals('name', 'x'), expected_count: 1, set: { name: 'y' } };
    expect((await net.call('POST', '/api/v1/table_data/update_where', set, headers)).status).toBe(200);
    expect(await channelsOf(id, later)).toEqual([['updated A', 'api']]);
    const undone = await begin(id);
    const undo = { table_definition_id: id, request_id: 'request-set-1' };
    expect((await net.call('POST', '/api/v1/table_data/undo', undo)).status).toBe(200);
    expect(await channelsOf(id, undone)).toEqual([['updated A', 'undo']]);
  });

  it('is in the feed: imports, which delete and create, with their request', async () => {
    const { id } = await givenTable({ A: 'one', B: 'two' });
    const cursor = await begin(id);
    const file_columns = ['code', 'name', 'size'];
    await load(net, id, 'A,new,1\nC,c,3\n', { file_columns, pattern: 'full', allow_mass_delete: true });
    await marksPassed(net);
    const { changes } = await follow(net.call, id, cursor);
    expect(changes.map((change) => [lineOf(change), change.channel, typeof change.request_id])).toEqual([
      ['deleted B', 'import', 'string'],
      ['updated A', 'import', 'string'],
      ['created C', 'import', 'string'],
    ]);
  });

  it('is in the feed: promotions', async () => {
    const { table, id } = await givenTable({ A: 'one', B: 'two' });
    const copy = copyOf(table);
    await deploy(net, [copy]);
    await edit(net, copy.id, { A: { name: 'x' }, B: null, C: { name: 'c' } });
    const cursor = await begin(id);
    await merge(net, [[copy.id, id]]);
    expect(await channelsOf(id, cursor)).toEqual([
      ['deleted B', 'promotion'],
      ['updated A', 'promotion'],
      ['created C', 'promotion'],
    ]);
  });

  it('is in the feed: change requests, with theirs', async () => {
    const { table, id, ids } = await givenTable({ A: 'one', B: 'two' });
    const cursor = await begin(id);
    const request = nextRequest();
    await givenRequest(net, request, [
      { table, kind: 'update', id: ids.A as number, cells: { name: 'x' } },
      { table, kind: 'delete', id: ids.B as number },
      { table, kind: 'create', cells: { code: 'C', name: 'c' } },
    ]);
    await apply(net, request);
    await marksPassed(net);
    const { changes } = await follow(net.call, id, cursor);
    expect(changes.map((change) => [lineOf(change), change.channel, change.change_request?.id])).toEqual([
      ['deleted B', 'change_request', request],
      ['updated A', 'change_request', request],
      ['created C', 'change_request', request],
    ]);
  });

  it('is in the feed: restorations and reversions', async () => {
    const { id, ids } = await givenTable({ A: 'one', B: 'two' });
    await remove(net.call, id, [ids.A as number]);
    await patch(net.call, id, ids.B as number, { name: 'three' });
    const cursor = await begin(id);
    await restore(net.call, id, [ids.A as number]);
    await revert(net.call, id, ids.B as number, 1);
    expect(await channelsOf(id, cursor)).toEqual([
      ['created A', 'restore'],
      ['updated B', 'revert'],
    ]);
    expect(await channelsOf(id, cursor, 'all')).toEqual([
      ['created A', 'restore'],
      ['updated B', 'revert'],
    ]);
  });

  it('is in the feed: deployments that rewrite values, in the columns of today', async () => {
    const { table, id } = await givenTable({ A: 'a long name', B: 'short' });
    const cursor = await begin(id);
    const shorter = { name: 'short_name', length: 20, data_type: 'string', lineage_id: id * 1000 + 2 };
    const key = { ...codeColumn, lineage_id: id * 1000 + 1 };
    await deploy(net, [{ ...table, version: 2, columns: [key, shorter] }]);
    expect(await channelsOf(id, cursor)).toEqual([]);
    await net.call('POST', '/api/v1/table_data', { table_definition_id: id, record: { code: 'C', short_name: '12' } });
    const later = await begin(id);
    await deploy(net, [{ ...table, version: 3, columns: [key, { name: 'more', lineage_id: id * 1000 + 4 }] }]);
    await marksPassed(net);
    const { changes } = await follow(net.call, id, later);
    expect(changes.map((change) => [lineOf(change), change.channel, Object.keys(change.record).slice(-2)])).toEqual([
      ['updated A', 'deployment', ['code', 'more']],
      ['updated B', 'deployment', ['code', 'more']],
      ['updated C', 'deployment', ['code', 'more']],
    ]);
  });
});

describe('each version', () => {
  it('is in the order of time, with what it changed of the key', async () => {
    const { id, ids } = await givenTable({ A: 'one', B: 'two' });
    const cursor = await begin(id);
    await patch(net.call, id, ids.A as number, { code: 'X' });
    await remove(net.call, id, [ids.B as number]);
    const made = await create(net, id, { code: 'B' });
    await patch(net.call, id, ids.A as number, { code: 'A', name: 'x' });
    await remove(net.call, id, [made.svc_sk]);
    await restore(net.call, id, [ids.B as number]);
    const expected = ['updated X from A', 'deleted B', 'created B', 'updated A from X', 'deleted B', 'created B'];
    expect(await next(id, cursor, { versions: 'all' })).toEqual(expected);
    expect(await next(id, cursor, { versions: 'all', limit: 1 })).toEqual(expected);
  });

  it('of one time are deletions first, so that a key is free before it is taken', async () => {
    const { table, id, ids } = await givenTable({ A: 'one', Z: 'z' });
    await remove(net.call, id, [ids.A as number]);
    const second = await create(net, id, { code: 'A', name: 'second' });
    const cursor = await begin(id);
    // One time for all: the earlier row takes the key of the later one.
    const request = nextRequest();
    await givenRequest(net, request, [
      { table, kind: 'delete', id: second.svc_sk },
      { table, kind: 'restore', id: ids.A as number },
    ]);
    await apply(net, request);
    expect(await next(id, cursor, { versions: 'all' })).toEqual(['deleted A', 'created A']);
    expect(await next(id, cursor, { versions: 'all', limit: 1 })).toEqual(['deleted A', 'created A']);
    expect(await next(id, cursor)).toEqual(['updated A']);
  });
});

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

describe('a cursor', () => {
  it('from before the kept history is 410, and says what to do', async () => {
    const { id, ids } = await givenTable({ A: 'one' });
    const cursor = await begin(id);
    await patch(net.call, id, ids.A as number, { name: 'x' });
    await patch(net.call, id, ids.A as number, { name: 'y' });
    await marksPassed(net);
    const amid = (await pageOf(net.call, id, { after: cursor, limit: 1, versions: 'all' })).cursor;
    const since = new Date(Date.now() + 1000).toISOString();
    await net.query('update deployed_table set history_since = $2 where table_definition_id = $1', [id, since]);
    const message = `What changed in Table ${id} is known since ${since} only. Make a full export and go on from its next_high_water_mark.`;
    const expired = {
      status: 410,
      body: {
        error: 'Expired',
        problems: [{ code: 'cursor_expired', message, field: 'after', params: { minimum: since } }],
      },
    };
    expect(await ask(net.call, id, { after: cursor })).toMatchObject(expired);
    expect(await ask(net.call, id, { after: amid, versions: 'all' })).toMatchObject(expired);
  });

  it('from before another primary key is 410', async () => {
    const { table, id } = await givenTable({ A: 'one' });
    const cursor = await begin(id);
    const [code, name] = [
      { name: 'code', length: 10, lineage_id: id * 1000 + 1 },
      { name: 'name', length: 20, is_primary_key: true, lineage_id: id * 1000 + 2 },
    ];
    await deploy(net, [{ ...table, version: 2, columns: [code, name] }]);
    expect(await ask(net.call, id, { after: cursor })).toMatchObject({
      status: 410,
      body: { problems: [{ code: 'cursor_expired', field: 'after' }] },
    });
    expect(await next(id, await begin(id))).toEqual([]);
  });

  it('of a table that was removed and deployed again is 410', async () => {
    const { table, id } = await givenTable({ A: 'one' });
    const cursor = await begin(id);
    await net.metadata.DropTable(caller, { table_definition_id: id });
    await deploy(net, [table]);
    await marksPassed(net);
    expect((await ask(net.call, id, { after: cursor })).status).toBe(410);
  });

  it('of another table, of another form amid its pages, in the future or of no form at all is 400', async () => {
    const [one, two] = [await givenTable(), await givenTable()];
    const cursor = await begin(one.id);
    for (const code of ['A', 'B']) await create(net, one.id, { code });
    await marksPassed(net);
    const amid = (await pageOf(net.call, one.id, { after: cursor, limit: 1 })).cursor;
    const refused = (field: string) => ({ status: 400, body: { problems: [{ field }] } });
    expect(await ask(net.call, two.id, { after: cursor })).toMatchObject(refused('after'));
    expect(await ask(net.call, one.id, { after: amid, versions: 'all' })).toMatchObject(refused('after'));
    expect((await ask(net.call, one.id, { after: cursor, versions: 'all' })).status).toBe(200);
    for (const after of ['', 'x', '2999-01-01T00:00:00Z', 'bnVsbA', `${cursor}x`.repeat(3)])
      expect(await ask(net.call, one.id, { after })).toMatchObject(refused('after'));
    expect(await ask(net.call, one.id, { versions: 'some' })).toMatchObject(refused('versions'));
  });
});

it('a feed takes the right to view the table, of the account', async () => {
  const { id } = await givenTable();
  net.rights.set(8, { license_type: 'developer', permissions: [] });
  net.rights.set(9, holding(['view', 'table_definition', id]));
  expect((await ask(net.as({ userId: 8 }), id)).status).toBe(403);
  expect((await ask(net.as({ userId: 9 }), id)).status).toBe(200);
  const cursor = await cursorOf(net.call, id);
  for (const query of [{}, { after: cursor }] as Record<string, string>[])
    expect((await ask(net.as({ accountId: 2 }), id, query)).status).toBe(404);
});
