// The columns of a draft beside those in service. A column keeps its id when it is renamed.
import type { Column } from '../../api/queries.ts';
import type { AnyColumn, DraftColumn } from '../definition/queries.ts';

const attributes = [
  'name',
  'data_type',
  'length',
  'scale',
  'is_primary_key',
  'is_required',
  'foreign_key_table_id',
  'is_hierarchy',
  'valid_values',
  'description',
] as const satisfies readonly (keyof AnyColumn)[];
type Attribute = (typeof attributes)[number];

export type ColumnPair = {
  id: number;
  draft: DraftColumn | undefined;
  deployed: Column | undefined;
  change: 'create' | 'update' | 'delete' | undefined;
  /** What a changed column has otherwise than the one in service. */
  changed: Attribute[];
};

/** The columns in the order of the draft; one that it has no more stands where it was. */
export function pairColumns(draft: DraftColumn[], deployed: Column[]): ColumnPair[] {
  const pairs = draft.map((column): ColumnPair => {
    const old = deployed.find(({ id }) => id === column.id);
    const changed = old ? attributes.filter((name) => old[name] !== column[name]) : [];
    const change = old === undefined ? 'create' : changed.length > 0 ? 'update' : undefined;
    return { id: column.id, draft: column, deployed: old, change, changed };
  });
  deployed.forEach((column, place) => {
    if (draft.some(({ id }) => id === column.id)) return;
    const before = deployed[place - 1];
    const at = before === undefined ? 0 : pairs.findIndex(({ id }) => id === before.id) + 1;
    pairs.splice(at, 0, { id: column.id, draft: undefined, deployed: column, change: 'delete', changed: [] });
  });
  return pairs;
}

/** Whether the columns that both have stand in another order. */
export function isReordered(draft: DraftColumn[], deployed: Column[]): boolean {
  const ids = draft.map(({ id }) => id).filter((id) => deployed.some((column) => column.id === id));
  const before = deployed.map(({ id }) => id).filter((id) => ids.includes(id));
  return ids.some((id, place) => id !== before[place]);
}
