// A column in messages to other services.
import type { ColumnDefinition } from './column-fields.ts';
import { splitValues } from './column-rules.ts';

/** The attributes of a column in a message: nulls are left out, and valid values are a list. */
export const columnMessage = (column: Omit<ColumnDefinition, 'table_definition_id' | 'created_at' | 'updated_at'>) => ({
  name: column.name,
  data_type: column.data_type,
  length: column.length ?? undefined,
  scale: column.scale ?? undefined,
  is_primary_key: column.is_primary_key,
  is_required: column.is_required,
  foreign_key_table_id: column.foreign_key_table_id ?? undefined,
  valid_values: splitValues(column.valid_values),
});
