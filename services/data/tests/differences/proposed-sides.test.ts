// Comparisons with a table as it would be: through a change request, and after a dry run.
import type { Call } from '@almanac/testkit/calls/call';
import { randomOf } from '@almanac/testkit/random';
import { openRequest, operationsOf, propose } from '../change-requests/requests.ts';
import { create, deploy } from '../given.ts';
import { edit, givenCopy, nextId } from '../merges/row-merges.ts';
import { added, changed, deletion, restoration } from '../operations.ts';
import { net, useData } from '../running-data.ts';
import { remove } from '../versions.ts';
import { compare, countsOf, type Difference, differencesOf, liveRows } from './comparing.ts';
import { clock, columns, givenTable, statusOf } from './sides.ts';

useData();

describe('a side through a change request', () => {
  it('has the rows as they would be, against the table now, at an instant and on another branch', async () => {
    const { main, copy } = await givenCopy(net, { a: { name: 'a', size: 1 }, b: { name: 'b', size: 1 } });
    const [a, b] = await liveRows(net.call, main.id);
    const before = b?.svc_updated_at as string;
    const request = await openRequest(net);
    await propose(net.call, request, main.id, [
      added({ code: 'n', name: 'new' }),
      changed(a?.svc_sk, { size: 5 }),
      deletion(b?.svc_sk),
    ]);
    const side = { change_request_id: request };
    const { status, body } = await compare(net.call, main.id, {}, side);
    const expected = [
      { kind: 'updated', key: { code: 'a' }, cells: { size: { from: 1, to: 5 } } },
      { kind: 'deleted', key: { code: 'b' }, cells: { name: { from: 'b', to: null }, size: { from: 1, to: null } } },
      { kind: 'created', key: { code: 'n' }, cells: { name: { from: null, to: 'new' } } },
    ];
    expect(status).toBe(200);
    expect(body).toMatchObject({ rows: expected, rowCount: 3, counts: { created: 1, updated: 1, deleted: 1 } });
    expect(body.rows[2]).toMatchObject({ id_left: null });
    expect(body.rows[2].id_right).toBeLessThan(0);
    expect((await compare(net.call, main.id, { as_of: before }, side)).body.rows).toMatchObject(expected);
    expect((await compare(net.call, main.id, side, side)).body.rows).toEqual([]);
    const back = (await compare(net.call, main.id, side, {})).body;
    expect(back.counts).toMatchObject({ created: 1, updated: 1, deleted: 1 });
    // On its branch, also when the named table is on another one.
    await edit(net, copy.id, { a: { size: 7 } });
    const { rows } = (await compare(net.call, copy.id, {}, side)).body;
    expect(rows).toMatchObject([{ ...expected[0], cells: { size: { from: 7, to: 5 } } }, expected[1], expected[2]]);
    const shown = {
      kinds: ['updated'],
      columns: ['name'],
      filterModel: { code: { filterType: 'text', type: 'equals', filter: 'b' } },
    };
    expect((await compare(net.call, main.id, {}, side, shown)).body).toMatchObject({
      rows: [],
      counts: { created: 0, updated: 0, deleted: 1 },
    });
  });

  it('shows a row whose key was taken in between as changed', async () => {
    const { table } = await givenTable();
    const request = await openRequest(net);
    await propose(net.call, request, table, [added({ code: 'x', name: 'mine', size: 1 })]);
    const { svc_sk } = await create(net, table, { code: 'x', name: 'theirs', size: 1 });
    expect((await compare(net.call, table, {}, { change_request_id: request })).body.rows).toMatchObject([
      { kind: 'updated', key: { code: 'x' }, id_left: svc_sk, cells: { name: { from: 'theirs', to: 'mine' } } },
    ]);
  });

  it('is that of a table without a key by its rows', async () => {
    const table = nextId();
    await deploy(net, [{ id: table, columns: [{ name: 'name', length: 9 }] }]);
    const { svc_sk } = await create(net, table, { name: 'old' });
    const request = await openRequest(net);
    await propose(net.call, request, table, [added({ name: 'more' }), changed(svc_sk, { name: 'new' })]);
    const { rows } = (await compare(net.call, table, {}, { change_request_id: request })).body;
    expect(rows.map(({ kind }: Difference) => kind).toSorted()).toEqual(['created', 'updated']);
  });

  it('is read by viewers, and by reviewers beside the present rows alone', async () => {
    const { table, ids } = await givenTable();
    const request = await openRequest(net);
    await propose(net.call, request, table, [changed(ids.a, { size: 5 })]);
    const may = (userId: number, ...permissions: { action: string; resource_type: string; resource_id: number }[]) => {
      net.rights.set(userId, { license_type: 'developer', permissions: permissions as never });
      return net.as({ userId });
    };
    const on = (action: string, resource_id: number, resource_type = 'table_definition') => ({
      ...{ action, resource_type, resource_id },
    });
    const side = { change_request_id: request };
    const answers = async (call: Call, left = {}) => (await compare(call, table, left, side)).status;
    expect(await answers(may(61, on('view', table)))).toBe(200);
    const reviewer = may(62, on('approve', 1, 'branch'));
    expect((await compare(reviewer, table, {}, side)).body.rows).toMatchObject([
      { cells: { size: { from: 1, to: 5 } } },
    ]);
    expect(await answers(reviewer, { as_of: '2026-01-01T00:00:00Z' })).toBe(403);
    expect(await answers(reviewer, { branch_id: 2 })).toBe(403);
    expect((await compare(reviewer, table, {}, {})).status).toBe(403);
    expect(await answers(may(63, on('approve', 2, 'branch')))).toBe(403);
    expect(await answers(may(64))).toBe(403);
  });

  it('is refused for another table, an unknown request, one that was applied, and beside other members', async () => {
    const { table } = await givenTable();
    const request = await openRequest(net);
    const elsewhere = await openRequest(net, { branchId: 2 });
    expect(await statusOf(compare(net.call, table, {}, { change_request_id: elsewhere }))).toEqual([
      ...[422, 'change_request_id', 'The change request is not of this table.'],
    ]);
    expect((await statusOf(compare(net.call, table, {}, { change_request_id: 2_000_000 })))[0]).toBe(404);
    const foreign = await openRequest(net, { accountId: 2 });
    expect((await statusOf(compare(net.call, table, { change_request_id: foreign }, {})))[0]).toBe(404);
    const both = { change_request_id: request, as_of: '2026-01-01T00:00:00Z' };
    expect(await statusOf(compare(net.call, table, {}, both))).toEqual([
      ...[400, 'right', 'right: change_request_id and import_table_id go without other members.'],
    ]);
    await net.query(
      `insert into applied_change_request (account_id, apply_id, change_request_id, result) values (1, 'done', $1, '{}')`,
      [request],
    );
    expect((await statusOf(compare(net.call, table, {}, { change_request_id: request })))[0]).toBe(422);
  });
});

