// Upserts in batches, and tables that are named by their key.
import { type ColumnInput, create } from '../../given.ts';
import { net, useData } from '../../running-data.ts';
import { batch, code, find, givenTable, liveRows, put, upsert } from './keyed-rows.ts';

useData();

describe('upserts in a batch', () => {
  it('create and change, beside other operations', async () => {
    const table = await givenTable();
    const a = await create(net, table, { code: 'A', name: 'one', size: 1 });
    const b = await create(net, table, { code: 'B', name: 'one', size: 1 });
    const c = await create(net, table, { code: 'C' });
    const done = await batch(table, [
      upsert({ code: 'D', size: 4 }),
      upsert({ code: 'A', name: 'two' }),
      { operation: 'delete', id: c.svc_sk },
      { operation: 'update', id: b.svc_sk, record: { code: 'E' } },
      { operation: 'create', record: { code: 'F' } },
    ]);
    expect(done.status).toBe(200);
    expect(done.body.created).toMatchObject([{ code: 'D', size: 4, name: null }, { code: 'F' }]);
    expect(done.body.updated).toMatchObject([
      { svc_sk: a.svc_sk, code: 'A', name: 'two', size: 1, svc_version: 2 },
      { svc_sk: b.svc_sk, code: 'E' },
    ]);
    expect(done.body.message).toBe('2 records created, 2 records updated, 1 record deleted');
    const again = await batch(table, [upsert({ code: 'A', name: 'two' }), upsert({ code: 'A2' })]);
    expect(again.body).toMatchObject({
      updated: [{ svc_version: 2 }],
      message: '1 record created, 0 records updated, 0 records deleted',
    });
  });

  it('name no record twice', async () => {
    const table = await givenTable([
      { ...code, data_type: 'decimal', length: undefined } as ColumnInput,
      { name: 'n' },
    ]);
    const { svc_sk: id } = await create(net, table, { code: 1 });
    const twice = [
      [upsert({ code: '2.50' }), upsert({ code: 2.5 })],
      [upsert({ code: '1.0' }), upsert({ code: 1 })],
      [{ operation: 'delete', id }, upsert({ code: 1 })],
      [upsert({ code: 1 }), { operation: 'update', id, record: { n: 'x' } }],
    ];
    for (const operations of twice) {
      const { status, body } = await batch(table, operations);
      expect(status).toBe(400);
      expect(body.errors).toEqual([
        expect.stringMatching(/^Operation 1: (the record with this key|record \d+) is named by operation 0 already$/),
      ]);
    }
    const taken = await batch(table, [{ operation: 'create', record: { code: 3 } }, upsert({ code: '3.0' })]);
    expect([taken.status, taken.body.errors]).toEqual([
      422,
      ['Operation 1: code must be unique: operation 0 gives the same value'],
    ]);
    expect(await liveRows(table)).toHaveLength(1);
  });

  it('tell all problems, by operation, and change nothing', async () => {
    const table = await givenTable([code, { name: 'name', is_required: true }, { name: 'size', data_type: 'integer' }]);
    await create(net, table, { code: 'A', name: 'one' });
    const refused = await batch(table, [
      upsert({ code: 'A', size: 'x' }),
      upsert({ code: 'B', size: 2 }),
      upsert({ size: 3 }),
      upsert({ code: 'A2', name: 'fine' }),
    ]);
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual([
      expect.stringMatching(/^Operation 0: size must be an integer/),
      "Operation 1: name can't be blank",
      "Operation 2: code can't be blank",
    ]);
    expect(await liveRows(table)).toHaveLength(1);
    for (const wrong of [
      { operation: 'upsert' },
      { ...upsert({ code: 'A' }), id: 1 },
      { ...upsert({ code: 'A' }), version: 1 },
    ])
      expect((await batch(table, [wrong])).status).toBe(400);
  });

  it('are done once for an Idempotency-Key', async () => {
    const table = await givenTable();
    const send = () => batch(table, [upsert({ code: 'A', size: 1 })], { 'Idempotency-Key': `once-${table}` });
    const first = await send();
    expect(first.body.created).toHaveLength(1);
    await put(table, { code: 'A', size: 2 });
    expect((await send()).body).toEqual(first.body);
    expect((await find(table, { code: 'A' })).body.size).toBe(2);
  });

  it('of many callers at once are all done, in any order of their keys', async () => {
    const table = await givenTable();
    const keys = Array.from({ length: 40 }, (_, i) => `K${i}`);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, size) => {
        const turned = [...keys.slice(size * 5), ...keys.slice(0, size * 5)];
        return batch(
          table,
          (size % 2 ? turned.toReversed() : turned).map((key) => upsert({ code: key, size })),
        );
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(answers.reduce((sum, { body }) => sum + body.created.length, 0)).toBe(40);
    const rows = await liveRows(table);
    expect(rows).toHaveLength(40);
    expect(new Set(rows.map((row) => row[`c_${table * 1000 + 3}`])).size).toBe(1);
  });
});

