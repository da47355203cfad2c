// Compares a wanted table with the deployed one, by lineage, attribute by attribute: what people
// are shown.
import { type Change, differenceOf, type State, type ValueChange } from '@almanac/service-kit/text/difference';
import type { Column, DeployedTable, WantedTable } from '../tables/table.ts';

export type AttributeChange = { name: string; from: string; to: string };
export type ColumnDiff = { name: string; change: Change; attributes: AttributeChange[] };
export type Diff = { change: Change; attributes: AttributeChange[]; columns: ColumnDiff[] };

const columnAttributes = [
  'name',
  'data_type',
  'length',
  'scale',
  'is_primary_key',
  'is_required',
  'foreign_key_table_id',
  'valid_values',
  'description',
] as const satisfies readonly (keyof Column)[];

/**
 * The differences; values of attributes are JSON text. `wanted`: undefined for a table to be
 * removed.
 */
export function diffTable(old: DeployedTable | undefined, wanted: WantedTable | undefined): Diff {
  if (!wanted) {
    const removed = old?.structure.columns ?? [];
    const columns = removed.map(({ name }): ColumnDiff => ({ name, change: 'deleted', attributes: [] }));
    return { change: 'deleted', attributes: [], columns };
  }
  const { change, values, parts } = differenceOf(old && stateOf(old), stateOf(wanted), 'column_order');
  const columns = parts.map((part) => ({ name: part.name, change: part.change, attributes: part.values.map(asText) }));
  return { change, attributes: values.map(asText), columns };
}

const asText = ({ name, from, to }: ValueChange): AttributeChange => ({
  name,
  from: JSON.stringify(from),
  to: JSON.stringify(to),
});

function stateOf({ name, key, domain_id, load_type, structure }: WantedTable): State {
  const { description, lookup_display_column_id, columns } = structure;
  return {
    values: { name, key, description, domain_id, load_type, lookup_display_column_id },
    parts: columns.map((column) => ({
      lineage: column.lineage_id,
      name: column.name,
      values: {
        ...Object.fromEntries(columnAttributes.map((attribute) => [attribute, column[attribute]])),
        is_hierarchy: column.is_hierarchy ?? false,
      },
    })),
  };
}
