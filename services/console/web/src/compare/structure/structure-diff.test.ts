import type { Table } from '../../api/queries.ts';
import { compareTables } from './structure-diff.ts';

const column = (name: string, position: number, other = {}) => ({
  id: position,
  name,
  position,
  data_type: 'string',
  length: 10,
  scale: null,
  is_primary_key: name === 'code',
  is_required: false,
  foreign_key_table_id: null,
  is_hierarchy: false,
  valid_values: null,
  description: null,
  ...other,
});
const table = (id: number, key: string, columns: object[], other = {}) =>
  ({
    id,
    key,
    name: key,
    description: null,
    domain: { name: 'Places' },
    load_type: 'manual',
    lookup_display_column_id: null,
    column_definitions: columns,
    ...other,
  }) as unknown as Table;

const cities = [column('code', 1), column('name', 2), column('country', 3, { foreign_key_table_id: 1 })];
const left = [table(1, 'countries', [column('code', 1)]), table(2, 'cities', cities)];

describe('the structures of two branches', () => {
  it('are the same when only the ids differ', () => {
    const country = column('country', 3, { id: 9, foreign_key_table_id: 11 });
    const right = [table(11, 'countries', [column('code', 1)]), table(12, 'cities', [...cities.slice(0, 2), country])];
    expect(compareTables(left, right).map(({ key, diff }) => [key, diff.change])).toEqual([
      ['cities', 'unchanged'],
      ['countries', 'unchanged'],
    ]);
  });

  it('differ in attributes, in columns and in tables', () => {
    const columns = [column('code', 1, { length: 20 }), column('name', 2), column('area', 4)];
    const right = [table(12, 'cities', columns, { name: 'Towns' }), table(13, 'rivers', [column('code', 1)])];
    const found = compareTables(left, right).map(({ diff }) => diff);
    expect(found.map(({ key, change }) => [key, change])).toEqual([
      ['cities', 'modified'],
      ['countries', 'deleted'],
      ['rivers', 'new'],
    ]);
    const towns = found[0];
    expect(towns?.attributes).toEqual([{ name: 'name', from: 'cities', to: 'Towns' }]);
    expect(towns?.columns.map(({ name, change }) => [name, change])).toEqual([
      ['code', 'modified'],
      ['name', 'unchanged'],
      ['area', 'new'],
      ['country', 'deleted'],
    ]);
    expect(towns?.columns[0]?.attributes).toEqual([{ name: 'length', from: 10, to: 20 }]);
  });
});
