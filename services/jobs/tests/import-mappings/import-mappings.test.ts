// Import mappings: what they say, and what is refused.
import { call, entry, jobs, make, table, useMappings } from './mappings.ts';

useMappings();

describe('an import mapping', () => {
  it('is created nested, flat and with brackets', async () => {
    const attributes = {
      name: 'From the bank',
      date_style: 'DMY',
      delimiter: ';',
      column_mappings: [
        { source_column: 'Land', target_column: 'CODE', format: null },
        { source_column: 'Seit', target_column: 'name', format: 'DD.MM.YYYY' },
        { source_column: 'Müll', target_column: null },
      ],
    };
    const made = await call('POST', '', { table_definition_id: table, import_mapping: attributes });
    expect(made).toMatchObject({
      status: 201,
      body: {
        table_definition_id: table,
        name: 'From the bank',
        date_style: 'DMY',
        delimiter: ';',
        is_default: false,
        column_mappings: [
          { ...entry, source_column: 'Land', target_column: 'code' },
          { ...entry, source_column: 'Seit', target_column: 'name', format: 'DD.MM.YYYY' },
          { ...entry, source_column: 'Müll', target_column: null },
        ],
      },
    });
    expect((await call('GET', `/${made.body.id}`)).body).toEqual(made.body);
    expect((await call('POST', '', { table_definition_id: table, name: 'flat' })).body).toMatchObject({
      date_style: 'ISO',
      delimiter: null,
      column_mappings: [],
    });
    expect((await call('POST', '', { table_definition_id: table, 'import_mapping[name]': 'brackets' })).status).toBe(
      201,
    );
    expect(
      (await call('POST', '', { import_mapping: { table_definition_id: table, name: 'all nested' } })).status,
    ).toBe(201);
  });

  it('may leave out any number of columns of a wide file', async () => {
    const column_mappings = Array.from({ length: 1_000 }, (_, i) => ({
      source_column: `Column ${i}`,
      target_column: i === 999 ? 'code' : null,
    }));
    expect((await make({ column_mappings })).column_mappings).toHaveLength(1_000);
  });

  it.each([
    [{ name: 'x' }, 400],
    [{ table_definition_id: '10', name: 'x' }, 400],
    [{ table_definition_id: 999, name: 'x' }, 404],
    [{ table_definition_id: 12, name: 'x' }, 404],
    [{ table_definition_id: table }, 422],
    [{ table_definition_id: table, name: ' ' }, 422],
    [{ table_definition_id: table, name: 'x'.repeat(256) }, 422],
    [{ table_definition_id: table, name: 5 }, 400],
    [{ table_definition_id: table, name: 'x', account_id: 2 }, 400],
    [{ table_definition_id: table, name: 'x', date_style: 'YDM' }, 422],
    [{ table_definition_id: table, name: 'x', delimiter: '#' }, 422],
    [{ table_definition_id: table, name: 'x', column_mappings: {} }, 400],
    [{ table_definition_id: table, name: 'x', column_mappings: [{ source_column: 'a', regex: '(a+)+$' }] }, 400],
  ])('is not created by %j', async (body, status) => {
    expect((await call('POST', '', body)).status).toBe(status);
  });

  it('reports every contradiction', async () => {
    const map = (source_column: string, target_column: string, format?: string) => ({
      source_column,
      target_column,
      format,
    });
    const answer = await call('POST', '', {
      table_definition_id: table,
      name: 'wrong',
      column_mappings: [
        map('a', 'svc_sk'),
        map('b', 'unknown'),
        map('c', 'code'),
        map('d', 'Code'),
        map('C', 'name'),
        map(' ', 'svc_transaction_code'),
        map('f', '__proto__', '(a+)+$'),
      ],
    });
    expect([answer.status, answer.body.errors]).toEqual([
      422,
      [
        'Target column svc_sk is a system column',
        'Target column unknown is not a column of the table',
        'Target column code is mapped from two columns',
        'Source column C is mapped twice',
        "Source column can't be blank",
        'Target column __proto__ is not a column of the table',
      ],
    ]);
  });

  it('stores the style of files, and reports all problems of it', async () => {
    const style = { decimal_separator: ',', quote: "'", encoding: 'windows-1252', has_header: false };
    const column_mappings = [{ source_column: '2', target_column: 'name', default: 'x', trim: true, lookup: null }];
    const made = await make({ ...style, column_mappings });
    const kept = [{ ...entry, ...column_mappings[0], lookup: false }];
    expect(made).toMatchObject({ ...style, column_mappings: kept });
    expect(await make()).toMatchObject({ decimal_separator: null, quote: null, encoding: null, has_header: true });
    expect((await call('PATCH', `/${made.id}`, { decimal_separator: null })).body).toEqual({
      ...made,
      decimal_separator: null,
      updated_at: expect.any(String),
    });
    const named = await call('PATCH', `/${made.id}`, { column_mappings: [{ source_column: 'Name', trim: true }] });
    expect([named.status, named.body.errors]).toEqual([
      422,
      ['Source column Name must be the place of a column, from 1: the mapping is for files without a header'],
    ]);
    expect((await call('PATCH', `/${made.id}`, { delimiter: ',', decimal_separator: ',' })).body.errors).toEqual([
      "The decimal separator can't be the delimiter",
    ]);
    for (const wrong of [{ decimal_separator: ';' }, { quote: '`' }, { encoding: 'utf-7' }, { has_header: null }])
      expect((await call('PATCH', `/${made.id}`, wrong)).status).toBe(422);
    expect((await call('GET', `/${made.id}`)).body).toMatchObject({ delimiter: null, column_mappings: kept });
  });

  it('looks up only what can be looked up', async () => {
    const column = (name: string, rest = {}) => ({ name, data_type: 'string', is_primary_key: false, ...rest });
    const key = { is_primary_key: true };
    const groups = jobs.neighbours.addTable({ key: 'groups', columns: [column('id', key), column('name')] });
    const pairs = jobs.neighbours.addTable({ key: 'pairs', columns: [column('a', key), column('b', key)] });
    const members = jobs.neighbours.addTable({
      key: 'members',
      columns: [
        column('id', key),
        column('grp', { foreign_key_table_id: groups.table_definition_id }),
        column('pair', { foreign_key_table_id: pairs.table_definition_id }),
        column('away', { foreign_key_table_id: 999 }),
      ],
    });
    const of = (target: string, lookup: unknown, rest = {}) => ({
      table_definition_id: members.table_definition_id,
      name: `${target} by ${lookup}`,
      column_mappings: [{ source_column: target, target_column: target, lookup, ...rest }],
    });
    expect((await call('POST', '', of('grp', true))).body.column_mappings[0].lookup).toBe(true);
    expect((await call('POST', '', of('grp', 'NAME'))).body.column_mappings[0].lookup).toBe('NAME');
    const refusals: [ReturnType<typeof of>, string][] = [
      [of('id', true), 'id is no foreign key; nothing can be looked up for it'],
      [of('pair', true), "pair is part of a foreign key of several columns; it can't be looked up"],
      [of('away', true), 'The table that away refers to is not there'],
      [of('grp', 'colour'), "grp can't be looked up by colour, which is not a column of groups"],
      [of('grp', 'name', { format: 'YYYYMMDD' }), 'grp is looked up by text, which takes no date format'],
    ];
    for (const [body, problem] of refusals) {
      const answer = await call('POST', '', body);
      expect([answer.status, answer.body.errors]).toEqual([422, [problem]]);
    }
    jobs.neighbours.permissions.set(72, {
      license_type: 'developer',
      permissions: [{ action: 'edit', resource_type: 'table_definition', resource_id: members.table_definition_id }],
    });
    const editor = jobs.as({ userId: 72 });
    expect((await editor('POST', '/api/v1/import_mappings', of('grp', true))).status).toBe(403);
    const plain = { ...of('grp', false), name: 'plain' };
    expect((await editor('POST', '/api/v1/import_mappings', plain)).status).toBe(201);
  });

  it('reports what data finds wrong with formats and defaults', async () => {
    jobs.neighbours.sourceProblems.set('name', 'The default for name is too long');
    const column_mappings = [{ source_column: 'n', target_column: 'name', default: 'x' }];
    const answer = await call('POST', '', { table_definition_id: table, name: 'checked', column_mappings });
    jobs.neighbours.sourceProblems.clear();
    expect([answer.status, answer.body.errors]).toEqual([422, ['The default for name is too long']]);
  });

  it('has a unique name in its table, and a table has one default', async () => {
    const first = await make({ is_default: true });
    const taken = await call('POST', '', { table_definition_id: table, name: first.name });
    expect([taken.status, taken.body.errors]).toEqual([422, ['Name has already been taken']]);
    expect((await call('POST', '', { table_definition_id: 11, name: first.name })).status).toBe(201);
    const second = await make({ is_default: true });
    expect((await call('GET', `/${first.id}`)).body.is_default).toBe(false);
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, (_, i) => call('PATCH', `/${i % 2 ? first.id : second.id}`, { is_default: true })),
      ...Array.from({ length: 4 }, (_, i) =>
        call('POST', '', { table_definition_id: table, name: `default ${i}`, is_default: true }),
      ),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([...Array(6).fill(200), ...Array(4).fill(201)]);
    expect(answers.map(({ body }) => body.is_default)).toEqual(Array(10).fill(true));
    const listed = await call('GET', `?table_definition_id=${table}&q=is_default:eq:true`);
    expect(listed.body.meta.total_count).toBe(1);
    await call('PATCH', `/${listed.body.data[0].id}`, { is_default: false });
  });

  it.each([
    ['Café', 'Cafe\u0301'],
    ['ab', 'AB'],
    ['two  sp', ' two sp'],
    ['\ufb01x', 'fix'],
    ['\u2163', 'IV'],
    ['zero\u200bwidth', 'zerowidth'],
  ])('has a name that people can tell from others: %j, then %j', async (name, same) => {
    const first = await make({ name });
    const taken = await call('POST', '', { table_definition_id: table, name: same });
    expect([taken.status, taken.body.errors]).toEqual([422, ['Name has already been taken']]);
    const other = await make();
    expect((await call('PATCH', `/${other.id}`, { name: same })).status).toBe(422);
    expect((await call('PATCH', `/${first.id}`, { name: same })).body.name).toBe(same);
    expect((await call('POST', '', { table_definition_id: 11, name })).status).toBe(201);
  });

  it('takes a name once, however many requests compete for it', async () => {
    const spellings = ['once', 'Once', 'ONCE', 'on\u00adce', 'ｏｎｃｅ'];
    const answers = await Promise.all(spellings.map((name) => call('POST', '', { table_definition_id: table, name })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422]);
  });

  it('with a duplicate name of an earlier release stays, and can be changed', async () => {
    const mappings = jobs.context.prisma.import_mapping;
    const mine = { account_id: 1, table_definition_id: 11 };
    const one = await mappings.create({ data: { ...mine, name: 'Twin' } });
    await mappings.create({ data: { ...mine, name: 'twin' } });
    expect((await call('PATCH', `/${one.id}`, { name: 'Twin', date_style: 'DMY' })).body.date_style).toBe('DMY');
    expect((await call('PATCH', `/${one.id}`, { name: 'TWIN' })).status).toBe(422);
  });

  it('changes only the given attributes', async () => {
    const made = await make({ delimiter: '|', column_mappings: [{ source_column: 'a', target_column: 'code' }] });
    const changed = await call('PATCH', `/${made.id}`, { import_mapping: { date_style: 'MDY' } });
    expect(changed).toMatchObject({
      status: 200,
      body: { ...made, date_style: 'MDY', updated_at: expect.any(String) },
    });
    expect((await call('PATCH', `/${made.id}`, { delimiter: null })).body.delimiter).toBeNull();
    const other = await make();
    expect((await call('PATCH', `/${made.id}`, { name: other.name })).status).toBe(422);
    expect((await call('PATCH', `/${made.id}`, { name: null })).status).toBe(422);
    for (const body of [{ id: 5 }, { table_definition_id: 11 }, { created_at: '2026-01-01' }])
      expect((await call('PATCH', `/${made.id}`, body)).status).toBe(400);
  });

  it('is listed with pages and searched by name, within its account', async () => {
    await make({ name: 'needle_100%' });
    const found = await call('GET', `?q=${encodeURIComponent('needle_100%')}`);
    expect(found.body.data.map(({ name }: { name: string }) => name)).toEqual(['needle_100%']);
    expect((await jobs.as({ accountId: 2 })('GET', '/api/v1/import_mappings')).body.data).toEqual([]);
    expect((await call('GET', '?table_definition_id=0')).status).toBe(400);
  });

  it('names its table by key and branch as well', async () => {
    const named = { table_definition_key: 'countries', branch_id: 1 };
    const made = await call('POST', '', { ...named, import_mapping: { name: 'by key' } });
    expect(made).toMatchObject({ status: 201, body: { table_definition_id: table, name: 'by key' } });
    const both = { ...named, table_definition_id: table };
    expect((await call('POST', '', { ...both, import_mapping: { name: 'by both' } })).status).toBe(201);
    const search = (given: object) => call('GET', `?per_page=1000&${new URLSearchParams(given as never)}`);
    const listed = await search({ table_definition_id: table });
    expect(listed.body.data.length).toBeGreaterThan(1);
    for (const given of [named, both]) expect((await search(given)).body).toEqual(listed.body);
    for (const unknown of [
      { ...named, branch_id: 2 },
      { ...named, table_definition_key: 'foreign', branch_id: 3 },
    ]) {
      expect((await search(unknown)).body.data).toEqual([]);
      const refused = await call('POST', '', { ...unknown, name: 'x' });
      expect(refused.body).toEqual((await call('POST', '', { table_definition_id: 999_999, name: 'x' })).body);
      expect(refused.status).toBe(404);
    }
    for (const wrong of [
      { table_definition_key: 'countries' },
      { ...both, table_definition_key: 'regions' },
      { branch_id: 1 },
    ]) {
      expect((await search(wrong)).status).toBe(400);
      expect((await call('POST', '', { ...wrong, name: 'x' })).status).toBe(400);
      expect((await call('POST', '/suggest', { ...wrong, sample: 'a\nb\n' })).status).toBe(400);
    }
    const suggested = await call('POST', '/suggest', { ...named, sample: 'code\nDE\n' });
    expect(suggested.body.import_mapping.table_definition_id).toBe(table);
    jobs.neighbours.permissions.set(72, { license_type: 'end_user', permissions: [] });
    const outsider = jobs.as({ userId: 72 });
    // The key of a table is shown with the right to it.
    for (const table_definition_key of ['countries', 'regions']) {
      const given = { ...both, table_definition_key };
      expect((await outsider('POST', '/api/v1/import_mappings', { ...given, name: 'x' })).status).toBe(403);
      const seen = await outsider('GET', `/api/v1/import_mappings?${new URLSearchParams(given as never)}`);
      expect([seen.status, seen.body.data]).toEqual([200, []]);
    }
  });

  it('of another account is not found', async () => {
    const made = await make();
    const other = jobs.as({ accountId: 2 });
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'mine' }],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await other(method, `/api/v1/import_mappings/${made.id}`, body);
      const unknown = await other(method, '/api/v1/import_mappings/999999', body);
      expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
    }
    expect((await call('GET', `/${made.id}`)).status).toBe(200);
  });

  it('needs the right to edit the table', async () => {
    const made = await make();
    jobs.neighbours.permissions.set(71, {
      license_type: 'end_user',
      permissions: [{ action: 'view', resource_type: 'account', resource_id: 1 }],
    });
    const viewer = jobs.as({ userId: 71 });
    expect((await viewer('GET', `/api/v1/import_mappings/${made.id}`)).status).toBe(200);
    expect((await viewer('POST', '/api/v1/import_mappings', { table_definition_id: table })).status).toBe(403);
    expect((await viewer('PATCH', `/api/v1/import_mappings/${made.id}`, { name: '' })).status).toBe(403);
    expect((await viewer('DELETE', `/api/v1/import_mappings/${made.id}`)).status).toBe(403);
  });

  it('is deleted, also after its table was removed', async () => {
    const made = await make();
    const removed = jobs.neighbours.addTable({ key: 'removed' });
    const orphan = await call('POST', '', { table_definition_id: removed.table_definition_id, name: 'orphan' });
    jobs.neighbours.tables.splice(jobs.neighbours.tables.indexOf(removed), 1);
    expect((await call('DELETE', `/${made.id}`)).status).toBe(204);
    expect((await call('DELETE', `/${made.id}`)).status).toBe(404);
    expect((await call('DELETE', `/${orphan.body.id}`)).status).toBe(204);
  });

  it('refuses a body above 256 kB', async () => {
    const body = (size: number) => {
      const empty = JSON.stringify({ table_definition_id: table, name: '' });
      return JSON.stringify({ table_definition_id: table, name: 'x'.repeat(size - empty.length) });
    };
    const send = (size: number) =>
      jobs.send('POST', '/api/v1/import_mappings', body(size), { 'content-type': 'application/json' });
    expect((await send(256 * 1024)).status).toBe(422);
    expect((await send(256 * 1024 + 1)).status).toBe(413);
  });
});
