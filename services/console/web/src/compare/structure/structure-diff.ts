// How the deployed structures of two branches differ. Tables are matched by their keys, which
// copies keep, and columns by their names.
import type { Schemas } from '../../api/client.ts';
import type { Column, Table } from '../../api/queries.ts';

type TableDiff = Schemas['TableDiff'];
type Attribute = Schemas['AttributeChange'];

/** A table of one side or of both. */
export type ComparedTable = {
  key: string;
  name: string;
  left: Table | undefined;
  right: Table | undefined;
  diff: TableDiff;
};

/** The tables of both sides by name, and after them those of one side. */
export function compareTables(left: readonly Table[], right: readonly Table[]): ComparedTable[] {
  const onLeft = byKey(left);
  const onRight = byKey(right);
  const keys = [...new Set([...onLeft.keys(), ...onRight.keys()])];
  return keys
    .map((key) => {
      const [a, b] = [onLeft.get(key), onRight.get(key)];
      const diff = diffOf(a && describe(a, left), b && describe(b, right), key);
      return { key, name: diff.name, left: a, right: b, diff };
    })
    .toSorted((a, b) => isOfOneSide(a) - isOfOneSide(b) || a.name.localeCompare(b.name));
}

const isOfOneSide = ({ left, right }: ComparedTable) => Number(!left || !right);
const byKey = (tables: readonly Table[]) => new Map(tables.map((table) => [table.key, table]));

type Described = { table: Table; attributes: Record<string, unknown>; columns: Map<string, Record<string, unknown>> };

function describe(table: Table, tables: readonly Table[]): Described {
  const columns = table.column_definitions.toSorted((a, b) => a.position - b.position);
  const { name, description, domain, load_type, lookup_display_column_id: labelId } = table;
  const keyOf = (id: number | null) => tables.find((one) => one.id === id)?.key ?? null;
  return {
    table,
    attributes: {
      name,
      description,
      domain_id: domain.name,
      load_type,
      lookup_display_column: columns.find(({ id }) => id === labelId)?.name ?? null,
    },
    columns: new Map(columns.map((column) => [column.name, describeColumn(column, keyOf)])),
  };
}

function describeColumn(column: Column, keyOf: (id: number | null) => string | null): Record<string, unknown> {
  const { data_type, length, scale, is_primary_key, is_required, foreign_key_table_id, is_hierarchy } = column;
  const { valid_values, description } = column;
  const foreign_key_table_key = keyOf(foreign_key_table_id);
  const rules = { is_primary_key, is_required, foreign_key_table_key, is_hierarchy, valid_values };
  return { data_type, length, scale, ...rules, description };
}

function diffOf(left: Described | undefined, right: Described | undefined, key: string): TableDiff {
  const { id, name } = (right ?? left)?.table ?? { id: 0, name: key };
  const attributes = changesOf(left?.attributes, right?.attributes);
  const names = [...new Set([...(right?.columns.keys() ?? []), ...(left?.columns.keys() ?? [])])];
  const columns = names.map((column) => {
    const [before, after] = [left?.columns.get(column), right?.columns.get(column)];
    const changed = changesOf(before, after);
    return { name: column, change: changeOf(before, after, changed.length > 0), attributes: changed };
  });
  const isModified = attributes.length > 0 || columns.some(({ change }) => change !== 'unchanged');
  const change = changeOf(left, right, isModified);
  return {
    table_definition_id: id,
    key,
    name,
    change,
    attributes,
    columns,
    statements: [],
    warnings: [],
    blockers: [],
  };
}

function changeOf(left: unknown, right: unknown, isModified: boolean): TableDiff['change'] {
  if (left === undefined) return 'new';
  if (right === undefined) return 'deleted';
  return isModified ? 'modified' : 'unchanged';
}

function changesOf(left: Record<string, unknown> = {}, right: Record<string, unknown> = {}): Attribute[] {
  const names = Object.keys({ ...left, ...right });
  return names
    .map((name) => ({ name, from: left[name] ?? null, to: right[name] ?? null }))
    .filter(({ from, to }) => from !== to);
}
