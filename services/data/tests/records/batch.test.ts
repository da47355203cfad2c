// POST /table_data/batch: many writes of one table, all or nothing; one answer names every problem.
import { createHash } from 'node:crypto';
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { gaps, remove, versionsOf } from '../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

type Columns = TableInput['columns'];
type Op = Record<string, unknown>;

const code: Columns[number] = { name: 'code', length: 5, is_primary_key: true };

/** A table of these columns besides its key, `code`. */
async function givenTable(columns: Columns = [{ name: 'x', length: 10 }], more: Partial<TableInput> = {}) {
  last += 10;
  await deploy(net, [{ id: last, columns: [code, ...columns], ...more }]);
  return last;
}

async function givenRows(table: number, ...codes: string[]): Promise<number[]> {
  const rows = [];
  for (const each of codes) rows.push(await create(net, table, { code: each }));
  return rows.map((row) => row.svc_sk);
}

const batch = (table: number, operations: unknown, headers = {}, call = net.call) =>
  call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations }, headers);
const added = (record: Op): Op => ({ operation: 'create', record });
const changed = (id: unknown, record: Op, version?: number): Op => ({ operation: 'update', id, record, version });
const deletion = (id: unknown, version?: number): Op => ({ operation: 'delete', id, version });

const rowsOf = async (table: number) =>
  (await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=svc_sk&per_page=1000`)).body.data;
const codesOf = async (table: number) => (await rowsOf(table)).map((row: { code: string }) => row.code);

/** All rows of a table, deleted ones and old versions too, in a few bytes. */
async function stateOf(table: number): Promise<string> {
  const text = 'string_agg(v::text, chr(10) order by svc_sk, svc_version)';
  const rows = await net.query(
    `select (select ${text} from b_1.t_${table} v), (select ${text} from b_1.h_${table} v) as h`,
  );
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}

async function expectRefused(table: number, operations: Op[], status: number, errors: unknown): Promise<void> {
  const before = await stateOf(table);
  const answer = await batch(table, operations);
  expect({ status: answer.status, errors: answer.body.errors }).toEqual({ status, errors });
  expect(await stateOf(table)).toBe(before);
}

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

describe('a batch that is refused', () => {
  it('names the records that are absent, before every other problem', async () => {
    const table = await givenTable();
    const [a, b] = await givenRows(table, 'A', 'B');
    await remove(net.call, table, [a as number]);
    await expectRefused(table, [changed(a, { x: 'y' }), deletion(987_654), deletion(b, 5)], 404, [
      `Operation 0: record ${a} not found`,
      'Operation 1: record 987654 not found',
    ]);
    await expectRefused(table, [added({ code: 'too long' }), deletion(987_654)], 404, [
      'Operation 1: record 987654 not found',
    ]);
  });

  it('names the records that have changed, with their versions', async () => {
    const table = await givenTable();
    const [a, b] = await givenRows(table, 'A', 'B');
    await batch(table, [changed(a, { x: 'y' })]);
    await expectRefused(table, [deletion(a, 1), changed(b, { x: 5 }, 1)], 412, [
      `Operation 0: record ${a} has been changed since it was read: it has version 2, not 1`,
    ]);
    expect((await batch(table, [deletion(a, 2), changed(b, { x: 'y' }, 1)])).status).toBe(200);
  });

  it('names every value that breaks a rule, every taken key and every missing reference in one answer', async () => {
    const parent = await givenTable();
    await givenRows(parent, 'P');
    const table = await givenTable([
      { name: 'n', data_type: 'integer', is_required: true },
      { name: 'p', length: 5, foreign_key_table_id: parent },
    ]);
    const a = await create(net, table, { code: 'A', n: 1 });
    await expectRefused(
      table,
      [
        added({ code: 'B', n: 'x', y: 1 }),
        added({ code: 'A', n: 1.5 }),
        changed(a.svc_sk, { p: 'Q', n: null }),
        added({ code: 'B', n: 1 }),
        added({ n: 1, p: 'NONE' }),
        added({ code: 'C', n: 1, p: 'P' }),
        added({ code: 'C', n: 1, p: 'P' }),
      ],
      422,
      [
        'Operation 0: n must be an integer from -2147483648 to 2147483647',
        'Operation 0: y is not a column of this table',
        'Operation 1: n must be an integer from -2147483648 to 2147483647',
        'Operation 1: code must be unique: a record with this value exists',
        "Operation 2: n can't be blank",
        'Operation 2: p must refer to a record of the referenced table',
        'Operation 3: code must be unique: operation 0 gives the same value',
        "Operation 4: code can't be blank",
        'Operation 4: p must refer to a record of the referenced table',
        'Operation 6: code must be unique: operation 5 gives the same value',
      ],
    );
  });

  it('names the problems that only the constraints find', async () => {
    const table = await givenTable([{ name: 'p', length: 5, foreign_key_table_id: last + 10 }]);
    const child = await givenTable([{ name: 'of', length: 5, foreign_key_table_id: table }], { name: 'Children' });
    const [a, b] = await givenRows(table, 'A', 'B');
    for (const [name, of] of [
      ['1', 'A'],
      ['2', 'A'],
      ['3', 'B'],
    ])
      await create(net, child, { code: name, of });
    await expectRefused(table, [deletion(a), changed(b, { code: 'BB' }), added({ code: 'C', p: 'A' })], 422, [
      `Operation 0: record ${a} is still referred to by 2 records of Children`,
      `Operation 1: record ${b} is still referred to by 1 record of Children`,
      'Operation 2: p must refer to a record of the referenced table',
    ]);
    // Another row takes the key over.
    const { status } = await batch(table, [
      deletion(a),
      changed(b, { code: 'B', p: null }),
      added({ code: 'A', p: 'A' }),
    ]);
    expect(status).toBe(200);
  });

  it('lists a hundred problems and says how many more there are', async () => {
    const columns = Array.from({ length: 20 }, (_, n) => ({ name: `c${n}`, is_required: true }));
    const table = await givenTable(columns.slice(1));
    const full = await batch(
      table,
      Array.from({ length: 5 }, () => added({})),
    );
    expect([full.status, full.body.errors.length, full.body.errors.at(-1)]).toEqual([
      422,
      100,
      "Operation 4: c19 can't be blank",
    ]);
    const more = await batch(table, [...Array.from({ length: 5 }, () => added({})), added({ y: 1 })]);
    expect([more.body.errors.length, more.body.errors.at(-1)]).toEqual([101, '21 more problems are not listed']);
  });
});

describe('the problems of a batch', () => {
  it('name operation, row and column, as the sentences do', async () => {
    const parent = await givenTable();
    const table = await givenTable([
      { name: 'n', data_type: 'integer', valid_values: ['1', '2'] },
      { name: 'p', length: 5, foreign_key_table_id: parent },
    ]);
    const [a] = await givenRows(table, 'A');
    const { body } = await batch(table, [
      added({ code: 'B', n: 3 }),
      changed(a, { code: 'too long', p: 'Q', svc_sk: 1 }),
      added({ code: 'B', n: true, y: 1 }),
    ]);
    expect(body.problems.map(({ message }: Op) => message)).toEqual(body.errors);
    expect(body.problems.map(({ message: _, ...problem }: Op) => problem)).toEqual([
      { operation: 0, code: 'not_in_list', column: 'n', params: { allowed: ['1', '2'] } },
      { operation: 1, code: 'too_long', column: 'code', row: a, params: { maximum: 5 } },
      { operation: 1, code: 'read_only', column: 'svc_sk', row: a },
      { operation: 1, code: 'invalid_reference', column: 'p', row: a, params: { table_definition_id: parent } },
      { operation: 2, code: 'wrong_type', column: 'n' },
      { operation: 2, code: 'unknown_property', column: 'y' },
      { operation: 2, code: 'taken', column: 'code', params: { operation: 0 } },
    ]);
  });

  it('name absent records, those that are still referred to, and what is left out', async () => {
    const table = await givenTable();
    const child = await givenTable([{ name: 'of', length: 5, foreign_key_table_id: table }], { name: 'Children' });
    const [a] = await givenRows(table, 'A');
    await create(net, child, { code: '1', of: 'A' });
    expect((await batch(table, [added({ code: 'B' }), deletion(987_654)])).body.problems).toEqual([
      { code: 'not_found', message: 'Operation 1: record 987654 not found', operation: 1, row: 987_654 },
    ]);
    expect((await batch(table, [deletion(a)])).body.problems).toMatchObject([
      {
        code: 'still_referenced',
        operation: 0,
        row: a,
        params: { table: 'Children', table_definition_id: child, count: 1 },
      },
    ]);
    const twice = Array.from({ length: 102 }, () => added({ y: 1, code: 'C' }));
    expect((await batch(table, twice)).body.problems.at(-1)).toEqual({
      code: 'more_problems',
      message: expect.stringMatching(/^\d+ more problems are not listed$/),
      params: { count: expect.any(Number) },
    });
  });

  it('show the present record of each operation with another version', async () => {
    const table = await givenTable();
    const [a, b, c] = await givenRows(table, 'A', 'B', 'C');
    await batch(table, [changed(a, { x: 'y' }), changed(c, { x: 'z' })]);
    const { status, body } = await batch(table, [changed(b, { x: 'q' }, 1), deletion(c, 1), changed(a, { x: 'q' }, 1)]);
    const shown = new Map((await rowsOf(table)).map((row: Op) => [row.svc_sk, row]));
    expect([status, body.problems]).toEqual([
      412,
      [
        { operation: 1, row: c, current: shown.get(c) },
        { operation: 2, row: a, current: shown.get(a) },
      ].map((place, i) => ({
        code: 'version_conflict',
        message: body.errors[i],
        params: { version: 2 },
        ...place,
      })),
    ]);
  });

  it('show as many records as an answer holds', async () => {
    const columns = Array.from({ length: 18 }, (_, n) => ({ name: `t${n}`, data_type: 'text' }));
    const table = await givenTable(columns);
    const ids = await givenRows(table, 'A', 'B', 'C');
    const whole = `repeat('x', ${1024 * 1024 - 200})`;
    await net.query(
      `update b_1.t_${table} set svc_version = 2, ${columns.map((_, n) => `c_${table * 1000 + 2 + n} = ${whole}`)}`,
    );
    const { status, body } = await batch(
      table,
      ids.map((id) => deletion(id, 1)),
    );
    const shown = body.problems.map(({ current }: Op) => current !== undefined);
    expect([status, shown]).toEqual([412, [true, false, false]]);
  });
});

describe('keys and references within a batch', () => {
  const self: Columns = [{ name: 'parent', length: 5, foreign_key_table_id: 0 }];
  const givenTree = async () => {
    const own = last + 10;
    return givenTable(self.map((column) => ({ ...column, foreign_key_table_id: own })));
  };

  it('new rows may refer to new rows in any order, and changed rows to new ones', async () => {
    const table = await givenTree();
    const [a] = await givenRows(table, 'A');
    const answer = await batch(table, [
      added({ code: 'C', parent: 'B' }),
      changed(a, { parent: 'C' }),
      added({ code: 'B', parent: 'B' }),
    ]);
    expect(answer.status).toBe(200);
    await expectRefused(table, [added({ code: 'D', parent: 'E' })], 422, [
      'Operation 0: parent must refer to a record of the referenced table',
    ]);
  });

  it('a whole tree may be deleted at once, but not its root alone', async () => {
    const table = await givenTree();
    const { body } = await batch(table, [
      added({ code: 'A' }),
      added({ code: 'B', parent: 'A' }),
      added({ code: 'C', parent: 'B' }),
    ]);
    const [a, b, c] = body.created.map((row: Op) => row.svc_sk);
    await expectRefused(table, [deletion(a), deletion(b)], 422, [
      `Operation 1: record ${b} is still referred to by 1 record of Table ${table}`,
    ]);
    expect((await batch(table, [changed(c, { parent: null }), deletion(a), deletion(b)])).body.deleted_count).toBe(2);
    expect(await codesOf(table)).toEqual(['C']);
  });

  it('a change or a new row may take a key that a deletion frees, and a new row one that a change frees', async () => {
    const table = await givenTable();
    const [a, b, c] = await givenRows(table, 'A', 'B', 'C');
    const answer = await batch(table, [
      added({ code: 'C' }),
      changed(b, { code: 'A' }),
      added({ code: 'B' }),
      deletion(a),
      deletion(c),
    ]);
    expect(answer.status).toBe(200);
    expect((await codesOf(table)).toSorted()).toEqual(['A', 'B', 'C']);
  });

  it('no key moves from record to record, in any order of the changes', async () => {
    const table = await givenTable();
    const [a, b, c] = await givenRows(table, 'A', 'B', 'C');
    const reason = (place: number) =>
      `code must be unique: operation ${place} gives this value up, but no value can go from record to record in a batch`;
    await expectRefused(table, [changed(a, { code: 'B' }), changed(b, { code: 'A' })], 422, [
      `Operation 0: ${reason(1)}`,
      `Operation 1: ${reason(0)}`,
    ]);
    for (const order of [
      [changed(a, { code: 'B' }), changed(b, { code: 'D' })],
      [changed(c, { code: 'B' }), changed(b, { code: 'D' })],
    ])
      await expectRefused(table, order, 422, [`Operation 0: ${reason(1)}`]);
    expect((await batch(table, [changed(a, { code: 'A' }), changed(b, { code: 'B' })])).status).toBe(200);
  });

  it('a key of several columns counts as a whole', async () => {
    last += 10;
    const table = last;
    const part = { data_type: 'integer', is_primary_key: true };
    await deploy(net, [{ id: table, columns: [{ name: 'a', ...part }, { name: 'b', ...part }, { name: 'x' }] }]);
    const { body } = await batch(table, [added({ a: 1, b: 1 }), added({ a: 1, b: 2 }), added({ a: 2, b: 1 })]);
    const ids = body.created.map((row: Op) => row.svc_sk);
    await expectRefused(
      table,
      [changed(ids[0], { b: 2 }), changed(ids[2], { a: 1, b: 3 }), added({ a: 1, b: 3 })],
      422,
      [
        'Operation 0: a, b must be unique: a record with this value exists',
        'Operation 2: a, b must be unique: operation 1 gives the same value',
      ],
    );
    expect(
      (await batch(table, [changed(ids[0], { b: 3 }), changed(ids[1], { x: 'x' }), added({ a: 1, b: 1 })])).status,
    ).toBe(200);
  });
});

describe('batches at once', () => {
  it('on the same rows run one after the other, and none takes effect in part', async () => {
    const table = await givenTable([{ name: 'x', data_type: 'integer' }]);
    const ids = await givenRows(table, ...'ABCDEFGH');
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const own = n % 2 ? ids : ids.toReversed();
        const operations = [
          ...own.map((id) => changed(id, { x: n })),
          added({ code: `N${n}` }),
          added({ code: `M${n}` }),
        ];
        return (await batch(table, n % 3 ? operations : operations.toReversed())).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    const rows = await rowsOf(table);
    expect(new Set(rows.slice(0, 8).map((row: Op) => row.x)).size).toBe(1);
    expect(new Set(rows.slice(0, 8).map((row: Op) => row.svc_version))).toEqual(new Set([13]));
    expect(rows).toHaveLength(8 + 24);
    expect(await gaps(net, table)).toEqual([]);
  });

  it('that create the same keys: one is done, the other refused', async () => {
    const table = await givenTable();
    for (let round = 0; round < 10; round += 1) {
      const codes = Array.from({ length: 20 }, (_, n) => `${round}.${n}`);
      const some = codes.map((each) => added({ code: each }));
      const answers = await Promise.all([batch(table, some), batch(table, some.toReversed())]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
      expect(answers.find(({ status }) => status === 422)?.body.errors).toHaveLength(20);
    }
  });
});
