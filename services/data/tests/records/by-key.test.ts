// Records by their primary key: read, upserted and deleted, alone and in batches.
import { type ColumnInput, create, type DataNet, deploy, givenData } from '../given.ts';
import { passed, patch, remove, versionsOf } from '../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const code: ColumnInput = { name: 'code', length: 10, is_primary_key: true };
const usual: ColumnInput[] = [code, { name: 'name', length: 20 }, { name: 'size', data_type: 'integer' }];

async function givenTable(columns = usual, more: { load_type?: string } = {}): Promise<number> {
  last += 10;
  await deploy(net, [{ id: last, columns, ...more }]);
  return last;
}

const path = '/api/v1/table_data/by_key';
const query = (table: number, key: Record<string, string>, more = '') => {
  const parts = Object.entries(key).map(
    ([name, text]) => `key[${encodeURIComponent(name)}]=${encodeURIComponent(text)}`,
  );
  return `${path}?table_definition_id=${table}&${parts.join('&')}${more}`;
};
const find = (table: number, key: Record<string, string>, more = '') => net.call('GET', query(table, key, more));
const put = (table: number, record: object, headers = {}, call = net.call) =>
  call('PUT', path, { table_definition_id: table, record }, headers);
const drop = (table: number, key: Record<string, string>, headers = {}) =>
  net.call('DELETE', query(table, key), undefined, headers);
const batch = (table: number, operations: object[], headers = {}) =>
  net.call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations }, headers);
const upsert = (record: object) => ({ operation: 'upsert', record });
const liveRows = (table: number) => net.query(`select * from b_1.t_${table} where svc_live order by svc_sk`);

