// Batches that are refused change nothing, and say what is wrong with which operation.
import { create } from '../../given.ts';
import { nextId } from '../../merges/row-merges.ts';
import { added, changed, deletion, type Op } from '../../operations.ts';
import { net, useData } from '../../running-data.ts';
import { remove } from '../../versions.ts';
import { batch, expectRefused, givenRows, givenTable, rowsOf } from './batches.ts';

useData();

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
    const id = nextId();
    const table = await givenTable([{ name: 'p', length: 5, foreign_key_table_id: id }], { id });
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
