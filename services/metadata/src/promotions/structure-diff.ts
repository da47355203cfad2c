// What a merge changes on the target, in the shape in which deployments show their differences too (design 3.5). Data compares
// drafts with what is deployed; this compares drafts with drafts, in which references are keys and names, never ids.

import { splitValues } from '../column-definitions/column-rules.ts';
import type { TableDiff } from '../deployments/deployment-diffs.ts';
import type { ColumnStructure, TableStructure } from '../table-definitions/table-structure.ts';

export type StructureDiff = Pick<TableDiff, 'change' | 'attributes' | 'columns'>;
type Values = Record<string, unknown>;

/** The difference of two states of one table; undefined: not there. */
export function diffStructures(from: TableStructure | undefined, to: TableStructure | undefined): StructureDiff {
  if (!to) return { change: from ? 'deleted' : 'unchanged', attributes: [], columns: [] };
  const columns = diffColumns(from?.columns ?? [], to.columns);
  const attributes = diffValues(from && tableValues(from, to), tableValues(to, from));
  if (!from) return { change: 'new', attributes, columns };
  const isChanged = attributes.length > 0 || columns.some(({ change }) => change !== 'unchanged');
  return { change: isChanged ? 'modified' : 'unchanged', attributes, columns };
}

function tableValues(table: TableStructure, other: TableStructure | undefined): Values {
  const shown = table.columns.find(({ lineage_id }) => lineage_id === table.lookup_display_lineage_id);
  const { name, description, domain_id, load_type } = table;
  return {
    name,
    description,
    domain_id,
    load_type,
    lookup_display_column: shown?.name ?? null,
    ...(other ? { column_order: sharedOrder(table, other) } : {}),
  };
}

// Of the columns both have, by the names they had or have; a rename alone is no other order.
function sharedOrder(table: TableStructure, other: TableStructure): string[] {
  const names = new Map(other.columns.map(({ lineage_id, name }) => [lineage_id, name]));
  return table.columns
    .filter(({ lineage_id }) => names.has(lineage_id))
    .map(({ lineage_id, name }) => [name, names.get(lineage_id) as string].toSorted()[0] as string);
}

function diffColumns(from: ColumnStructure[], to: ColumnStructure[]): StructureDiff['columns'] {
  const before = new Map(from.map((column) => [column.lineage_id, column]));
  const kept = new Set(to.map((column) => column.lineage_id));
  const present = to.map((column) => {
    const was = before.get(column.lineage_id);
    const attributes = diffValues(was && columnValues(was), columnValues(column));
    const change = was ? (attributes.length > 0 ? 'modified' : 'unchanged') : 'new';
    return { name: column.name, change: change as StructureDiff['change'], attributes };
  });
  const gone = from.filter(({ lineage_id }) => !kept.has(lineage_id));
  return [...present, ...gone.map(({ name }) => ({ name, change: 'deleted' as const, attributes: [] }))];
}

function columnValues({ lineage_id: _lineage, position: _place, ...values }: ColumnStructure): Values {
  return { ...values, valid_values: splitValues(values.valid_values) };
}

const isUnset = (value: unknown) => value == null || value === false || (Array.isArray(value) && value.length === 0);

// Of something new, only what it has.
function diffValues(from: Values | undefined, to: Values): StructureDiff['attributes'] {
  return Object.keys(to)
    .filter((name) => (from ? JSON.stringify(from[name]) !== JSON.stringify(to[name]) : !isUnset(to[name])))
    .map((name) => ({ name, from: from?.[name] ?? null, to: to[name] }));
}
