// Cells that name the records they refer to by values of other types than text: equal values are
// found however they are written.
import { load } from '../files.ts';
import { create, deploy } from '../given.ts';
import { list, net, nextId, overLoads } from './loads.ts';

overLoads();

const named = (lookup: string) => ({
  file_columns: ['code', 'ref'],
  columns: [
    { position: 0, target_column: 'code' },
    { position: 1, target_column: 'ref', lookup },
  ],
});

async function givenReferences() {
  const groups = nextId();
  const table = groups + 1;
  await deploy(net, [
    {
      id: groups,
      name: 'Things',
      columns: [
        { name: 'id', data_type: 'integer', is_primary_key: true },
        { name: 'amount', data_type: 'decimal', length: 10, scale: 2 },
        { name: 'exact', data_type: 'decimal' },
        { name: 'number', data_type: 'integer' },
        { name: 'share', data_type: 'double' },
        { name: 'open', data_type: 'boolean' },
        { name: 'day', data_type: 'date' },
        { name: 'from', data_type: 'time' },
        { name: 'at', data_type: 'datetime' },
        { name: 'mark', data_type: 'uuid' },
        { name: 'j', data_type: 'json' },
        { name: 'text', data_type: 'text' },
      ],
    },
    {
      id: table,
      columns: [
        { name: 'code', length: 10, is_primary_key: true },
        { name: 'ref', data_type: 'integer', foreign_key_table_id: groups },
      ],
    },
  ]);
  await create(net, groups, {
    id: 7,
    amount: '1.5',
    exact: '2.500',
    number: 7,
    share: 0.5,
    open: true,
    day: '2024-02-29',
    from: '07:30:00',
    at: '2024-02-29T10:00:00Z',
    mark: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    j: { a: 1, b: 2 },
    text: '007',
  });
  await create(net, groups, { id: 8, open: false });
  return { groups, table };
}

describe('a load that looks records up by values', () => {
  it.each([
    ['amount', '1.5;1.50;01.500'],
    ['exact', '2.5;2.50;2.500'],
    ['number', '7;007'],
    ['share', '0.5;.5;5e-1;0.50'],
    ['open', 'true;TRUE;True'],
    ['day', '2024-02-29'],
    ['from', '07:30;07:30:00;07:30:00.000'],
    ['at', '2024-02-29T10:00:00.000Z;2024-02-29T12:00:00+02:00;2024-02-29 10:00'],
    ['mark', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11;A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'],
    ['j', '{"a":1,"b":2};{"b": 2, "a": 1.0}'],
    ['text', '007'],
  ])('finds equal ones of %s: %s', async (column, cells) => {
    const { table } = await givenReferences();
    const texts = cells.split(';');
    const rows = texts.map((cell, i) => `${i},"${cell.replaceAll('"', '""')}"\n`).join('');
    const result = await load(net, table, rows, named(column));
    expect([result.rejections, result.inserted]).toEqual([[], texts.length]);
    expect((await list(table)).map(({ ref }: { ref: number }) => ref)).toEqual(texts.map(() => 7));
  });

  it.each([
    ['amount', '1.501;x;NaN;1,5'],
    ['number', '7.0;8;99999999999999999999;seven'],
    ['open', 'yes;1;t'],
    ['from', '7:30;24:00'],
    ['at', '2024-02-30T10:00:00Z;today'],
    ['mark', 'a0eebc999c0b4ef8bb6d6bb9bd380a11;?'],
    ['j', '{;1'],
    ['text', '7;07'],
  ])('finds nothing else by %s: %s', async (column, cells) => {
    const { table } = await givenReferences();
    const texts = cells.split(';');
    const rows = texts.map((cell, i) => `${i},"${cell.replaceAll('"', '""')}"\n`).join('');
    const result = await load(net, table, rows, named(column));
    expect(result.rejections).toEqual(
      texts.map((value, i) => ({
        row: i + 1,
        column: 'ref',
        value,
        message: `ref must be the ${column} of a record of Things`,
      })),
    );
  });

  it('rejects a value of several records, however it is written', async () => {
    const { groups, table } = await givenReferences();
    await create(net, groups, { id: 9, exact: '2.5', number: 7 });
    const message = (column: string) => `ref is the ${column} of several records of Things; give their key instead`;
    expect((await load(net, table, 'a,2.50\n', named('exact'))).rejections).toMatchObject([
      { message: message('exact') },
    ]);
    expect((await load(net, table, 'a,07\n', named('number'))).rejections).toMatchObject([
      { message: message('number') },
    ]);
  });

  it('compares in the same way with the rows of the file itself', async () => {
    const table = nextId();
    const columns = [
      { name: 'id', data_type: 'decimal', length: 10, scale: 2, is_primary_key: true },
      { name: 'rate', data_type: 'decimal', length: 10, scale: 2 },
      { name: 'up', data_type: 'decimal', length: 10, scale: 2, foreign_key_table_id: table },
    ];
    await deploy(net, [{ id: table, name: 'Rates', columns }]);
    const file = {
      file_columns: ['id', 'rate', 'up'],
      columns: [
        { position: 0, target_column: 'id' },
        { position: 1, target_column: 'rate' },
        { position: 2, target_column: 'up', lookup: 'rate' },
      ],
    };
    const up = async () =>
      (await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=id`)).body.data.map(
        (row: Record<string, unknown>) => [row.id, row.rate, row.up],
      );
    expect((await load(net, table, '1,1.5,\n2,2.50,1.50\n3,3,2.5\n', file)).rejections).toEqual([]);
    expect(await up()).toEqual([
      [1, 1.5, null],
      [2, 2.5, 1],
      [3, 3, 2],
    ]);
    // The file changes the rate of 1: the old rate names no record, and the new one only this.
    const renamed = await load(net, table, '01,4.0,\n4,9,4\n5,8,3.00\n6,7,1.5\n', { ...file, on_error: 'reject_rows' });
    expect(renamed.rejections).toMatchObject([
      { row: 4, value: '1.5', message: 'up must be the rate of a record of Rates' },
    ]);
    expect((await up()).slice(3)).toEqual([
      [4, 9, 1],
      [5, 8, 3],
    ]);
  });
});
