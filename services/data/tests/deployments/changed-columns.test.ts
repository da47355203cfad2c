import { changed, givenColumn, list, nextId, plan } from '../columns.ts';
import { create, type DataNet, deploy, failureOf, givenData, type TableInput } from '../given.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

describe('valid values', () => {
  it('hold in the database, whatever characters they have', async () => {
    const id = nextId();
    const hostile = ["it's", 'back\\slash', '$$', "'); drop schema b_1 cascade; --", '😀', 'a"b'];
    await deploy(net, [
      {
        id,
        columns: [
          { name: 'x', valid_values: hostile },
          { name: 'n', data_type: 'decimal', length: 4, scale: 2, valid_values: ['1.5', '2'] },
        ],
      },
    ]);
    for (const x of hostile) expect((await create(net, id, { x, n: '1.50' })).x).toBe(x);
    const direct = net.query(
      `insert into b_1.t_${id} (svc_created_at, svc_updated_at, c_${id * 1000 + 1}) values (now(), now(), 'other')`,
    );
    await expect(direct).rejects.toMatchObject({ code: '23514' });
  });
});

describe('casts', () => {
  it.each<
    [string, Partial<TableInput['columns'][number]>, unknown[], Partial<TableInput['columns'][number]>, unknown[]]
  >([
    ['text to integer', { data_type: 'text' }, ['7', '-007', null], { data_type: 'integer' }, [7, -7, null]],
    ['integer to text', { data_type: 'integer' }, [7, null], { data_type: 'string', length: 5 }, ['7', null]],
    ['integer to bigint', { data_type: 'integer' }, [7], { data_type: 'bigint' }, [7]],
    ['integer to decimal', { data_type: 'integer' }, [7], { data_type: 'decimal', length: 5, scale: 2 }, [7]],
    ['decimal to integer', { data_type: 'decimal', length: 8, scale: 2 }, ['7.00'], { data_type: 'integer' }, [7]],
    [
      'double to decimal',
      { data_type: 'double' },
      [0.25, 1e20],
      { data_type: 'decimal', length: 30, scale: 2 },
      [0.25, 1e20],
    ],
    ['text to date', { data_type: 'text' }, ['2024-02-29'], { data_type: 'date' }, ['2024-02-29']],
    [
      'date to datetime',
      { data_type: 'date' },
      ['2024-02-29'],
      { data_type: 'datetime' },
      ['2024-02-29T00:00:00.000Z'],
    ],
    [
      'datetime to text',
      { data_type: 'datetime' },
      ['2024-02-29T10:00:00Z'],
      { data_type: 'text' },
      ['2024-02-29T10:00:00.000Z'],
    ],
    ['text to boolean', { data_type: 'text' }, ['true', 'FALSE'], { data_type: 'boolean' }, [true, false]],
    ['text to json', { data_type: 'text' }, ['a'], { data_type: 'json' }, ['a']],
    ['longer text', { length: 3 }, ['abc'], { length: 300 }, ['abc']],
    [
      'wider decimal',
      { data_type: 'decimal', length: 5, scale: 2 },
      ['1.25'],
      { data_type: 'decimal', length: 9, scale: 4 },
      [1.25],
    ],
  ])('keep the rows: %s', async (_name, from, values, to, expected) => {
    const table = await givenColumn(net, from, values);
    await deploy(net, [changed(table, to)]);
    expect((await list(net, table.id)).map((row: { x: unknown }) => row.x)).toEqual(expected);
  });

  it.each<[string, Partial<TableInput['columns'][number]>, unknown[], Partial<TableInput['columns'][number]>, number]>([
    ['text that is no integer', { data_type: 'text' }, ['7', 'x', ' 7', '1e3', null], { data_type: 'integer' }, 3],
    ['bigints too large', { data_type: 'bigint' }, ['7', '3000000000'], { data_type: 'integer' }, 1],
    [
      'decimals with a fraction',
      { data_type: 'decimal', length: 5, scale: 2 },
      ['1.00', '1.50'],
      { data_type: 'integer' },
      1,
    ],
    [
      'decimals too wide',
      { data_type: 'decimal', length: 5, scale: 0 },
      ['12345', '1'],
      { data_type: 'decimal', length: 4, scale: 0 },
      1,
    ],
    ['text that is no date', { data_type: 'text' }, ['2024-02-30', 'today'], { data_type: 'date' }, 2],
    ['values that are missing', {}, [null, 'a', null], { is_required: true }, 2],
    ['values not in the list', {}, ['a', 'b', null], { valid_values: ['a'] }, 1],
    ['booleans as numbers', { data_type: 'boolean' }, [true, null], { data_type: 'integer' }, 1],
    ['values cut out of the list', { length: 5 }, ['abcde'], { length: 3, valid_values: ['abc'] }, 1],
  ])('are blocked, counted, and change nothing: %s', async (_name, from, values, to, rows) => {
    const table = await givenColumn(net, from, values);
    const before = await list(net, table.id);
    const { diffs } = await plan(net, [changed(table, to)]);
    expect(diffs[0]?.blockers.map((blocker) => blocker.rows)).toContain(rows);
    const failure = await failureOf(deploy(net, [changed(table, to)]));
    expect(failure.kind).toBe('validation_failed');
    expect(await list(net, table.id)).toEqual(before);
  });

  it.each<
    [
      string,
      Partial<TableInput['columns'][number]>,
      unknown[],
      Partial<TableInput['columns'][number]>,
      number,
      unknown[],
    ]
  >([
    ['shorter text', { length: 5 }, ['abcde', 'ab', null], { length: 3 }, 1, ['abc', 'ab', null]],
    [
      'a smaller scale',
      { data_type: 'decimal', length: 6, scale: 3 },
      ['1.005', '2.500'],
      { data_type: 'decimal', length: 6, scale: 1 },
      1,
      [1, 2.5],
    ],
    [
      'datetime to date',
      { data_type: 'datetime' },
      ['2024-01-01T10:00:00Z', '2024-01-02T00:00:00Z'],
      { data_type: 'date' },
      1,
      ['2024-01-01', '2024-01-02'],
    ],
  ])('warn of what is shortened, and keep the originals aside: %s', async (_name, from, values, to, rows, expected) => {
    const table = await givenColumn(net, from, values);
    const { diffs } = await plan(net, [changed(table, to)]);
    expect([diffs[0]?.warnings.map((warning) => warning.rows), diffs[0]?.blockers]).toEqual([[rows], []]);
    await deploy(net, [changed(table, to)]);
    expect((await list(net, table.id)).map((row: { x: unknown }) => row.x)).toEqual(expected);
    const [retired] = await net.query('select column_lineage_id, revision from retired_column where lineage_id = $1', [
      table.id,
    ]);
    const name = `x_${retired?.column_lineage_id}_${retired?.revision}`;
    const kept = await net.query(`select count(${name})::int as kept from b_1.t_${table.id}`);
    expect(kept).toEqual([{ kept: rows }]);
  });

  it('ignore the values of deleted rows', async () => {
    const table = await givenColumn(net, { data_type: 'text' }, ['7', 'x', null]);
    const rows = await list(net, table.id);
    await net.call('POST', '/api/v1/table_data/delete_records', {
      table_definition_id: table.id,
      ids: [rows[1].svc_sk, rows[2].svc_sk],
    });
    await deploy(net, [changed(table, { data_type: 'integer', is_required: true, valid_values: ['7', '8'] })]);
    expect((await list(net, table.id)).map((row: { x: unknown }) => row.x)).toEqual([7]);
  });
});

