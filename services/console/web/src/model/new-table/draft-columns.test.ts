import { bodyOf, columnsOf, emptyColumn, moveColumn, nameOfFile } from './draft-columns.ts';

it('tables are named after their files', () => {
  expect(['country_codes.csv.gz', 'Q3 rates.xlsx', '2026-rates.tsv', 'v1.2 final.csv', '.csv'].map(nameOfFile)).toEqual(
    ['Country codes', 'Q3 rates', 'Rates', 'V1.2 final', ''],
  );
});

it('inferred columns keep their names in the file, and what was said about them', () => {
  const common = { table_definition_id: 1, is_primary_key: false, is_required: true };
  const [code, area] = columnsOf({
    columns: [
      { source_column: 'Code', name: 'code', notes: [] },
      { source_column: 'Area km²', name: 'area_km2', notes: ['unsure'] },
    ],
    column_definitions: [
      { ...common, name: 'code', data_type: 'string', length: 2, is_primary_key: true },
      { ...common, name: 'area_km2', data_type: 'decimal', length: 10, scale: 2 },
    ],
  });
  expect(code).toMatchObject({ source: 'Code', length: '2', scale: '', is_primary_key: true, notes: [] });
  expect(area).toMatchObject({ source: 'Area km²', name: 'area_km2', notes: ['unsure'] });
});

it('a length is sent only with types that have one', () => {
  const column = { ...emptyColumn(), name: ' size ', length: '12', scale: '2' };
  const plain = { name: 'size', is_primary_key: false, is_required: false };
  expect(bodyOf({ ...column, data_type: 'decimal' })).toEqual({ ...plain, data_type: 'decimal', length: 12, scale: 2 });
  expect(bodyOf(column)).toEqual({ ...plain, data_type: 'string', length: 12 });
  expect(bodyOf({ ...column, data_type: 'date' })).toEqual({ ...plain, data_type: 'date' });
});

it('columns move within the list', () => {
  const columns = ['a', 'b', 'c'].map((id) => ({ ...emptyColumn(), id }));
  const moved = (id: string, by: 1 | -1) => moveColumn(columns, id, by).map((column) => column.id);
  expect([moved('b', -1), moved('b', 1), moved('a', -1), moved('c', 1)].map((ids) => ids.join(''))).toEqual([
    'bac',
    'acb',
    'abc',
    'abc',
  ]);
});
