import { changedCells } from './changed-cells.ts';

describe('the cells that an operation changes', () => {
  it('are all with a value for a new row', () => {
    const operation = {
      kind: 'create' as const,
      base: null,
      proposed: { code: 'ZZ', name: null },
      changed_columns: ['code'],
    };
    expect(changedCells(operation)).toEqual([{ name: 'code', after: 'ZZ' }]);
  });

  it('are those of the row that goes away, without the columns of the system', () => {
    const operation = {
      kind: 'delete' as const,
      base: { code: 'ZZ', svc_version: 3 },
      proposed: null,
      changed_columns: [],
    };
    expect(changedCells(operation)).toEqual([{ name: 'code', before: 'ZZ' }]);
  });

  it('are old and new of a changed row, also when a value is taken away', () => {
    const operation = {
      kind: 'update' as const,
      base: { code: 'ZZ', name: 'Old', note: 'x' },
      proposed: { name: 'New', note: null },
      changed_columns: ['name', 'note'],
    };
    expect(changedCells(operation)).toEqual([
      { name: 'name', before: 'Old', after: 'New' },
      { name: 'note', before: 'x', after: null },
    ]);
  });
});
