import type { Table } from '../../api/queries.ts';
import { type ExportChoices, newExport, seenColumns } from './new-export.ts';

const table = {
  branch_id: 1,
  key: 'countries',
  column_definitions: [{ name: 'code' }, { name: 'name' }],
} as Table;
const choices: ExportChoices = {
  ...{ format: 'csv', columns: [], hasSystemColumns: false, hasLabels: false, isForEditing: false, asOf: undefined },
};
const basis = { branch_id: 1, table_definition_key: 'countries', pattern: 'full' };

describe('a new export', () => {
  it('has the columns of the table, in their order', () => {
    expect(newExport(table, choices, undefined)).toEqual({ ...basis, format: 'csv', columns: ['code', 'name'] });
    expect(newExport(table, { ...choices, columns: ['name'] }, undefined).columns).toEqual(['name']);
  });

  it('has the columns of the system when one wants them', () => {
    const all = newExport(table, { ...choices, hasSystemColumns: true }, undefined);
    expect(all).toEqual({ ...basis, format: 'csv' });
    const some = newExport(table, { ...choices, hasSystemColumns: true, columns: ['code'] }, undefined);
    expect(some.columns).toEqual(['svc_sk', 'svc_created_at', 'svc_updated_at', 'code']);
  });

  it('has the rows that one sees', () => {
    const filters = { name: { filterType: 'text' as const, type: 'contains' as const, filter: 'land' } };
    const sort = [{ column: 'name', direction: 'desc' as const }];
    const asOf = '2026-03-31T22:00:00.000Z';
    expect(newExport(table, { ...choices, asOf }, { filters, sort, q: 'a', asOf, columns: [] })).toEqual({
      ...{ ...basis, format: 'csv', columns: ['code', 'name'], filterModel: filters, q: 'a', as_of: asOf },
      sortModel: [{ colId: 'name', sort: 'desc' }],
    });
  });

  it('has the columns that one sees, in that order', () => {
    const seen = { filters: {}, sort: [], q: undefined, asOf: undefined };
    const hidden = { ...seen, columns: [{ column: 'name' }, { column: 'code', hidden: true as const }] };
    expect(seenColumns(table, hidden)).toEqual(['name']);
    expect(seenColumns(table, undefined)).toEqual(['code', 'name']);
    const turned = { ...seen, columns: [{ column: 'name', width: 240 }] };
    const columns = seenColumns(table, turned);
    expect(newExport(table, { ...choices, columns }, turned).columns).toEqual(['name', 'code']);
    const withSystem = { ...choices, columns, hasSystemColumns: true };
    expect(newExport(table, withSystem, turned).columns?.slice(-2)).toEqual(['name', 'code']);
  });

  it('is for editing only as a workbook, which has its own columns', () => {
    const editing = { ...choices, isForEditing: true, hasLabels: true };
    expect(newExport(table, { ...editing, format: 'xlsx' }, undefined)).toEqual({
      ...{ ...basis, format: 'xlsx', for_editing: true },
    });
    expect(newExport(table, editing, undefined)).toMatchObject({ format: 'csv', include_lookups: true });
  });
});