describe('a record by its primary key', () => {
  it.each<[string, Partial<ColumnInput>, unknown, string[]]>([
    ['string', { length: 30 }, `O'Neill & "Söhne" / [100%]? #1`, [`O'Neill & "Söhne" / [100%]? #1`]],
    ['text', {}, '  𝕬|b\\c,d:e  ', ['  𝕬|b\\c,d:e  ']],
    ['string', { length: 5 }, '', ['']],
    ['smallint', {}, -7, ['-7']],
    ['integer', {}, 42, ['42']],
    ['bigint', {}, '9007199254740993', ['9007199254740993']],
    ['decimal', { length: 12, scale: 2 }, '1.50', ['1.5', '1.50', '01.500']],
    ['decimal', {}, '2.50', ['2.5', '2.500']],
    ['double', {}, 0.1, ['0.1', '1e-1']],
    ['boolean', {}, true, ['true', 'TRUE']],
    ['date', {}, '2026-02-28', ['2026-02-28']],
    ['time', {}, '07:30:00', ['07:30:00', '07:30']],
    ['datetime', {}, '2026-02-28T10:00:00Z', ['2026-02-28T10:00:00Z', '2026-02-28T11:00:00+01:00']],
    ['uuid', {}, '0f8fad5b-d9cb-469f-a165-70867728950e', ['0F8FAD5B-D9CB-469F-A165-70867728950E']],
  ])('is found, changed and deleted by a %s %j', async (data_type, more, value, texts) => {
    const table = await givenTable([{ ...code, length: undefined, ...more, data_type } as ColumnInput, { name: 'n' }]);
    const made = await put(table, { code: value, n: 'a' });
    expect(made).toMatchObject({ status: 201, body: { n: 'a', svc_version: 1 } });
    for (const text of texts) expect(await find(table, { code: text })).toMatchObject({ status: 200, body: made.body });
    for (const [i, text] of texts.entries())
      expect(await put(table, { code: text, n: `b${i}` })).toMatchObject({
        status: 200,
        body: { svc_sk: made.body.svc_sk, n: `b${i}`, code: made.body.code },
      });
    expect((await drop(table, { code: texts[0] as string })).status).toBe(204);
    expect((await find(table, { code: texts[0] as string })).status).toBe(404);
  });

  it('is named by all columns of a composite key', async () => {
    const key: ColumnInput[] = [
      { name: 'country', is_primary_key: true },
      { name: 'from', data_type: 'date', is_primary_key: true },
    ];
    const table = await givenTable([...key, { name: 'rate', data_type: 'decimal', length: 30, scale: 20 }]);
    const record = { country: 'CH', from: '2026-01-01', rate: '0.12345678901234567890' };
    const { body } = await put(table, record);
    await put(table, { ...record, from: '2026-02-01', rate: '2' });
    const found = await find(table, { country: 'CH', from: '2026-01-01' }, '&exact_numbers=true');
    expect(found.body).toMatchObject({ ...record, svc_sk: body.svc_sk });
    expect(found.headers.get('etag')).toBe('"1"');
    const half = await find(table, { country: 'CH', rate: '2' });
    expect(half.status).toBe(400);
    expect(half.body.errors).toEqual([
      'key: rate is not a column of the primary key (country, from).',
      'key: from is required.',
    ]);
    expect((await put(table, { country: 'CH', rate: 1 })).body.errors).toEqual(["from can't be blank"]);
  });

  it('is not found by a value that it could not have, and a text of another type is refused', async () => {
    const table = await givenTable([{ name: 'n', data_type: 'decimal', length: 4, scale: 1, is_primary_key: true }]);
    await put(table, { n: 1.5 });
    for (const n of ['1.55', '12345.6']) expect((await find(table, { n })).status).toBe(404);
    for (const n of ['', 'x', '1,5', 'NaN', 'null']) {
      const refused = await find(table, { n });
      expect(refused.status).toBe(400);
      expect(refused.body.errors).toEqual(['key: n must be a decimal number.']);
    }
    const texts = await givenTable();
    expect((await find(texts, { code: 'longer than its column' })).status).toBe(404);
    for (const wrong of ['', '&key=A', '&key[code]=A&key[code]=B', '&key[code', '&Key[code]=A', '&key[code]=A&key=A'])
      expect((await net.call('GET', `${path}?table_definition_id=${texts}${wrong}`)).status).toBe(400);
  });

  it('is that of an instant, with what it refers to, and never a deleted one', async () => {
    const target = await givenTable();
    await put(target, { code: 'CH', name: 'Switzerland' });
    const table = await givenTable([code, { name: 'at', length: 10, foreign_key_table_id: target }]);
    const first = (await put(table, { code: 'A', at: 'CH' })).body;
    await passed(net, first.svc_updated_at);
    expect((await drop(table, { code: 'A' })).status).toBe(204);
    const second = (await put(table, { code: 'A' })).body;
    expect(second.svc_sk).not.toBe(first.svc_sk);
    const then = await find(table, { code: 'A' }, `&as_of=${first.svc_updated_at}&include_lookups=true`);
    expect(then.body).toMatchObject({ svc_sk: first.svc_sk, svc_lookups: { at: 'Switzerland' } });
    const now = await find(table, { code: 'A' }, '&include_lookups=true');
    expect(now.body).toMatchObject({ svc_sk: second.svc_sk, svc_lookups: { at: null } });
    expect((await find(table, { code: 'A' }, '&as_of=2999-01-01T00:00:00Z')).status).toBe(400);
    expect((await find(table, { code: 'A' }, '&as_of=2001-01-01T00:00:00Z')).status).toBe(404);
  });

  it('needs a table with a primary key', async () => {
    const table = await givenTable([{ name: 'n' }]);
    const answers = [
      await find(table, { n: 'x' }),
      await put(table, { n: 'x' }),
      await drop(table, { n: 'x' }),
      await batch(table, [upsert({ n: 'x' })]),
    ];
    for (const { status, body } of answers)
      expect([status, body.errors]).toEqual([
        400,
        ['This table has no primary key; its records are named by their id.'],
      ]);
  });
});