describe('columns', () => {
  it('that are dropped are counted first and retired', async () => {
    const table = await givenColumn(net, { data_type: 'text' }, ['a', null, 'b']);
    const without = { ...table, columns: [table.columns[0]] } as TableInput;
    const { diffs } = await plan(net, [without]);
    expect(diffs[0]?.warnings).toEqual([{ message: 'x is dropped with its values.', rows: 2 }]);
    await deploy(net, [without]);
    const row = (await list(net, table.id))[0];
    expect('x' in row).toBe(false);
    // The same lineage again is a new, empty column.
    await deploy(net, [table]);
    expect((await list(net, table.id))[0].x).toBe(null);
  });

  it('that are new and required need a table without rows', async () => {
    const table = await givenColumn(net, {}, ['a']);
    const more = { ...table, columns: [...table.columns, { name: 'y', is_required: true }] };
    expect((await plan(net, [more])).diffs[0]?.blockers).toEqual([
      { message: 'y is new and required; existing rows have no value.', rows: 1 },
    ]);
    const optional = { ...table, columns: [...table.columns, { name: 'y' }] };
    await deploy(net, [optional]);
    expect((await list(net, table.id))[0]).toMatchObject({ x: 'a', y: null });
  });

  it('appear in the order of the definition, whatever their place in the table', async () => {
    const table = await givenColumn(net, {}, ['a']);
    const [id, x] = table.columns as [TableInput['columns'][number], TableInput['columns'][number]];
    const lineage = (i: number) => table.id * 1000 + i;
    await deploy(net, [
      {
        ...table,
        columns: [
          { ...x, lineage_id: lineage(2) },
          { name: 'z', lineage_id: lineage(9) },
          { ...id, lineage_id: lineage(1) },
        ],
      },
    ]);
    expect(Object.keys((await list(net, table.id))[0]).filter((name) => !name.startsWith('svc_'))).toEqual([
      'x',
      'z',
      'id',
    ]);
  });
});

