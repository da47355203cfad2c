// Value maps of a load, and rounded numbers.
import { load, rejected } from '../files.ts';
import { caller, deploy, failureOf } from '../given.ts';
import { list, net, nextId, overLoads } from './loads.ts';

overLoads();

type Way = {
  map?: Record<string, string | null>;
  otherwise?: string;
  otherwise_value?: string;
  round?: number;
  trim?: boolean;
  default_value?: string;
  guarded?: boolean;
  lookup?: string;
};

/** The columns of a file in their order, each with its reading. */
function readAs(ways: Record<string, Way>) {
  const columns = Object.entries(ways).map(
    ([target_column, { map, otherwise, otherwise_value, round, ...way }], at) => {
      if (map === undefined && round === undefined) return { position: at, target_column, ...way };
      const values = {
        position: at,
        ...(map && { map: JSON.stringify(map) }),
        ...(otherwise !== undefined && { otherwise }),
        ...(otherwise_value !== undefined && { otherwise_value }),
        ...(round !== undefined && { round }),
      };
      return { position: -1, target_column, ...way, values };
    },
  );
  return { file_columns: Object.keys(ways), columns };
}

async function givenMaterials() {
  const groups = nextId();
  const table = nextId();
  await deploy(net, [
    {
      id: groups,
      columns: [
        { name: 'id', length: 5, is_primary_key: true },
        { name: 'name', length: 20 },
      ],
    },
    {
      id: table,
      columns: [
        { name: 'code', length: 10, is_primary_key: true },
        { name: 'blocked', data_type: 'boolean' },
        { name: 'kind', length: 10 },
        { name: 'price', data_type: 'decimal', length: 10, scale: 2 },
        { name: 'pieces', data_type: 'integer' },
        { name: 'grp', length: 5, foreign_key_table_id: groups },
      ],
    },
  ]);
  await load(net, groups, 'A,Alpha\nB,Beta\n', { file_columns: ['id', 'name'] });
  return table;
}

const mapOf = (entries: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: entries }, (_, i) => [`k${i}`, 'k'])));

const shown = async (table: number, column: string) =>
  (await list(table)).map((row: Record<string, unknown>) => `${row.code}:${row[column]}`);

