import type { Column } from '../api/queries.ts';
import { diffCell, diffColumns } from './diff-columns.ts';

const columns = ['code', 'name', 'area', 'note'].map(
  (name, position) => ({ id: position + 1, name, position }) as Column,
);
const update = {
  kind: 'update' as const,
  key: { code: 'A' },
  base: { code: 'A', area: '1.00' },
  proposed: { area: '2.00' },
  current: { svc_sk: 1, code: 'A', name: 'Aix', area: '1.00', note: null } as never,
  changed_columns: ['area'],
  problems: [],
};
const create = {
  kind: 'create' as const,
  key: { code: 'N' },
  base: null,
  proposed: { code: 'N', name: 'New', note: null },
  current: null,
  changed_columns: ['code', 'name'],
  problems: [],
};
const remove = { ...update, kind: 'delete' as const, base: { code: 'A' }, proposed: null, changed_columns: [] };

const names = (some: { name: string }[]) => some.map(({ name }) => name);

describe('the columns of the table of operations', () => {
  it('are the key, what some operation changes, and the others', () => {
    const found = diffColumns([update], columns);
    expect([names(found.keys), names(found.changed), names(found.unchanged)]).toEqual([
      ['code'],
      ['area'],
      ['name', 'note'],
    ]);
  });

  it('show what a new row has, in the order of the table', () => {
    expect(names(diffColumns([update, create], columns).changed)).toEqual(['name', 'area']);
  });

  it('have those whose values are not kept, since they break a rule', () => {
    const problems = [{ code: 'not_in_list', message: 'x', column: 'note' }];
    expect(names(diffColumns([{ ...update, problems }], columns).changed)).toEqual(['area', 'note']);
  });

  it('have the one that says what a row is called, even if it stays the same', () => {
    expect(names(diffColumns([update], columns, 2).changed)).toEqual(['name', 'area']);
  });

  it('are the first ones of rows that are only deleted', () => {
    expect(names(diffColumns([remove], columns).changed)).toEqual(['name', 'area', 'note']);
  });

  it('come from the operations where the table may not be viewed, without those of the system', () => {
    const found = diffColumns([update], []);
    expect([names(found.keys), names(found.changed), names(found.unchanged)]).toEqual([
      ['code'],
      ['area'],
      ['name', 'note'],
    ]);
  });
});

describe('a cell', () => {
  it('is old over new where the row is changed', () => {
    expect(diffCell(update, 'area')).toEqual({ kind: 'changed', before: '1.00', after: '2.00' });
    expect(diffCell(update, 'name')).toEqual({ kind: 'same', value: 'Aix' });
  });

  it('is added with a new row, and removed with a deleted one', () => {
    expect(diffCell(create, 'name')).toEqual({ kind: 'added', value: 'New' });
    expect(diffCell(create, 'area')).toEqual({ kind: 'added', value: null });
    expect(diffCell(remove, 'name')).toEqual({ kind: 'removed', value: 'Aix' });
  });

  it('has the key of a changed row whose present values are not known', () => {
    expect(diffCell({ ...update, base: null, current: null }, 'code')).toEqual({ kind: 'same', value: 'A' });
  });
});