describe('the cached entry of a table', () => {
  const grid = (table: number, filterModel: object) =>
    net.call('POST', '/api/v1/table_data/grid', { table_definition_id: table, startRow: 0, endRow: 10, filterModel });

  it('refuses no request for a column that was just deployed', async () => {
    const id = nextId();
    const table: TableInput = { id, columns: [{ name: 'code' }] };
    const wider = (version: number, ...names: string[]): TableInput => ({
      id,
      version,
      columns: [...table.columns, ...names.map((name) => ({ name, data_type: 'text' }))],
    });
    await deploy(net, [table]);
    const row = await create(net, id, { code: 'a' });
    await deploy(net, [wider(2, 'one')]);
    expect((await create(net, id, { code: 'b', one: 'x' })).one).toBe('x');
    await deploy(net, [wider(3, 'one', 'two')]);
    const filter = { two: { filterType: 'text', type: 'blank' } };
    expect(await grid(id, filter)).toMatchObject({ status: 200, body: { rowCount: 2 } });
    await deploy(net, [wider(4, 'one', 'two', 'three')]);
    const change = { table_definition_id: id, record: { three: 'y' } };
    const changed = await net.call('PATCH', `/api/v1/table_data/${row.svc_sk}`, change);
    expect(changed).toMatchObject({ status: 200, body: { three: 'y' } });
    expect((await grid(id, { four: filter.two })).status).toBe(400);
  });

  it('checks the right in the domain where the table is now', async () => {
    const id = nextId();
    const table = { id, columns: [{ name: 'code' }] };
    net.rights.set(31, {
      license_type: 'developer',
      permissions: [{ action: 'edit', resource_type: 'domain', resource_id: 2 }],
    });
    const person = net.as({ userId: 31 });
    const add = () => person('POST', '/api/v1/table_data', { table_definition_id: id, record: { code: 'a' } });
    await deploy(net, [{ ...table, domain_id: 1 }]);
    expect((await add()).status).toBe(403);
    await deploy(net, [{ ...table, domain_id: 2, version: 2 }]);
    expect((await add()).status).toBe(201);
    await deploy(net, [{ ...table, domain_id: 1, version: 3 }]);
    expect((await add()).status).toBe(403);
  });
});