describe('a value map', () => {
  it('replaces the values of cells, also of empty ones', async () => {
    const table = await givenMaterials();
    const ways = { code: {}, blocked: { map: { X: 'true', '': 'false', '?': null } } };
    const result = await load(net, table, 'a,X\nb,\nc,""\nd,?\ne,true\n', readAs(ways));
    expect(result).toMatchObject({ status: 'completed', inserted: 5, rejections: [] });
    expect(await shown(table, 'blocked')).toEqual(['a:true', 'b:false', 'c:false', 'd:null', 'e:true']);
    expect(await load(net, table, 'a,x\n', readAs(ways))).toMatchObject({
      status: 'failed',
      rejections: [{ row: 1, column: 'blocked', value: 'x', message: 'blocked must be true or false' }],
    });
  });

  it.each([
    ['keep', undefined, ['a:one', 'b:z', 'c:null']],
    ['value', 'other', ['a:one', 'b:other', 'c:null']],
    ['value', undefined, ['a:one', 'b:null', 'c:null']],
  ])('treats other values as given: %s %s', async (otherwise, otherwise_value, rows) => {
    const table = await givenMaterials();
    const kind = { map: { "'1\\": 'one' }, otherwise, ...(otherwise_value === undefined ? {} : { otherwise_value }) };
    const result = await load(net, table, "a,'1\\\nb,z\nc,\n", readAs({ code: {}, kind }));
    expect(result).toMatchObject({ status: 'completed', rejections: [] });
    expect(await shown(table, 'kind')).toEqual(rows);
  });

  it('may reject values that it does not know, whatever the default', async () => {
    const table = await givenMaterials();
    const kind = { map: { '1': 'one', '-': null, '': 'none' }, otherwise: 'reject', trim: true };
    const blocked = { map: { X: 'true' }, otherwise: 'reject', default_value: 'false' };
    const ways = { ...readAs({ code: {}, kind, blocked }), on_error: 'reject_rows', load_id: `map-${table}` };
    const result = await load(net, table, 'a, 1 ,X\nb,2,X\nc,-,\nd,,x\n', ways);
    expect(result).toMatchObject({ status: 'completed_with_errors', inserted: 2 });
    expect(result.rejections).toEqual([
      { row: 2, column: 'kind', value: '2', message: 'kind must be one of 1, -, "" (value_map)' },
      { row: 4, column: 'blocked', value: 'x', message: 'blocked must be one of X (value_map)' },
    ]);
    expect(await shown(table, 'kind')).toEqual(['a:one', 'c:null']);
    expect(await shown(table, 'blocked')).toEqual(['a:true', 'c:false']);
    expect((await rejected(net, `map-${table}`)).split('\n')[1]).toBe(
      'b,2,X,2,"kind must be one of 1, -, """" (value_map)"',
    );
  });

  it('applies before the lookup, and to keys', async () => {
    const table = await givenMaterials();
    const ways = { code: { map: { '001': '1' } }, grp: { map: { AA: 'Alpha' }, lookup: 'name' } };
    const result = await load(net, table, '001,AA\n2,Beta\n', readAs(ways));
    expect(result).toMatchObject({ status: 'completed', rejections: [] });
    expect(await shown(table, 'grp')).toEqual(['1:A', '2:B']);
    expect(await load(net, table, '001,AA\n2,Beta\n', { ...readAs(ways), pattern: 'full' })).toMatchObject({
      unchanged: 2,
    });
  });

  it.each([
    ['The value_map of kind is no object of texts.', '{"a":1}', 'keep'],
    ['The value_map of kind is no object of texts.', '[]', 'keep'],
    ['The value_map of kind is no object of texts.', '{', 'keep'],
    ['kind takes keep, reject or a value otherwise.', '{}', 'drop'],
    ['The value_map of kind holds what is no text.', JSON.stringify({ a: 'x\0' }), 'keep'],
    ['The value_map of kind holds what is no text.', JSON.stringify({ a: '\ud800' }), 'keep'],
    ['The value_map of kind holds a text of more than 1000 characters.', `{"${'a'.repeat(1001)}":""}`, 'keep'],
    ['The value_map of kind has more than 1000 entries.', mapOf(1001), 'keep'],
  ])('that is none is refused: %s', async (problem, map, otherwise) => {
    const table = await givenMaterials();
    const column = { position: -1, target_column: 'kind', values: { position: 1, map, otherwise } };
    const columns = [{ position: 0, target_column: 'code' }, column];
    const failure = await failureOf(load(net, table, 'a,b\n', { file_columns: ['code', 'kind'], columns }));
    expect([failure.kind, failure.errors]).toEqual(['validation_failed', [problem]]);
    const wanted = { name: 'kind', data_type: 'string', valid_values: [] };
    const { problems } = await net.jobs.CheckColumnSources(caller, { columns: [wanted], sources: [column] });
    expect(problems).toEqual([problem]);
  });

  it('may have a thousand entries', async () => {
    const table = await givenMaterials();
    const kind = { map: JSON.parse(mapOf(1000)), otherwise: 'reject' };
    const text = Array.from({ length: 1000 }, (_, i) => `${i},k${i}\n`).join('');
    expect(await load(net, table, text, readAs({ code: {}, kind }))).toMatchObject({ inserted: 1000, rejections: [] });
  });

  it('has a position outside the file for a release that does not know it', async () => {
    const table = await givenMaterials();
    const columns = [
      { position: 0, target_column: 'code' },
      { position: -1, target_column: 'kind' },
    ];
    const failure = await failureOf(load(net, table, 'a,b\n', { file_columns: ['code', 'kind'], columns }));
    expect(failure.errors).toEqual(["kind comes from a column that the file doesn't have."]);
  });
});

describe('a number that is rounded', () => {
  it('rounds half away from zero, after separators and maps', async () => {
    const table = await givenMaterials();
    const ways = { code: {}, price: { round: 2, map: { free: '0,005' } }, pieces: { round: 0 } };
    const options = { ...readAs(ways), delimiter: ';', decimal_separator: ',' };
    const text = 'a;1.234,565;2,5\nb;-0,125;-2,5\nc;free;2,4999\nd;;\n';
    expect(await load(net, table, text, options)).toMatchObject({ status: 'completed', rejections: [] });
    expect(await shown(table, 'price')).toEqual(['a:1234.57', 'b:-0.13', 'c:0.01', 'd:null']);
    expect(await shown(table, 'pieces')).toEqual(['a:3', 'b:-3', 'c:2', 'd:null']);
    const bad = await load(net, table, `a;x;1\nb;NaN;${'9'.repeat(1001)}\n`, options);
    expect(bad.rejections.map(({ row, column }) => [row, column])).toEqual([
      [1, 'price'],
      [2, 'price'],
      [2, 'pieces'],
    ]);
  });

  it.each([
    ['kind', 1, 'kind holds neither decimals nor integers, so there is nothing to round.'],
    ['pieces', 1, 'pieces holds integers, which are rounded to 0 places.'],
    ['price', 21, 'price can be rounded to 0 to 20 places.'],
    ['price', -1, 'price can be rounded to 0 to 20 places.'],
  ])('is refused for %s and %d places', async (column, round, problem) => {
    const table = await givenMaterials();
    const failure = await failureOf(load(net, table, 'a,1\n', readAs({ code: {}, [column]: { round } })));
    expect([failure.kind, failure.errors]).toEqual(['validation_failed', [problem]]);
  });
});
