// The difference that a merge makes to the target, in the shape of deployments (design 3.5). Data
// compares drafts with deployed tables by the same function; here both sides are drafts, in which
// references are keys and names, never ids.
import { differenceOf, type State } from '@almanac/service-kit/text/difference';
import { splitValues } from '../../../columns/column-rules.ts';
import type { ColumnStructure, TableStructure } from '../../../table-definitions/table-structure.ts';
import type { TableDiff } from '../../table-diff.ts';

export type StructureDiff = Pick<TableDiff, 'change' | 'attributes' | 'columns'>;

/** The difference of two states of one table; undefined: the table does not exist. */
export function diffStructures(from: TableStructure | undefined, to: TableStructure | undefined): StructureDiff {
  const names = new Map(
    [from, to].flatMap((side) => (side?.columns ?? []).map((each) => [each.lineage_id, each.name])),
  );
  const state = (side: TableStructure | undefined) => side && stateOf(side, names);
  const { change, values, parts } = differenceOf(state(from), state(to), 'column_order');
  const columns = parts.map((part) => ({ name: part.name, change: part.change, attributes: part.values }));
  return { change, attributes: values, columns };
}

// `names`: the final names of columns, so that renaming the lookup display column is no change of
// it.
function stateOf(table: TableStructure, names: ReadonlyMap<number, string>): State {
  const { name, description, domain_id, load_type, lookup_display_lineage_id: shown, columns } = table;
  const lookup_display_column = shown === null ? null : (names.get(shown) ?? null);
  return {
    values: { name, description, domain_id, load_type, lookup_display_column },
    parts: columns.map((column) => ({ lineage: column.lineage_id, name: column.name, values: valuesOf(column) })),
  };
}

function valuesOf({ lineage_id: _lineage, position: _place, ...values }: ColumnStructure): State['values'] {
  return { ...values, valid_values: splitValues(values.valid_values) };
}
