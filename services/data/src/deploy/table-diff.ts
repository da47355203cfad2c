// Compares a wanted table with the deployed one, by lineage, attribute by attribute: what people are shown.
import type { Column, DeployedTable, WantedTable } from '../catalogue/structure.ts';

export type AttributeChange = { name: string; from: string; to: string };
export type Change = 'new' | 'modified' | 'deleted' | 'unchanged';
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

/** Values of attributes are JSON text. */
export function diffTable(old: DeployedTable | undefined, wanted: WantedTable): Diff {
  const attributes = changes(old && tableAttributes(old), tableAttributes(wanted));
  const columns = diffColumns(old?.structure.columns ?? [], wanted.structure.columns);
  if (!old) return { change: 'new', attributes, columns };
  const order = changes(columnOrder(old, wanted), columnOrder(wanted, old));
  const all = [...attributes, ...order];
  const changed = all.length > 0 || columns.some((column) => column.change !== 'unchanged');
  return { change: changed ? 'modified' : 'unchanged', attributes: all, columns };
}

function tableAttributes(table: WantedTable): Record<string, unknown> {
  return {
    name: table.name,
    key: table.key,
    description: table.structure.description,
    domain_id: table.domain_id,
    load_type: table.load_type,
    lookup_display_column_id: table.structure.lookup_display_column_id,
  };
}

// The order of the columns both have.
function columnOrder(one: WantedTable, other: WantedTable): Record<string, unknown> {
  const shared = new Set(other.structure.columns.map((column) => column.lineage_id));
  const names = new Map(other.structure.columns.map((column) => [column.lineage_id, column.name]));
  return {
    column_order: one.structure.columns
      .filter((column) => shared.has(column.lineage_id))
      .map((column) => [column.name, names.get(column.lineage_id) as string].toSorted()[0]),
  };
}

function diffColumns(old: Column[], wanted: Column[]): ColumnDiff[] {
  const before = new Map(old.map((column) => [column.lineage_id, column]));
  const kept = new Set(wanted.map((column) => column.lineage_id));
  const present = wanted.map((column): ColumnDiff => {
    const was = before.get(column.lineage_id);
    const attributes = changes(was && pick(was), pick(column));
    const change = was ? (attributes.length > 0 ? 'modified' : 'unchanged') : 'new';
    return { name: column.name, change, attributes };
  });
  const gone = old
    .filter((column) => !kept.has(column.lineage_id))
    .map((column): ColumnDiff => ({ name: column.name, change: 'deleted', attributes: [] }));
  return [...present, ...gone];
}

const pick = (column: Column): Record<string, unknown> =>
  Object.fromEntries(columnAttributes.map((name) => [name, column[name]]));

function changes(from: Record<string, unknown> | undefined, to: Record<string, unknown>): AttributeChange[] {
  return Object.keys(to).flatMap((name) => {
    const before = JSON.stringify(from?.[name] ?? null);
    const after = JSON.stringify(to[name] ?? null);
    const unset = from === undefined && (after === 'null' || after === '[]' || after === '""' || after === 'false');
    return before === after || unset ? [] : [{ name, from: before, to: after }];
  });
}
