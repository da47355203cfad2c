// POST /table_data/update_where and /table_data/delete_where: all rows of a filter, all or nothing.

import { limits } from '@almanac/service-kit/limits';
import { samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { eventually } from '@almanac/testkit/eventually';
import { anyPayload, startBus } from '@almanac/testkit/messaging/bus';
import pg from 'pg';
import { create, type DataNet, deploy, givenData } from '../../given.ts';
import { gaps, remove, versionsOf } from '../../versions.ts';
import { equals, given, givenItems, isNumber, rowsOf, stateOf, write } from './sets.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const update = (table: number, body: object, headers = {}, call = net.call) =>
  write(call, 'update_where', table, body, headers);
const deletion = (table: number, body: object, headers = {}, call = net.call) =>
  write(call, 'delete_where', table, body, headers);

async function expectRefused(table: number, answer: () => Promise<{ status: number; body: unknown }>, wanted: object) {
  const before = await stateOf(net, table);
  expect(await answer()).toMatchObject(wanted);
  expect(await stateOf(net, table)).toBe(before);
}

const allow = (userId: number, ...actions: string[]) =>
  net.rights.set(userId, {
    license_type: 'developer',
    permissions: actions.map((action) => ({ action, resource_type: 'account', resource_id: 1 })) as never,
  });

describe('update_where', () => {
  it('gives all rows of the filter the values, and counts those that changed', async () => {
    const { items } = await givenItems(net, ['A', 'B', 'C', 'D', 'E']);
    const answer = await update(items, {
      filterModel: { n: { filterType: 'number', type: 'lessThan', filter: 2 } },
      set: { x: 'a', n: 3 },
      expected_count: 3,
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { matched: 3, updated_count: 3, message: '3 records updated' },
    });
    const rows = await rowsOf(net, items);
    expect(rows.map((row: { code: string; x: string; n: number }) => [row.code, row.x, row.n])).toEqual([
      ['A', 'a', 3],
      ['B', 'a', 3],
      ['C', 'c', 2],
      ['D', 'd', 3],
      ['E', 'a', 3],
    ]);
    expect(await gaps(net, items)).toEqual([]);
  });

  it('takes the rows that a search finds, in their texts and in the labels of what they refer to', async () => {
    const { items, kinds } = await givenItems(net, ['A', 'B', 'C']);
    await update(kinds, { filterModel: equals('code', 'L'), set: { label: 'Large' }, expected_count: 1 });
    await update(items, { filterModel: equals('code', 'B'), set: { kind: 'L' }, expected_count: 1 });
    const search = { q: 'large', set: { n: 3 } };
    const grid = await net.call('POST', '/api/v1/table_data/grid', {
      ...{ table_definition_id: items, startRow: 0, endRow: 10 },
      q: 'large',
    });
    expect(await update(items, { ...search, dry_run: true })).toMatchObject({
      body: { matched: grid.body.rowCount, would_change: 1, problems: [] },
    });
    const label = { 'kind.$label': { filterType: 'text', type: 'startsWith', filter: 'Lar' } };
    expect((await update(items, { filterModel: label, set: { n: 2 }, dry_run: true })).body.matched).toBe(1);
    expect((await update(items, { ...search, expected_count: 1 })).body).toMatchObject({ updated_count: 1 });
    expect((await rowsOf(net, items)).map(({ n }: { n: number }) => n)).toEqual([0, 3, 2]);
    expect(await update(items, { q: ' ', set: { n: 1 }, expected_count: 3 })).toMatchObject({ status: 400 });
    expect((await deletion(items, { q: 'large', expected_count: 1 })).body).toMatchObject({ deleted_count: 1 });
  });

  it('leaves versions of one caller, request and time, and rows that have the values as they are', async () => {
    const { items } = await givenItems(net, ['A', 'B', 'C']);
    allow(7, 'edit');
    const set = { x: 'a' };
    const answer = await update(items, { all: true, set, expected_count: 3 }, {}, net.as({ userId: 7 }));
    expect(answer.body).toEqual({ matched: 3, updated_count: 2, message: '2 records updated' });
    const [a, b, c] = await rowsOf(net, items);
    expect(a.svc_version).toBe(1);
    const [own] = await versionsOf(net.call, items, b.svc_sk);
    const [other] = await versionsOf(net.call, items, c.svc_sk);
    expect(own).toMatchObject({ action: 'updated', channel: 'api', user_id: 7, changed_columns: ['x'] });
    expect(own.request_id).toBe(answer.headers.get('x-request-id'));
    expect(other).toMatchObject({ valid_from: own.valid_from, request_id: own.request_id });
  });

  it('empties a column, and finds no deleted row', async () => {
    const { items } = await givenItems(net, ['A', 'B']);
    const [a] = await rowsOf(net, items);
    await remove(net.call, items, [a.svc_sk]);
    expect((await update(items, { all: true, set: { x: null }, expected_count: 1 })).body).toMatchObject({
      matched: 1,
    });
    expect((await rowsOf(net, items, true)).map((row: { x: string }) => row.x)).toEqual(['a', null]);
  });

  it('changes nothing unless exactly the expected number matches, and tells the present one', async () => {
    const { items } = await givenItems(net, ['A', 'B', 'C']);
    for (const expected_count of [2, 4, 0])
      await expectRefused(items, () => update(items, { all: true, set: { x: 'y' }, expected_count }), {
        status: 422,
        body: {
          problems: [
            {
              code: 'not_reviewed',
              message: `3 records match, not ${expected_count}.`,
              field: 'expected_count',
              params: { count: 3 },
            },
          ],
        },
      });
    const none = { filterModel: equals('code', 'Z'), set: { x: 'y' }, expected_count: 0 };
    expect(await update(items, none)).toMatchObject({ status: 200, body: { matched: 0, updated_count: 0 } });
  });

  it('is 400 without a condition, unless all rows are named, and without a number', async () => {
    const { items } = await givenItems(net, ['A']);
    const bodies = [
      { set: { x: 'y' }, expected_count: 1 },
      { filterModel: {}, set: { x: 'y' }, expected_count: 1 },
      { filterModel: null, all: false, set: { x: 'y' }, expected_count: 1 },
      { filterModel: equals('code', 'A'), all: true, set: { x: 'y' }, expected_count: 1 },
      { filterModel: equals('code', 'A'), set: { x: 'y' } },
      { filterModel: equals('colour', 'A'), set: { x: 'y' }, expected_count: 1 },
      { filterModel: equals('code', 'A'), set: { x: 'y' }, expected_count: -1 },
      { filterModel: equals('code', 'A'), set: { x: 'y' }, expected_count: limits.rowsPerSetWrite + 1 },
      { filterModel: equals('code', 'A'), set: ['x'], expected_count: 1 },
      { filterModel: equals('code', 'A'), expected_count: 1 },
    ];
    for (const body of bodies) await expectRefused(items, () => update(items, body), { status: 400 });
  });

  it('checks the values as any write does', async () => {
    const { items } = await givenItems(net, ['A']);
    const set = { x: 'far too long a text', n: 7, code: null, colour: 'red', svc_version: 3 };
    await expectRefused(items, () => update(items, { all: true, set, expected_count: 1 }), {
      status: 422,
      body: {
        problems: [
          { code: 'too_long', column: 'x' },
          { code: 'not_in_list', column: 'n' },
          { code: 'blank', column: 'code' },
          { code: 'unknown_property', column: 'colour' },
          { code: 'read_only', column: 'svc_version' },
        ],
      },
    });
    await expectRefused(items, () => update(items, { all: true, set: {}, expected_count: 1 }), {
      status: 422,
      body: { problems: [{ code: 'blank', field: 'set' }] },
    });
  });

  it('names the rows whose reference has no target, and those that others refer to', async () => {
    const { items, kinds } = await givenItems(net, ['A', 'B']);
    const [a, b] = await rowsOf(net, items);
    await expectRefused(items, () => update(items, { all: true, set: { kind: 'Z' }, expected_count: 2 }), {
      status: 422,
      body: {
        problems: [a, b].map((row) => ({ code: 'invalid_reference', row: row.svc_sk, column: 'kind' })),
      },
    });
    const [k] = await rowsOf(net, kinds);
    const renamed = { filterModel: equals('code', 'K'), set: { code: 'M' }, expected_count: 1 };
    await expectRefused(kinds, () => update(kinds, renamed), {
      status: 422,
      body: {
        problems: [
          {
            code: 'still_referenced',
            message: `Record ${k.svc_sk}: it is still referred to by 2 records of Items`,
            row: k.svc_sk,
            params: { table: 'Items', table_definition_id: items, count: 2 },
          },
        ],
      },
    });
  });

  it('names the rows that would get a key that another row has, or gets', async () => {
    const { items } = await givenItems(net, ['A', 'B', 'C']);
    const [a, b, c] = await rowsOf(net, items);
    const one = { filterModel: equals('code', 'B'), set: { code: 'A' }, expected_count: 1 };
    await expectRefused(items, () => update(items, one), {
      status: 422,
      body: { problems: [{ code: 'taken', row: b.svc_sk, column: 'code' }] },
    });
    await expectRefused(items, () => update(items, { all: true, set: { code: 'Z' }, expected_count: 3 }), {
      status: 422,
      body: {
        problems: [b, c].map((row) => ({ code: 'taken', row: row.svc_sk, params: { row: a.svc_sk } })),
      },
    });
  });

  it('names a hundred rows and counts the others', async () => {
    const { items } = await givenItems(
      net,
      Array.from({ length: 130 }, (_, i) => `R${i}`),
    );
    const { status, body } = await update(items, { all: true, set: { kind: 'Z' }, expected_count: 130 });
    expect(status).toBe(422);
    expect(body.problems).toHaveLength(101);
    expect(body.problems.at(-1)).toMatchObject({ code: 'more_problems', params: { count: 30 } });
  });

  it('refuses a cycle of a hierarchy', async () => {
    const { items } = await givenItems(net, []);
    const tree = items + 5;
    await deploy(net, [
      {
        id: tree,
        columns: [
          { name: 'code', length: 5, is_primary_key: true },
          { name: 'parent', length: 5, foreign_key_table_id: tree, is_hierarchy: true },
        ],
      },
    ]);
    await given(net, tree, [{ code: 'A' }, { code: 'B', parent: 'A' }]);
    await expectRefused(tree, () => update(tree, { all: true, set: { parent: 'B' }, expected_count: 2 }), {
      status: 422,
      body: { problems: [{ code: 'cycle', column: 'parent' }] },
    });
  });

  it('answers a repeated request with its key once', async () => {
    const { items } = await givenItems(net, ['A', 'B']);
    const body = { filterModel: equals('x', 'a'), set: { x: 'z' }, expected_count: 1 };
    const headers = { 'idempotency-key': `update-${items}` };
    const first = await update(items, body, headers);
    expect(first.body).toMatchObject({ updated_count: 1 });
    expect(await update(items, body, headers)).toMatchObject({ status: 200, body: first.body });
    expect((await update(items, { ...body, set: { x: 'q' } }, headers)).status).toBe(422);
    // A refusal keeps nothing: the request may be corrected under its key.
    const other = { 'idempotency-key': `corrected-${items}` };
    expect((await update(items, body, other)).status).toBe(422);
    expect((await update(items, { ...body, expected_count: 0 }, other)).status).toBe(200);
  });

  it('is announced', async () => {
    const { items } = await givenItems(net, ['A', 'B']);
    const heard: Record<string, unknown>[] = [];
    const bus = await startBus(net.database.url, 'jobs');
    await bus.subscribe(
      samePayload(['data.rows.changed'], anyPayload),
      async ({ payload }) => void heard.push(payload),
    );
    await update(items, { all: true, set: { x: 'z' }, expected_count: 2 });
    await eventually(() => expect(heard).toContainEqual(expect.objectContaining({ table_definition_id: items })));
    await bus.stop();
  });

  it('waits for the writer of a row, and counts it as that one leaves it', async () => {
    const { items } = await givenItems(net, ['A', 'B']);
    const writer = new pg.Client({ connectionString: net.database.url });
    await writer.connect();
    try {
      await writer.query('begin');
      const first = `svc_sk = (select min(svc_sk) from b_1.t_${items})`;
      await writer.query(
        `update b_1.t_${items} set c_${items * 1000 + 2} = 'taken', svc_version = svc_version + 1 where ${first}`,
      );
      const answer = update(items, { filterModel: equals('x', 'a'), set: { x: 'z' }, expected_count: 1 });
      await eventually(async () => {
        const waiting = await net.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'with intent%' and datname = current_database()`,
        );
        expect(waiting).toHaveLength(1);
      });
      await writer.query('commit');
      expect(await answer).toMatchObject({ status: 422, body: { problems: [{ params: { count: 0 } }] } });
    } finally {
      await writer.end();
    }
  });
});

describe('delete_where', () => {
  it('deletes all rows of the filter', async () => {
    const { items } = await givenItems(net, ['A', 'B', 'C', 'D', 'E']);
    const answer = await deletion(items, { filterModel: isNumber('n', 0), expected_count: 2 });
    expect(answer).toMatchObject({
      status: 200,
      body: { matched: 2, deleted_count: 2, message: '2 records deleted' },
    });
    const rows = await rowsOf(net, items, true);
    expect(rows.map((row: { svc_is_deleted: boolean }) => row.svc_is_deleted)).toEqual([
      true,
      false,
      false,
      false,
      true,
    ]);
    const [version] = await versionsOf(net.call, items, rows[0].svc_sk);
    expect(version).toMatchObject({
      action: 'deleted',
      channel: 'api',
      request_id: answer.headers.get('x-request-id'),
    });
    expect(await gaps(net, items)).toEqual([]);
  });

  it('names the rows that others refer to; rows that refer to each other can go together', async () => {
    const { items, kinds } = await givenItems(net, ['A']);
    const [k] = await rowsOf(net, kinds);
    await expectRefused(kinds, () => deletion(kinds, { all: true, expected_count: 2 }), {
      status: 422,
      body: { problems: [{ code: 'still_referenced', row: k.svc_sk, params: { count: 1 } }] },
    });
    const tree = items + 5;
    await deploy(net, [
      {
        id: tree,
        columns: [
          { name: 'code', length: 5, is_primary_key: true },
          { name: 'parent', length: 5, foreign_key_table_id: tree },
        ],
      },
    ]);
    await given(net, tree, [{ code: 'A' }, { code: 'B', parent: 'A' }, { code: 'C', parent: 'B' }]);
    const two = { code: { filterType: 'set', values: ['A', 'B'] } };
    await expectRefused(tree, () => deletion(tree, { filterModel: two, expected_count: 2 }), {
      status: 422,
      body: { problems: [{ code: 'still_referenced', params: { count: 1 } }] },
    });
    expect((await deletion(tree, { all: true, expected_count: 3 })).status).toBe(200);
  });
});

describe('a dry run', () => {
  it('answers the counts and changes nothing', async () => {
    const { items } = await givenItems(net, ['A', 'B', 'C']);
    await expectRefused(items, () => update(items, { all: true, set: { x: 'a' }, dry_run: true }), {
      status: 200,
      body: { matched: 3, would_change: 2, problems: [] },
    });
    await expectRefused(items, () => deletion(items, { filterModel: equals('code', 'A'), dry_run: true }), {
      status: 200,
      body: { matched: 1, would_change: 1, problems: [] },
    });
  });

  it('has the problems that the write would be refused for', async () => {
    const { items, kinds } = await givenItems(net, ['A', 'B']);
    const [a] = await rowsOf(net, items);
    const runs: [number, string, object, object][] = [
      [items, 'update_where', { all: true, set: { x: 'a' }, expected_count: 3 }, { code: 'not_reviewed' }],
      [items, 'update_where', { all: true, set: { x: 'far too long a text' } }, { code: 'too_long', column: 'x' }],
      [items, 'update_where', { all: true, set: {} }, { code: 'blank', field: 'set' }],
      [items, 'update_where', { all: true, set: { kind: 'Z' } }, { code: 'invalid_reference', row: a.svc_sk }],
      [kinds, 'delete_where', { all: true }, { code: 'still_referenced' }],
    ];
    for (const [table, name, body, problem] of runs)
      await expectRefused(table, () => write(net.call, name, table, { ...body, dry_run: true }), {
        status: 200,
        body: { matched: 2, would_change: 0, problems: expect.arrayContaining([expect.objectContaining(problem)]) },
      });
  });
});

describe('whose rows they are', () => {
  it('asks for the right to edit, and hides tables of other accounts and of source', async () => {
    const { items } = await givenItems(net, ['A']);
    allow(8, 'view');
    const bodies = { update_where: { set: { x: 'y' } }, delete_where: {} };
    for (const [name, more] of Object.entries(bodies)) {
      const body = { all: true, expected_count: 1, ...more };
      await expectRefused(items, () => write(net.as({ userId: 8 }), name, items, body), { status: 403 });
      await expectRefused(items, () => write(net.as({ accountId: 2 }), name, items, body), { status: 404 });
    }
    const source = items + 5;
    await deploy(net, [{ id: source, columns: [{ name: 'code', length: 5, is_primary_key: true }] }]);
    await create(net, source, { code: 'A' });
    await deploy(net, [
      { id: source, load_type: 'source', version: 2, columns: [{ name: 'code', length: 5, is_primary_key: true }] },
    ]);
    const refused = { status: 422, body: { problems: [{ code: 'read_only' }] } };
    await expectRefused(source, () => update(source, { all: true, set: { code: 'B' }, expected_count: 1 }), refused);
    await expectRefused(source, () => deletion(source, { all: true, expected_count: 1, dry_run: true }), refused);
  });
});

it('writes 100,000 rows and no more', async () => {
  const { items } = await givenItems(net, []);
  const rows = limits.rowsPerSetWrite;
  await net.query(
    `insert into b_1.t_${items} (svc_created_at, svc_updated_at, c_${items * 1000 + 1})
     select now(), now(), to_char(i, 'FM00000') from generate_series(0, $1::int) i`,
    [rows - 1],
  );
  const set = { x: 'z' };
  const done = await update(items, { all: true, set, expected_count: rows });
  expect(done).toMatchObject({ status: 200, body: { matched: rows, updated_count: rows } });
  await create(net, items, { code: 'one' });
  await expectRefused(items, () => update(items, { all: true, set: { x: 'q' }, expected_count: rows }), {
    status: 422,
    body: { problems: [{ code: 'too_many', field: 'filterModel', params: { maximum: rows } }] },
  });
});