it('random operations of a request differ from the table as the rows through it do', async () => {
  const seed = Number(process.env.PROPOSED_SEED ?? Date.now() % 1_000_000);
  console.log(`PROPOSED_SEED=${seed}`);
  const random = randomOf(seed);
  const { table } = await givenTable();
  const free = new Set(['d', 'e', 'f', 'g', 'h']);
  for (let n = 0; n < 12; n += 1) {
    const live = await liveRows(net.call, table);
    const request = await openRequest(net);
    const operations: unknown[] = [...free]
      .filter(() => random(2) === 0)
      .map((code) => added({ code, name: `n${random(2)}`, size: random(2) }));
    for (const row of live) {
      const how = random(4);
      if (how === 0) operations.push(deletion(row.svc_sk));
      if (how === 1) operations.push(changed(row.svc_sk, { name: `n${random(2)}`, size: random(2) }));
    }
    const [dead] = await net.query(
      `select svc_sk::int as id from b_1.t_${table} where svc_is_deleted order by random() limit 1`,
    );
    if (dead && random(2) === 0) operations.push(restoration(dead.id));
    if (operations.length === 0) continue;
    await propose(net.call, request, table, operations);
    const through = await liveRows(net.call, table, undefined, request);
    const keys = through.map(({ code }) => code);
    // A restored row may have the key of a new one; its request is not applied like that.
    if (new Set(keys).size < keys.length) continue;
    const expected = differencesOf(live, through, 'code', columns);
    const side = { change_request_id: request };
    const { body } = await compare(net.call, table, {}, side);
    expect({ seed, n, rows: body.rows, counts: body.counts }).toEqual({
      seed,
      n,
      rows: expected,
      counts: countsOf(expected),
    });
    const unequal = (await operationsOf(net.call, request)).length;
    expect(body.rowCount).toBeLessThanOrEqual(unequal);
    // The rows of the whole table instead of those that are touched.
    const at = { as_of: await clock() };
    expect((await compare(net.call, table, at, side)).body.rows).toEqual(expected);
    for (const { svc_sk, code } of live.filter(() => random(5) === 0)) {
      await remove(net.call, table, [svc_sk as number]);
      free.add(code as string);
    }
    for (const code of [...free].filter(() => random(4) === 0)) {
      await create(net, table, { code, name: 'made', size: 9 });
      free.delete(code);
    }
  }
}, 300_000);
