import { findTableReference, readTableReference, requireSameTable } from './table-reference.ts';

describe('the table that a request names', () => {
  it('is named by its id, by its key and branch, or by both', () => {
    expect(readTableReference({ table_definition_id: 7 })).toEqual({ id: 7 });
    expect(readTableReference({ table_definition_key: 'countries', branch_id: 2 })).toEqual({
      key: 'countries',
      branchId: 2,
    });
    expect(readTableReference({ table_definition_id: 7, table_definition_key: 'countries', branch_id: 2 })).toEqual({
      id: 7,
      key: 'countries',
      branchId: 2,
    });
  });

  it('is refused by half: a key without a branch, a branch without a key, neither', () => {
    const required = 'branch_id is required with table_definition_key.';
    expect(() => readTableReference({ table_definition_key: 'countries' })).toThrow(required);
    expect(() => findTableReference({ table_definition_id: 7, table_definition_key: 'countries' })).toThrow(required);
    expect(() => findTableReference({ branch_id: 2 })).toThrow(
      'branch_id is taken together with table_definition_key.',
    );
    expect(() => readTableReference({})).toThrow('table_definition_id is required');
    expect(findTableReference({})).toBeUndefined();
  });

  it('is one table: the id of one with the key or branch of another is refused', () => {
    const table = { key: 'countries', branch_id: 2 };
    for (const reference of [{ id: 7 }, { id: 7, branchId: 2 }, { id: 7, key: 'countries', branchId: 2 }])
      expect(() => requireSameTable(reference, table)).not.toThrow();
    for (const reference of [
      { id: 7, branchId: 3 },
      { id: 7, key: 'cities', branchId: 2 },
    ])
      expect(() => requireSameTable(reference, table)).toThrow('names another table');
  });
});
