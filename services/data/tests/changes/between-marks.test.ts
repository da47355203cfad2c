// The changes between two high-water marks over gRPC, as messages of webhooks have them.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { read } from '../files.ts';
import { create, failureOf } from '../given.ts';
import { net, useData } from '../running-data.ts';
import { marksPassed, patch, remove } from '../versions.ts';
import { cursorOf, follow } from './feed.ts';
import { givenTable } from './followed-tables.ts';

/** As jobs calls for an account, without a person or an application. */
const ofSystem: RpcCaller = { accountId: 1 };

useData();

const markOf = async (table: number) => {
  await marksPassed(net);
  return (await read(net, table)).mark;
};

type Bounds = { after: string; until: string; most?: number; most_bytes?: number };
const between = async (
  table: number,
  { most = 100, most_bytes = 100_000, ...marks }: Bounds,
  by: RpcCaller = ofSystem,
) => {
  const request = { table_definition_id: table, ...marks, most, most_bytes };
  const { changes } = await net.jobs.ListChanges(by, request);
  return changes === undefined ? undefined : JSON.parse(changes);
};

describe('the changes between two marks', () => {
  it('are the net ones that the feed has of them, and no later ones', async () => {
    const { id, ids } = await givenTable({ A: '1', B: '2', C: '3' });
    const after = await markOf(id);
    const cursor = await cursorOf(net.call, id);
    await patch(net.call, id, ids.A as number, { name: 'once' });
    await patch(net.call, id, ids.A as number, { name: 'twice' });
    await patch(net.call, id, ids.B as number, { code: 'D' });
    await remove(net.call, id, [ids.C as number]);
    const until = await markOf(id);
    const { changes } = await follow(net.call, id, cursor);
    expect(changes).toHaveLength(4);
    await patch(net.call, id, ids.A as number, { name: 'later' });
    await create(net, id, { code: 'E' });
    await marksPassed(net);
    expect(await between(id, { after, until })).toEqual(changes);
    expect(await between(id, { after: until, until })).toEqual([]);
    expect(await between(id, { after, until, most: 4 })).toEqual(changes);
    expect(await between(id, { after, until, most: 3 })).toBeUndefined();
    const bytes = Buffer.byteLength(JSON.stringify(changes));
    expect(await between(id, { after, until, most_bytes: bytes - 1 })).toBeUndefined();
  });

  it('are those of the own account, between instants', async () => {
    const { id } = await givenTable();
    const mark = await markOf(id);
    const marks = { after: mark, until: mark };
    expect(await failureOf(between(id, marks, { accountId: 2 }))).toMatchObject({ kind: 'not_found' });
    expect(await failureOf(between(id, { ...marks, until: 'now' }))).toMatchObject({ kind: 'bad_request' });
  });
});
