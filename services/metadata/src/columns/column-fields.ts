// The fields of a column in answers, and the order of columns in their table.
import type { Prisma } from '../generated/prisma/client.ts';

export const columnFields = {
  id: true,
  table_definition_id: true,
  name: true,
  data_type: true,
  length: true,
  scale: true,
  is_primary_key: true,
  is_required: true,
  foreign_key_table_id: true,
  is_hierarchy: true,
  valid_values: true,
  description: true,
  position: true,
  created_at: true,
  updated_at: true,
} as const satisfies Prisma.column_definitionSelect;

export type ColumnDefinition = Prisma.column_definitionGetPayload<{ select: typeof columnFields }>;

export const inOrder = [
  { position: 'asc' },
  { id: 'asc' },
] satisfies Prisma.column_definitionOrderByWithRelationInput[];
