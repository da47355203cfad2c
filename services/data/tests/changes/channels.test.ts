// Every channel by which rows change is in the change feed of a table.
import { apply, givenRequest, nextRequest } from '../change-requests/application/applied-requests.ts';
import { load } from '../files.ts';
import { deploy } from '../given.ts';
import { codeColumn, copyOf, edit, merge } from '../merges/row-merges.ts';
import { equals } from '../records/sets/sets.ts';
import { net, useData } from '../running-data.ts';
import { marksPassed, patch, remove, restore, revert } from '../versions.ts';
import { follow, lineOf } from './feed.ts';
import { begin, givenTable } from './followed-tables.ts';

useData();

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
