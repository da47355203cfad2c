import type { Table } from '../../api/queries.ts';
import { directlyReferring, indirectlyReferring } from './referring-tables.ts';

const table = (id: number, ...targets: (number | null)[]) =>
  ({
    id,
    column_definitions: targets.map((foreign_key_table_id, place) => ({ name: `c${place}`, foreign_key_table_id })),
  }) as Table;

const tables = [table(1, null, 1), table(2, 1, 1, null), table(3, 2), table(4, 3, 2), table(5, 6), table(6, 5)];

it('tables refer to a table by their columns, and to themselves in a hierarchy', () => {
  const found = directlyReferring(1, tables).map(({ table, columns }) => [table.id, columns.map(({ name }) => name)]);
  expect(found).toEqual([
    [1, ['c1']],
    [2, ['c0', 'c1']],
  ]);
});

it('tables behind them are found once, also where they refer to each other', () => {
  expect(indirectlyReferring(1, tables).map(({ id }) => id)).toEqual([3, 4]);
  expect(indirectlyReferring(5, tables)).toEqual([]);
});
