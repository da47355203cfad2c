import { referencedFirst } from './copy-order.ts';

const table = (id: number, ...references: (number | null)[]) => ({
  id,
  column_definitions: references.map((foreign_key_table_id) => ({ foreign_key_table_id })),
});

describe('the order in which tables are copied', () => {
  it('has referenced tables first, and leaves out those that are not wanted', () => {
    const tables = [table(1, null, 2), table(2, 3, 9), table(3), table(4)];
    expect(referencedFirst([1, 4, 2, 3], tables)).toEqual([3, 2, 1, 4]);
    expect(referencedFirst([1, 3], tables)).toEqual([1, 3]);
  });

  it('ends where tables refer to themselves or to each other', () => {
    expect(referencedFirst([1, 2], [table(1, 1, 2), table(2, 1)])).toEqual([2, 1]);
  });
});
