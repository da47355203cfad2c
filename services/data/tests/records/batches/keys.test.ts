// Keys and references within a batch, and batches at the same time.
import { deploy } from '../../given.ts';
import { nextId } from '../../merges/row-merges.ts';
import { added, changed, deletion, type Op } from '../../operations.ts';
import { net, useData } from '../../running-data.ts';
import { gaps } from '../../versions.ts';
import { batch, type Columns, codesOf, expectRefused, givenRows, givenTable, rowsOf } from './batches.ts';

useData();

describe('keys and references within a batch', () => {
  const self: Columns = [{ name: 'parent', length: 5, foreign_key_table_id: 0 }];
  const givenTree = async () => {
    const id = nextId();
    return givenTable(
      self.map((column) => ({ ...column, foreign_key_table_id: id })),
      { id },
    );
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
    const table = nextId();
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
