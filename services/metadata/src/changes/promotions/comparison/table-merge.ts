// The three-way merge of one table (design 3.6), pure: the base that source and target had in
// common last, the changes of each since, and the result of both. Columns are matched by lineage,
// so a new name is a rename. Foreign keys, domains and the order of columns are attributes like
// others.
import {
  type ColumnStructure,
  readStructure,
  type TableStructure,
} from '../../../table-definitions/table-structure.ts';

export const resolutions = ['source', 'target'] as const;
export type Resolution = (typeof resolutions)[number];

/**
 * A part that both sides changed differently. `column` null: an attribute of the table itself.
 * Attribute `exists`: one side deleted it.
 */
export type Conflict = {
  table: string;
  column: string | null;
  attribute: string;
  /** For rows: the columns of the primary key. */
  row?: Record<string, unknown>;
  base: unknown;
  source: unknown;
  target: unknown;
  /** Null while the conflict is open. */
  resolution: Resolution | null;
};

export type ConflictName = Pick<Conflict, 'table' | 'column' | 'attribute' | 'row'>;
/** The resolution of a conflict; undefined while it is open. */
export type Decide = (conflict: ConflictName) => Resolution | undefined;

/** The states of one table. Without a known base every difference is a conflict. */
export type ThreeWays = {
  base: TableStructure | undefined;
  source: TableStructure | undefined;
  target: TableStructure | undefined;
};

/** `merged` undefined: no table remains. An open conflict stays as the target has it. */
export type Merge = { merged: TableStructure | undefined; conflicts: Conflict[] };

/** The attributes of a column, each merged independently. */
export const columnAttributes = [
  'name',
  'data_type',
  'length',
  'scale',
  'is_primary_key',
  'is_required',
  'foreign_key_table_key',
  'is_hierarchy',
  'valid_values',
  'description',
] as const satisfies readonly (keyof ColumnStructure)[];

const tableAttributes = [
  'name',
  'description',
  'domain_id',
  'load_type',
] as const satisfies readonly (keyof TableStructure)[];

/** Merges the source's changes since the base into the target. */
export function mergeTable({ base: storedBase, source, target }: ThreeWays, decide: Decide): Merge {
  const base = storedBase && readStructure(storedBase);
  if (!source) return mergeDeletion(base, target, decide);
  if (!target) return { merged: source, conflicts: [] };
  const conflicts: Conflict[] = [];
  const merger = createMerger(target.key, decide, conflicts);
  const merged: TableStructure = { ...target };
  for (const attribute of tableAttributes)
    Object.assign(merged, { [attribute]: merger.mergeAttribute(null, attribute, { base, source, target }) });
  const columns = mergeColumns({ base, source, target }, merger);
  merged.columns = orderColumns({ base, source, target }, columns, merger);
  merged.lookup_display_lineage_id = mergeLookup({ base, source, target }, merged.columns, merger);
  return { merged, conflicts };
}

// Deleted on the source: the target is deleted too, unless it was changed since.
function mergeDeletion(base: TableStructure | undefined, target: TableStructure | undefined, decide: Decide): Merge {
  if (!target || (base && isSameTable(base, target))) return { merged: undefined, conflicts: [] };
  const conflicts: Conflict[] = [];
  const merger = createMerger(target.key, decide, conflicts);
  const stays = merger.conflict(null, 'exists', { base: base && true, source: false, target: true });
  return { merged: stays ? target : undefined, conflicts };
}

type Sides<T> = { base: T | undefined; source: T; target: T };

type Merger = {
  /**
   * Adds a conflict and answers the value of the side it is resolved for. `show` formats values.
   */
  conflict<V>(column: string | null, attribute: string, sides: Sides<V>, show?: (value: V) => unknown): V;
  /** The value of the side that changed it; a conflict where both did. */
  mergeValue<V>(column: string | null, attribute: string, sides: Sides<V>, show?: (value: V) => unknown): V;
  /** The same for an attribute of a table or column. */
  mergeAttribute<T extends object, K extends keyof T & string>(
    column: string | null,
    attribute: K,
    sides: Sides<T>,
  ): T[K];
};

