// POST /table_data/batch: many writes of one table, all or nothing; one answer names every problem.
import { create } from '../../given.ts';
import { added, changed, deletion, type Op } from '../../operations.ts';
import { net, useData } from '../../running-data.ts';
import { gaps, remove, versionsOf } from '../../versions.ts';
import { batch, codesOf, expectRefused, givenRows, givenTable, rowsOf } from './batches.ts';

useData();

describe('a batch', () => {
  it('creates, changes and deletes, and answers the rows as single calls would', async () => {
    const table = await givenTable([
      { name: 'x', length: 10 },
      { name: 'n', data_type: 'decimal', length: 12, scale: 2 },
      { name: 'at', data_type: 'datetime' },
      { name: 'j', data_type: 'json' },
      { name: 't', data_type: 'time' },
      { name: 'u', data_type: 'uuid' },
      { name: 'b', data_type: 'boolean' },
      { name: 'big', data_type: 'bigint' },
    ]);
    const [a, b, c, d] = (await givenRows(table, 'A', 'B', 'C', 'D')) as [number, number, number, number];
    await remove(net.call, table, [d]);
    const values = {
      x: '"{,}\\',
      n: '12345.60',
      at: '2024-01-01T02:00:00.5+02:00',
      j: { a: [null, '"', { b: 1.5 }] },
      t: '07:30',
      u: '0F8FAD5B-D9CB-469F-A165-70867728950E',
      b: true,
      big: '9223372036854775807',
    };
    const answer = await batch(table, [
      deletion(c),
      changed(b, { x: 'b', n: null }),
      added({ code: 'E', ...values }),
      changed(a, { j: null, code: 'AA' }),
      deletion(d),
      added({ code: 'F' }),
    ]);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        created: [{ code: 'E' }, { code: 'F', x: null, j: null }],
        updated: [
          { svc_sk: b, svc_version: 2, code: 'B', x: 'b' },
          { svc_sk: a, svc_version: 2, code: 'AA' },
        ],
        deleted_count: 1,
        message: '2 records created, 2 records updated, 1 record deleted',
      },
    });
    const rows = await rowsOf(table);
    expect(rows).toEqual([answer.body.updated[1], answer.body.updated[0], ...answer.body.created]);
    const single = await create(net, table, { code: 'G', ...values });
    const own = (row: Op) => Object.entries(row).filter(([name]) => !/^(svc_.*|code)$/.test(name));
    expect(own(answer.body.created[0])).toEqual(own(single));
    expect(Object.keys(answer.body.created[0])).toEqual(Object.keys(single));
    expect(await gaps(net, table)).toEqual([]);
  });

  it('leaves versions with their caller, channel, request and time: all at one time', async () => {
    const table = await givenTable();
    const [a, b] = (await givenRows(table, 'A', 'B')) as [number, number];
    net.rights.set(7, {
      license_type: 'developer',
      permissions: [{ action: 'edit', resource_type: 'account', resource_id: 1 }],
    });
    const call = net.as({ userId: 7 });
    const { body } = await batch(table, [changed(a, { x: 'new' }), deletion(b), added({ code: 'C' })], {}, call);
    const versions = await Promise.all([a, b, body.created[0].svc_sk].map((id) => versionsOf(net.call, table, id)));
    const newest = versions.map(([version]) => version);
    expect(newest.map(({ action, channel, user_id }) => [action, channel, user_id])).toEqual([
      ['updated', 'api', 7],
      ['deleted', 'api', 7],
      ['created', 'api', 7],
    ]);
    expect(new Set(newest.map(({ request_id, valid_from }) => `${request_id} ${valid_from}`)).size).toBe(1);
    expect(newest[0].changed_columns).toEqual(['x']);
  });

  it('changes in each row only the columns that its operation names', async () => {
    const table = await givenTable([{ name: 'x' }, { name: 'y', data_type: 'integer' }]);
    const ids = await givenRows(table, 'A', 'B', 'C');
    await batch(
      table,
      ids.map((id) => changed(id, { x: 'old', y: 1 })),
    );
    await batch(table, [changed(ids[0], { x: 'new' }), changed(ids[1], { y: 2 }), changed(ids[2], { x: null, y: 3 })]);
    expect((await rowsOf(table)).map((row: Op) => [row.x, row.y])).toEqual([
      ['new', 1],
      ['old', 2],
      [null, 3],
    ]);
  });

  it('names its table by key and branch as well', async () => {
    const table = await givenTable([], { key: 'named_by_key' });
    const body = { table_definition_key: 'named_by_key', branch_id: 1, operations: [added({ code: 'A' })] };
    expect((await net.call('POST', '/api/v1/table_data/batch', body)).status).toBe(200);
    expect(await codesOf(table)).toEqual(['A']);
  });

  it('takes 1 to 1,000 operations', async () => {
    const table = await givenTable();
    const many = (count: number) => Array.from({ length: count }, (_, n) => added({ code: String(n) }));
    expect((await batch(table, many(1001))).status).toBe(400);
    expect((await batch(table, [])).status).toBe(400);
    const { status, body } = await batch(table, many(1000));
    expect([status, body.created.map((row: Op) => row.code)]).toEqual([200, many(1000).map((_, n) => String(n))]);
    const all = body.created.map((row: Op) => deletion(row.svc_sk, 1));
    expect((await batch(table, all)).body.deleted_count).toBe(1000);
  });

  it('takes rows of as many columns as a table can have', async () => {
    const columns = Array.from({ length: 199 }, (_, n) => ({ name: `c${n}`, data_type: 'integer' }));
    const table = await givenTable(columns);
    const record = (from: number) => Object.fromEntries(columns.map(({ name }, n) => [name, from + n]));
    const { body } = await batch(table, [added({ code: 'A', ...record(1) }), added({ code: 'B' })]);
    const [a, b] = body.created;
    const update = await batch(table, [changed(a.svc_sk, { c7: 0 }), changed(b.svc_sk, record(5))]);
    expect(update.body.updated).toMatchObject([{ ...record(1), c7: 0 }, record(5)]);
  });

  it.each<[string, unknown]>([
    ['no list', 'create'],
    ['an operation that is none', [{ operation: 'merge', record: {} }]],
    ['an operation that is no object', [null]],
    ['a creation with an id', [{ operation: 'create', id: 1, record: {} }]],
    ['a creation without a record', [{ operation: 'create' }]],
    ['a record that is a list', [{ operation: 'create', record: [] }]],
    ['a change without an id', [{ operation: 'update', record: {} }]],
    ['an id that is text', [{ operation: 'delete', id: '1' }]],
    ['an id that is no integer', [{ operation: 'delete', id: 1.5 }]],
    ['a deletion with a record', [{ operation: 'delete', id: 1, record: {} }]],
    ['a version that is none', [{ operation: 'delete', id: 1, version: 0 }]],
    ['a version of text', [{ operation: 'update', id: 1, record: {}, version: '1' }]],
  ])('answers 400 to %s', async (_, operations) => {
    expect((await batch(await givenTable(), operations)).status).toBe(400);
  });

  it('answers 400 to two operations on the same row, naming both', async () => {
    const table = await givenTable();
    const [a, b] = await givenRows(table, 'A', 'B');
    await expectRefused(table, [deletion(a), deletion(b), changed(a, { x: 'y' })], 400, [
      `Operation 2: record ${a} is named by operation 0 already`,
    ]);
  });

  it('requires the right to edit, and finds no table of another account', async () => {
    const table = await givenTable();
    const view = [{ action: 'view', resource_type: 'account', resource_id: 1 }];
    net.rights.set(11, { license_type: 'developer', permissions: view });
    const operations = [added({ code: 'A' })];
    expect((await batch(table, operations, {}, net.as({ userId: 11 }))).status).toBe(403);
    expect((await batch(table, operations, {}, net.as({ accountId: 2 }))).status).toBe(404);
    expect(await codesOf(table)).toEqual([]);
  });

  it('is done once for one Idempotency-Key', async () => {
    const table = await givenTable();
    const [a] = await givenRows(table, 'A');
    const operations = [changed(a, { x: 'once' }, 1), added({ code: 'B' })];
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => batch(table, operations, { 'idempotency-key': 'b' })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect((await batch(table, [deletion(a)], { 'idempotency-key': 'b' })).status).toBe(422);
    expect(await codesOf(table)).toEqual(['A', 'B']);
  });
});
