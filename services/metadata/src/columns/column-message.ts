// What messages to other services tell of a column.
import type { ColumnDefinition } from './column-fields.ts';
import { splitValues } from './column-rules.ts';

/** The attributes of a column as a message has them: what is null is left out, and the list of values is a list. */
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
