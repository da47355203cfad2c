import { apply, givenRequest, nextRequest } from '../change-requests/application/applied-requests.ts';
import { read } from '../files.ts';
import { create, deploy, holding } from '../given.ts';
import { nextId } from '../merges/row-merges.ts';
import { net, useData } from '../running-data.ts';
import { marksPassed, patch, remove, restore } from '../versions.ts';
import { type Change, CopyById, CopyByKey, follow, lineOf, pageOf } from './feed.ts';
import { begin, givenTable, next } from './followed-tables.ts';

useData();

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