function createMerger(table: string, decide: Decide, conflicts: Conflict[]): Merger {
  const conflict: Merger['conflict'] = (column, attribute, { base, source, target }, show = (value) => value) => {
    const name = { table, column, attribute };
    const resolution = decide(name) ?? null;
    const shown = { base: base === undefined ? null : show(base), source: show(source), target: show(target) };
    conflicts.push({ ...name, ...shown, resolution });
    return resolution === 'source' ? source : target;
  };
  const mergeValue: Merger['mergeValue'] = (column, attribute, sides, show) => {
    const { base, source, target } = sides;
    if (isSame(source, target) || isSame(base, source)) return target;
    if (isSame(base, target)) return source;
    return conflict(column, attribute, sides, show);
  };
  return {
    conflict,
    mergeValue,
    mergeAttribute: (column, attribute, { base, source, target }) =>
      mergeValue(column, attribute, { base: base?.[attribute], source: source[attribute], target: target[attribute] }),
  };
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const contentOf = (column: ColumnStructure) => columnAttributes.map((attribute) => column[attribute]);
const isSameColumn = (one: ColumnStructure, other: ColumnStructure) => isSame(contentOf(one), contentOf(other));

/**
 * True when two states of a table are equal in everything that merges. The order of columns counts,
 * their position numbers don't.
 */
export function isSameTable(one: TableStructure, other: TableStructure): boolean {
  const content = (table: TableStructure) => [
    ...tableAttributes.map((attribute) => table[attribute]),
    table.lookup_display_lineage_id,
    table.columns.map((column) => [column.lineage_id, ...contentOf(column)]),
  ];
  return isSame(content(readStructure(one)), content(readStructure(other)));
}

type Columns = Map<number, ColumnStructure>;
const byLineage = (table: TableStructure | undefined): Columns =>
  new Map((table?.columns ?? []).map((column) => [column.lineage_id, column]));

// The merged columns, not ordered yet.
function mergeColumns({ base, source, target }: Sides<TableStructure>, merger: Merger): Columns {
  const [bases, sources, targets] = [byLineage(base), byLineage(source), byLineage(target)];
  const merged: Columns = new Map();
  for (const lineage of new Set([...targets.keys(), ...sources.keys()])) {
    const column = mergeColumn(
      { base: bases.get(lineage), source: sources.get(lineage), target: targets.get(lineage) },
      merger,
    );
    if (column) merged.set(lineage, column);
  }
  return merged;
}

const isSameReference = (one: ColumnStructure, other: ColumnStructure) =>
  one.foreign_key_table_key === other.foreign_key_table_key;

type ColumnSides = { base?: ColumnStructure; source?: ColumnStructure; target?: ColumnStructure };

function mergeColumn({ base, source, target }: ColumnSides, merger: Merger): ColumnStructure | undefined {
  if (source && target) {
    const sides = { base, source, target };
    const attributes = columnAttributes.map((attribute) => [
      attribute,
      merger.mergeAttribute(target.name, attribute, sides),
    ]);
    const merged: ColumnStructure = { ...target, ...Object.fromEntries(attributes) };
    return {
      ...merged,
      // A key column is always required, whichever side made it one.
      is_required: merged.is_required || merged.is_primary_key,
      // A column stays a hierarchy only with the reference that it had when it became one.
      is_hierarchy:
        merged.is_hierarchy && [source, target].some((side) => side.is_hierarchy && isSameReference(side, merged)),
    };
  }
  const remaining = source ?? target;
  if (!remaining || !base) return remaining; // one side added it
  if (isSameColumn(remaining, base)) return undefined; // the other deleted it
  const sides = { base: true, source: source !== undefined, target: target !== undefined };
  return merger.conflict(remaining.name, 'exists', sides) ? remaining : undefined;
}

// The order of the columns that all sides have is one attribute. Any other column follows the
// column that it follows on its own side.
function orderColumns(sides: Sides<TableStructure>, columns: Columns, merger: Merger): ColumnStructure[] {
  const { base, source, target } = sides;
  const inAll = (lineage: number) =>
    columns.has(lineage) && [base ?? target, source, target].every((side) => byLineage(side).has(lineage));
  const orderOf = (side: TableStructure) => side.columns.map((column) => column.lineage_id);
  const shared = (side: TableStructure) => orderOf(side).filter(inAll);
  const names = (lineages: number[]) => lineages.map((lineage) => columns.get(lineage)?.name);
  const order = merger.mergeValue(
    null,
    'column_order',
    { base: base && shared(base), source: shared(source), target: shared(target) },
    names,
  );
  const placed = [...order];
  for (const side of [target, source])
    insertAfter(
      placed,
      orderOf(side).filter((lineage) => columns.has(lineage)),
    );
  return placed.map((lineage, index) => ({ ...(columns.get(lineage) as ColumnStructure), position: index + 1 }));
}

function insertAfter(placed: number[], order: number[]): void {
  order.forEach((lineage, index) => {
    if (placed.includes(lineage)) return;
    const before = order[index - 1];
    placed.splice(before === undefined ? 0 : placed.indexOf(before) + 1, 0, lineage);
  });
}

// A deleted column can't be the lookup display column.
function mergeLookup(sides: Sides<TableStructure>, columns: ColumnStructure[], merger: Merger): number | null {
  const { base, source, target } = sides;
  const nameOf = (lineage: number | null) =>
    [...columns, ...source.columns, ...target.columns].find((column) => column.lineage_id === lineage)?.name ?? null;
  const present = (lineage: number | null) =>
    columns.some((column) => column.lineage_id === lineage) ? lineage : null;
  const lookup = (side: TableStructure) => present(side.lookup_display_lineage_id);
  return merger.mergeValue(
    null,
    'lookup_display_column',
    { base: base && lookup(base), source: lookup(source), target: lookup(target) },
    nameOf,
  );
}