describe('a table by its key', () => {
  it('is the same everywhere, and unknown ones are all alike', async () => {
    const table = await givenTable();
    const key = `table_${table}`;
    const { svc_sk: id } = await create(net, table, { code: 'A', name: 'one' });
    const requests: [status: number, method: string, path: string, body?: object][] = [
      [200, 'GET', `/${id}`],
      [200, 'GET', `/${id}/history`],
      [200, 'GET', '/by_key?key[code]=A'],
      [201, 'POST', '', { record: { code: 'B' } }],
      [200, 'PATCH', `/${id}`, { record: { name: 'two' } }],
      [200, 'POST', `/${id}/revert`, { version: 1 }],
      [200, 'PUT', '/by_key', { record: { code: 'A', name: 'three' } }],
      [200, 'POST', '/batch', { operations: [upsert({ code: 'C' })] }],
      [200, 'POST', '/delete_records', { ids: [id] }],
      [200, 'POST', '/restore_records', { ids: [id] }],
      [204, 'DELETE', '/by_key?key[code]=A'],
    ];
    const ask = (
      [, method, place, body]: (typeof requests)[number],
      named: Record<string, unknown>,
      call = net.call,
    ) => {
      const search = new URLSearchParams(named as Record<string, string>).toString();
      const address = `/api/v1/table_data${place}`;
      return body
        ? call(method, address, { ...named, ...body })
        : call(method, `${address}${place.includes('?') ? '&' : '?'}${search}`);
    };
    for (const request of requests) {
      const [expected, method, place] = request;
      const what = `${method} ${place}`;
      const status = async (named: object, call = net.call) => [what, (await ask(request, { ...named }, call)).status];
      const unknown = await ask(request, { table_definition_id: 999_999 });
      expect([what, unknown.status]).toEqual([what, 404]);
      for (const [named, call] of [
        [{ table_definition_key: 'never_was', branch_id: 1 }],
        [{ table_definition_key: key, branch_id: 2 }],
        [{ table_definition_key: key, branch_id: 1 }, net.as({ accountId: 2 })],
      ] as const)
        expect((await ask(request, { ...named }, call)).body).toEqual(unknown.body);
      expect(await status({ table_definition_key: key })).toEqual([what, 400]);
      expect(await status({})).toEqual([what, 400]);
      expect(await status({ table_definition_id: table, table_definition_key: 'other', branch_id: 1 })).toEqual([
        what,
        400,
      ]);
      expect(await status({ table_definition_id: table, branch_id: 2 })).toEqual([what, 400]);
      net.rights.set(9, { license_type: 'developer', permissions: [] });
      // The key of a table is shown with the right to it.
      for (const table_definition_key of [key, 'other'])
        expect(
          await status({ table_definition_id: table, table_definition_key, branch_id: 1 }, net.as({ userId: 9 })),
        ).toEqual([what, 403]);
      expect(await status({ table_definition_key: key, branch_id: 1 })).toEqual([what, expected]);
    }
  });
});
