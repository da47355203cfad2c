// A definition with its columns as one value that compares across branches: references are keys and
// lineages, never ids.
import { rowPolicyFields } from '../branches/row-policies.ts';
import type { Prisma } from '../generated/prisma/client.ts';

/** The query for everything of a definition that a deployment or a clone needs. */
export const fullDefinition = {
  include: {
    columns: {
      include: { foreign_key_table: { select: { id: true, key: true } } },
      orderBy: [{ position: 'asc' }, { id: 'asc' }],
    },
    branch: { select: { ...rowPolicyFields, row_policy_revision: true } },
  },
} as const satisfies Prisma.table_definitionDefaultArgs;
export type FullDefinition = Prisma.table_definitionGetPayload<typeof fullDefinition>;

export type ColumnStructure = {
  lineage_id: number;
  name: string;
  data_type: string;
  length: number | null;
  scale: number | null;
  is_primary_key: boolean;
  is_required: boolean;
  foreign_key_table_key: string | null;
  is_hierarchy: boolean;
  valid_values: string | null;
  description: string | null;
  position: number;
};

export type TableStructure = {
  key: string;
  name: string;
  description: string | null;
  domain_id: number;
  load_type: string;
  lookup_display_lineage_id: number | null;
  columns: ColumnStructure[];
};

/** Reads a stored structure; an earlier release stored it without hierarchies. */
export const readStructure = (stored: TableStructure): TableStructure => ({
  ...stored,
  columns: stored.columns.map((column) => ({ ...column, is_hierarchy: column.is_hierarchy ?? false })),
});

/** The structure of a definition, by which states of a table are compared. */
export function structureOf(definition: FullDefinition): TableStructure {
  const shown = definition.columns.find(({ id }) => id === definition.lookup_display_column_id);
  return {
    key: definition.key,
    name: definition.name,
    description: definition.description,
    domain_id: definition.domain_id,
    load_type: definition.load_type,
    lookup_display_lineage_id: shown?.lineage_id ?? null,
    columns: definition.columns.map((column) => ({
      lineage_id: column.lineage_id,
      name: column.name,
      data_type: column.data_type,
      length: column.length,
      scale: column.scale,
      is_primary_key: column.is_primary_key,
      is_required: column.is_required,
      foreign_key_table_key: column.foreign_key_table?.key ?? null,
      is_hierarchy: column.is_hierarchy,
      valid_values: column.valid_values,
      description: column.description,
      position: column.position,
    })),
  };
}
