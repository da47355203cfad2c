import { deployedSnapshot, requireSendable, type WantedTable } from './wanted-tables.ts';

const column = {
  column_definition_id: 1,
  lineage_id: 1,
  name: 'code',
  data_type: 'text',
  is_primary_key: true,
  is_hierarchy: false,
  is_required: true,
  valid_values: [] as string[],
  description: '',
};
const table: WantedTable = {
  table_definition_id: 1,
  lineage_id: 1,
  uuid: '00000000-0000-4000-8000-000000000000',
  key: 'codes',
  name: 'Codes',
  description: '',
  branch_id: 1,
  domain_id: 1,
  load_type: 'manual',
  version: 3,
  columns: [column],
};

describe('requireSendable', () => {
  it('accepts 1,000 tables of 20 columns', () => {
    const wide = { ...table, columns: Array.from({ length: 20 }, () => column) };
    expect(() => requireSendable(Array.from({ length: 1000 }, () => wide))).not.toThrow();
  });

  it('refuses more than a message can hold', () => {
    const long = { ...column, valid_values: ['x'.repeat(60_000)] };
    const tables = [{ ...table, columns: Array.from({ length: 100 }, () => long) }];
    expect(() => requireSendable(tables)).toThrow(expect.objectContaining({ kind: 'validation_failed' }));
  });
});

describe('deployedSnapshot', () => {
  it('has null for absent fields of the message', () => {
    expect(deployedSnapshot({ ...table, columns: [{ ...column, valid_values: ['A', 'B'] }] })).toMatchObject({
      description: null,
      lookup_display_column_id: null,
      columns: [
        { id: 1, length: null, foreign_key_table_id: null, valid_values: 'A|B', description: null, position: 1 },
      ],
    });
  });
});
