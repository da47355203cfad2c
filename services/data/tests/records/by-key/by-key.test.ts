// Records by their primary key: read, upserted and deleted.
import { type ColumnInput, create } from '../../given.ts';
import { net, useData } from '../../running-data.ts';
import { passed, patch, remove, versionsOf } from '../../versions.ts';
import { batch, code, drop, find, givenTable, liveRows, path, put, query, upsert, usual } from './keyed-rows.ts';

useData();

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
