// The three-way comparison of one table (design 3.6): what source and target had in common last, what each made of it since, and
// what comes of both. Pure. Columns are the same by lineage, so a new name is a rename; foreign keys and domains are attributes
// like others, the order of the columns too.
import {
  type ColumnStructure,
  keptStructure,
  type TableStructure,
} from '../../../table-definitions/table-structure.ts';

export const resolutions = ['source', 'target'] as const;
export type Resolution = (typeof resolutions)[number];

/** Where both sides made different things of the same; `column` null: of the table itself. `exists`: one took it away. */
export type Conflict = {
  table: string;
  column: string | null;
  attribute: string;
  /** Of a row: the columns of its primary key. */
  row?: Record<string, unknown>;
  base: unknown;
  source: unknown;
  target: unknown;
  /** Null as long as nobody has decided. */
  resolution: Resolution | null;
};

export type ConflictName = Pick<Conflict, 'table' | 'column' | 'attribute' | 'row'>;
/** How a conflict was decided; undefined: not yet. */
export type Decide = (conflict: ConflictName) => Resolution | undefined;

/** The states of one table. No base: the two have nothing in common that is known, so whatever differs is a conflict. */
export type ThreeWays = {
  base: TableStructure | undefined;
  source: TableStructure | undefined;
  target: TableStructure | undefined;
};

/** `merged` undefined: the table goes, or isn't there. What nobody has decided yet stays as the target has it. */
export type Merge = { merged: TableStructure | undefined; conflicts: Conflict[] };

/** Attributes of a column that merge each by itself. */
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
export function mergeTable({ base: kept, source, target }: ThreeWays, decide: Decide): Merge {
  const base = kept && keptStructure(kept);
  if (!source) return mergeDeletion(base, target, decide);
  if (!target) return { merged: source, conflicts: [] };
  const conflicts: Conflict[] = [];
  const merger = createMerger(target.key, decide, conflicts);
  const merged: TableStructure = { ...target };
  for (const attribute of tableAttributes)
    Object.assign(merged, { [attribute]: merger.pick(null, attribute, { base, source, target }) });
  const columns = mergeColumns({ base, source, target }, merger);
  merged.columns = orderColumns({ base, source, target }, columns, merger);
  merged.lookup_display_lineage_id = mergeLookup({ base, source, target }, merged.columns, merger);
  return { merged, conflicts };
}

// Deleted on the source: the target goes too, unless somebody has changed it since.
function mergeDeletion(base: TableStructure | undefined, target: TableStructure | undefined, decide: Decide): Merge {
  if (!target || (base && isSameTable(base, target))) return { merged: undefined, conflicts: [] };
  const conflicts: Conflict[] = [];
  const merger = createMerger(target.key, decide, conflicts);
  const stays = merger.ask(null, 'exists', { base: base && true, source: false, target: true });
  return { merged: stays ? target : undefined, conflicts };
}

type Sides<T> = { base: T | undefined; source: T; target: T };

type Merger = {
  /** Notes a conflict and answers the value of the side it is decided for. `show`: how values look to people. */
  ask<V>(column: string | null, attribute: string, sides: Sides<V>, show?: (value: V) => unknown): V;
  /** The value as both sides leave it; a conflict where they differ. */
  settle<V>(column: string | null, attribute: string, sides: Sides<V>, show?: (value: V) => unknown): V;
  /** The same of an attribute of what the sides are. */
  pick<T extends object, K extends keyof T & string>(column: string | null, attribute: K, sides: Sides<T>): T[K];
};

function createMerger(table: string, decide: Decide, conflicts: Conflict[]): Merger {
  const ask: Merger['ask'] = (column, attribute, { base, source, target }, show = (value) => value) => {
    const name = { table, column, attribute };
    const resolution = decide(name) ?? null;
    const shown = { base: base === undefined ? null : show(base), source: show(source), target: show(target) };
    conflicts.push({ ...name, ...shown, resolution });
    return resolution === 'source' ? source : target;
  };
  const settle: Merger['settle'] = (column, attribute, sides, show) => {
    const { base, source, target } = sides;
    if (isSame(source, target) || isSame(base, source)) return target;
    if (isSame(base, target)) return source;
    return ask(column, attribute, sides, show);
  };
  return {
    ask,
    settle,
    pick: (column, attribute, { base, source, target }) =>
      settle(column, attribute, { base: base?.[attribute], source: source[attribute], target: target[attribute] }),
  };
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const contentOf = (column: ColumnStructure) => columnAttributes.map((attribute) => column[attribute]);
const isSameColumn = (one: ColumnStructure, other: ColumnStructure) => isSame(contentOf(one), contentOf(other));

/** Whether two states of a table are alike in everything that merges; numbers of positions don't count, their order does. */
export function isSameTable(one: TableStructure, other: TableStructure): boolean {
  const content = (table: TableStructure) => [
    ...tableAttributes.map((attribute) => table[attribute]),
    table.lookup_display_lineage_id,
    table.columns.map((column) => [column.lineage_id, ...contentOf(column)]),
  ];
  return isSame(content(keptStructure(one)), content(keptStructure(other)));
}

type Columns = Map<number, ColumnStructure>;
const byLineage = (table: TableStructure | undefined): Columns =>
  new Map((table?.columns ?? []).map((column) => [column.lineage_id, column]));

// The columns that are left, in no order yet.
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
    const picked = columnAttributes.map((attribute) => [attribute, merger.pick(target.name, attribute, sides)]);
    const merged: ColumnStructure = { ...target, ...Object.fromEntries(picked) };
    return {
      ...merged,
      // A key column is always required, whoever made it one.
      is_required: merged.is_required || merged.is_primary_key,
      // And a hierarchy only while it is the reference that it was when it became one.
      is_hierarchy:
        merged.is_hierarchy && [source, target].some((side) => side.is_hierarchy && isSameReference(side, merged)),
    };
  }
  const left = source ?? target;
  if (!left || !base) return left; // one side added it
  if (isSameColumn(left, base)) return undefined; // the other took it away
  const sides = { base: true, source: source !== undefined, target: target !== undefined };
  return merger.ask(left.name, 'exists', sides) ? left : undefined;
}

// The order of the columns that all sides have is one attribute; each other column follows the one it follows where it comes from.
function orderColumns(sides: Sides<TableStructure>, columns: Columns, merger: Merger): ColumnStructure[] {
  const { base, source, target } = sides;
  const inAll = (lineage: number) =>
    columns.has(lineage) && [base ?? target, source, target].every((side) => byLineage(side).has(lineage));
  const orderOf = (side: TableStructure) => side.columns.map((column) => column.lineage_id);
  const shared = (side: TableStructure) => orderOf(side).filter(inAll);
  const names = (lineages: number[]) => lineages.map((lineage) => columns.get(lineage)?.name);
  const order = merger.settle(
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

// A column that is gone can't be shown.
function mergeLookup(sides: Sides<TableStructure>, columns: ColumnStructure[], merger: Merger): number | null {
  const { base, source, target } = sides;
  const nameOf = (lineage: number | null) =>
    [...columns, ...source.columns, ...target.columns].find((column) => column.lineage_id === lineage)?.name ?? null;
  const present = (lineage: number | null) =>
    columns.some((column) => column.lineage_id === lineage) ? lineage : null;
  const lookup = (side: TableStructure) => present(side.lookup_display_lineage_id);
  return merger.settle(
    null,
    'lookup_display_column',
    { base: base && lookup(base), source: lookup(source), target: lookup(target) },
    nameOf,
  );
}
