// Columns and deployed tables as plain values, for the tests of pure code.
import type { Column, DeployedTable } from '../src/tables/table.ts';

/** A column of texts called `col_<lineage>`, but for what `more` says. */
export const givenColumn = (lineage_id: number, more: Partial<Column> = {}): Column => ({
  column_definition_id: lineage_id,
  lineage_id,
  name: `col_${lineage_id}`,
  data_type: 'string',
  length: null,
  scale: null,
  is_primary_key: false,
  is_required: false,
  foreign_key_table_id: null,
  valid_values: [],
  description: '',
  ...more,
});

/** The table Things of account 3 with these columns, but for what `more` says. */
export const givenTable = (columns: Column[], more: Partial<DeployedTable> = {}): DeployedTable => ({
  table_definition_id: 7,
  account_id: 3,
  branch_id: 2,
  domain_id: 1,
  lineage_id: 5,
  uuid: '',
  key: 'things',
  name: 'Things',
  load_type: 'manual',
  row_changes: 'direct',
  machine_imports: true,
  version: 1,
  revision: 40,
  history_since: 0,
  structure: { description: '', lookup_display_column_id: null, foreign_keys: [], columns },
  ...more,
});