describe('an upsert', () => {
  it('creates a record, changes the columns that it names, and leaves the others', async () => {
    const table = await givenTable();
    const made = await put(table, { code: 'A', name: 'one', size: 1 });
    expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"']);
    expect(made.body).toMatchObject({ code: 'A', name: 'one', size: 1 });
    const changed = await put(table, { code: 'A', name: 'two' });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect(changed.body).toMatchObject({ svc_sk: made.body.svc_sk, name: 'two', size: 1 });
    for (const same of [{ code: 'A', name: 'two' }, { code: 'A', size: '1' }, { code: 'A' }])
      expect(await put(table, same)).toMatchObject({ status: 200, body: changed.body });
    expect(await versionsOf(net.call, table, made.body.svc_sk)).toHaveLength(2);
    expect((await put(table, { code: 'A', name: null })).body).toMatchObject({ name: null, size: 1, svc_version: 3 });
    expect((await put(table, { code: 'B' })).body).toMatchObject({ name: null, size: null });
  });

  it('makes a new record where a deleted one had the key, as imports do', async () => {
    const table = await givenTable();
    const first = await create(net, table, { code: 'A', name: 'one', size: 1 });
    await remove(net.call, table, [first.svc_sk]);
    const second = await put(table, { code: 'A' });
    expect(second.status).toBe(201);
    expect(second.body).toMatchObject({ name: null, size: null, svc_version: 1 });
    expect(second.body.svc_sk).not.toBe(first.svc_sk);
  });

  it('tells every problem: of a change where the record is there, else of a new record', async () => {
    const target = await givenTable();
    await put(target, { code: 'CH' });
    const table = await givenTable([
      code,
      { name: 'name', length: 5, is_required: true },
      { name: 'kind', valid_values: ['a', 'b'] },
      { name: 'at', length: 10, foreign_key_table_id: target },
    ]);
    const wrong = { code: 'A', kind: 'c', at: 'XX', nonsense: 1 };
    const ofBoth = [
      'kind must be one of a, b',
      'nonsense is not a column of this table',
      'at must refer to a record of the referenced table',
    ];
    const fresh = await put(table, wrong);
    expect(fresh.status).toBe(422);
    expect(fresh.body.errors.toSorted()).toEqual([...ofBoth, "name can't be blank"].toSorted());
    expect((await put(table, { code: 'A', at: 'CH' })).body.errors).toEqual(["name can't be blank"]);
    await put(table, { code: 'A', name: 'one' });
    expect((await put(table, wrong)).body.errors.toSorted()).toEqual(ofBoth.toSorted());
    expect((await put(table, { code: 'A', at: 'XX' })).body.errors).toEqual(ofBoth.slice(2));
    expect((await put(table, { code: 'B', name: 'two', at: 'XX' })).body.errors).toEqual(ofBoth.slice(2));
    for (const [record, errors] of [
      [{}, ["code can't be blank"]],
      [{ code: null }, ["code can't be blank"]],
      [{ code: 'far too long to be one' }, ['code is too long (maximum is 10 characters)']],
      [{ name: 'x', kind: 'c' }, ['kind must be one of a, b', "code can't be blank"]],
    ] as const) {
      const refused = await put(table, record);
      expect([refused.status, refused.body.errors]).toEqual([422, errors]);
    }
    expect((await liveRows(table)).length).toBe(1);
    expect((await net.call('PUT', path, { table_definition_id: table })).status).toBe(400);
  });

  it('is bound to the record as it was read by If-Match, and to none by If-None-Match', async () => {
    const table = await givenTable();
    const absent = await put(table, { code: 'A' }, { 'If-Match': '"1"' });
    expect([absent.status, absent.body.errors]).toEqual([412, ['No record has this primary key (If-Match).']]);
    expect((await put(table, { code: 'A' }, { 'If-Match': '*' })).status).toBe(412);
    expect((await put(table, { code: 'A' }, { 'If-None-Match': '*' })).status).toBe(201);
    const there = await put(table, { code: 'A', name: 'x' }, { 'If-None-Match': '*' });
    expect([there.status, there.body.errors]).toEqual([
      412,
      ['A record with this primary key exists (If-None-Match).'],
    ]);
    expect((await put(table, { code: 'A', name: 'one' }, { 'If-Match': '"1"' })).headers.get('etag')).toBe('"2"');
    expect((await put(table, { code: 'A', name: 'two' }, { 'If-Match': '"1"' })).status).toBe(412);
    expect((await put(table, { code: 'A', name: 'two' }, { 'If-Match': '"1", "2"' })).status).toBe(200);
    expect((await put(table, { code: 'A', name: 'two' }, { 'If-Match': '*' })).status).toBe(200);
    // The condition comes before the rules.
    expect((await put(table, { code: 'A', size: 'x' }, { 'If-Match': '"1"' })).status).toBe(412);
    expect((await put(table, { code: 'A', size: 'x' }, { 'If-None-Match': '*' })).status).toBe(412);
    expect((await put(table, { code: 'A', size: 'x' }, { 'If-Match': '"3"' })).status).toBe(422);
    for (const headers of [{ 'If-None-Match': '"3"' }, { 'If-None-Match': '*', 'If-Match': '"3"' }])
      expect((await put(table, { code: 'A' }, headers)).status).toBe(400);
    expect((await drop(table, { code: 'A' }, { 'If-Match': '"1"' })).status).toBe(412);
    expect((await drop(table, { code: 'A' }, { 'If-Match': '"3"' })).status).toBe(204);
  });

  it('is for tables that are written by hand', async () => {
    const table = await givenTable(usual, { load_type: 'source' });
    for (const { status } of [await put(table, { code: 'A' }), await drop(table, { code: 'A' })])
      expect(status).toBe(422);
    expect((await batch(table, [upsert({ code: 'A' })])).status).toBe(422);
  });

  it('needs the right to edit, also to look', async () => {
    const table = await givenTable();
    await put(table, { code: 'A' });
    const may = (action: string) => ({
      license_type: 'developer',
      permissions: [{ action, resource_type: 'table_definition', resource_id: table }],
    });
    net.rights.set(7, may('view'));
    net.rights.set(8, { license_type: 'developer', permissions: [] });
    const [viewer, outsider] = [net.as({ userId: 7 }), net.as({ userId: 8 })];
    expect((await viewer('GET', query(table, { code: 'A' }))).status).toBe(200);
    for (const call of [viewer, outsider]) {
      expect((await put(table, { code: 'A', size: 'x' }, { 'If-None-Match': '*' }, call)).status).toBe(403);
      expect((await call('DELETE', query(table, { code: 'B' }))).status).toBe(403);
    }
    expect((await outsider('GET', query(table, { code: 'A' }))).status).toBe(403);
    const other = net.as({ accountId: 2 });
    expect((await other('GET', query(table, { code: 'A' }))).status).toBe(404);
    expect((await put(table, { code: 'A' }, {}, other)).status).toBe(404);
    expect((await other('DELETE', query(table, { code: 'A' }))).status).toBe(404);
  });

  it('makes one record, however many come at once', async () => {
    const table = await givenTable();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, size) => put(table, { code: 'A', size })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(29).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.svc_version)).size).toBe(30);
    expect(await liveRows(table)).toHaveLength(1);
    const alone = await Promise.all(
      Array.from({ length: 10 }, () => put(table, { code: 'B' }, { 'If-None-Match': '*' })),
    );
    expect(alone.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(412)]);
  });

  it('never changes a record that has another key by then, or is deleted', async () => {
    const table = await givenTable();
    const work = async (i: number) => {
      const answers = [await put(table, { code: 'A', size: i })];
      const { svc_sk, svc_version } = answers[0]?.body ?? {};
      if (i % 3 === 0) answers.push(await patch(net.call, table, svc_sk, { code: `R${i}` }));
      if (i % 3 === 1) answers.push(await drop(table, { code: 'A' }, { 'If-Match': `"${svc_version}"` }));
      if (i % 3 === 2) answers.push(await batch(table, [upsert({ code: 'A', size: i }), upsert({ code: `B${i}` })]));
      return answers;
    };
    const answers = (await Promise.all(Array.from({ length: 24 }, (_, i) => work(i)))).flat();
    // A change of a deleted record is 404, one of a changed record 412.
    for (const { status, body } of answers)
      expect([[200, 201, 204, 404, 412], body]).toEqual([expect.arrayContaining([status]), body]);
    const keys = (await liveRows(table)).map((row) => row[`c_${table * 1000 + 1}`]);
    expect(new Set(keys).size).toBe(keys.length);
    // Only a change by id gives a record another key.
    const renamed = await net.query(
      `select h.svc_sk from (select * from b_1.h_${table}) h join b_1.t_${table} t using (svc_sk)
       where h.c_${table * 1000 + 1} like 'R%' and t.c_${table * 1000 + 1} = 'A'`,
    );
    expect(renamed).toEqual([]);
  });
});

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
