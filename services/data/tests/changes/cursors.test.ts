// The cursors of a change feed: which are refused, and to whom a feed is shown.
import { caller, create, deploy, holding } from '../given.ts';
import { net, useData } from '../running-data.ts';
import { marksPassed, patch } from '../versions.ts';
import { ask, cursorOf, pageOf } from './feed.ts';
import { begin, givenTable, next } from './followed-tables.ts';

useData();

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
