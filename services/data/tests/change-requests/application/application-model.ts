// An application as plain as possible, in memory, that the set-based one must equal.
export type Value = string | number | null;
export type ModelColumn = {
  name: string;
  required: boolean;
  list?: string[];
  /** The table that it refers to. */
  refersTo?: number;
  isHierarchy?: boolean;
};
export type ModelRow = { id: number; version: number; deleted: boolean; cells: Record<string, Value> };
/** The first column is the key. */
export type ModelTable = { columns: ModelColumn[]; rows: Map<number, ModelRow> };
export type ModelOperation = {
  table: number;
  kind: 'create' | 'update' | 'delete' | 'restore';
  id?: number;
  cells: Record<string, Value>;
  /** The row that it is based on. */
  base?: ModelRow;
};

export const copyOfRow = (row: ModelRow): ModelRow => ({ ...row, cells: { ...row.cells } });
export const keyOf = ({ columns }: ModelTable): string => (columns[0] as ModelColumn).name;

/**
 * The live rows of each table after the operations, and the places of those with a problem of their
 * own. `isRefused`: also when only the outcome as a whole breaks a rule.
 */
export function applyModel(
  tables: ReadonlyMap<number, ModelTable>,
  operations: ModelOperation[],
): { isRefused: boolean; own: Set<number>; rows: Map<number, Record<string, Value>[]> } {
  const own = new Set<number>();
  const after = new Map(
    [...tables].map(([id, { rows }]) => [id, new Map([...rows].map(([sk, row]) => [sk, copyOfRow(row)]))]),
  );
  for (const [place, { table, kind, id, cells, base }] of operations.entries()) {
    const { columns } = tables.get(table) as ModelTable;
    const rows = after.get(table) as Map<number, ModelRow>;
    if (kind === 'create') {
      const full = Object.fromEntries(columns.map(({ name }) => [name, cells[name] ?? null]));
      if (columns.some((column) => isBroken(column, full[column.name] ?? null))) own.add(place);
      rows.set(-place - 1, { id: -place - 1, version: 1, deleted: false, cells: full });
      continue;
    }
    const row = rows.get(id as number) as ModelRow;
    const was = base as ModelRow;
    if (kind === 'update') {
      if (row.deleted || columns.some((column) => column.name in cells && isBroken(column, cells[column.name] ?? null)))
        own.add(place);
      for (const [name, cell] of Object.entries(cells)) {
        if (row.cells[name] !== was.cells[name] && row.cells[name] !== cell && row.version !== was.version)
          own.add(place);
        row.cells[name] = cell;
      }
    } else {
      const isInTheWay =
        kind === 'delete' ? !row.deleted && row.version !== was.version : !row.deleted || row.version !== was.version;
      if (isInTheWay) own.add(place);
      row.deleted = kind === 'delete';
    }
  }
  const live = new Map([...after].map(([id, rows]) => [id, [...rows.values()].filter(({ deleted }) => !deleted)]));
  const isRefused = own.size > 0 || handsKeyOver(tables, operations) || breaksRules(tables, live);
  return { isRefused, own, rows: new Map([...live].map(([id, rows]) => [id, rows.map(({ cells }) => cells)])) };
}

const isBroken = ({ required, list }: ModelColumn, value: Value) =>
  value === null ? required : value === 'no number' || (list !== undefined && !list.includes(String(value)));

// No key goes from one changed row to another.
function handsKeyOver(tables: ReadonlyMap<number, ModelTable>, operations: ModelOperation[]): boolean {
  const changes = operations.flatMap(({ table, kind, id, cells }) => {
    const model = tables.get(table) as ModelTable;
    const before = model.rows.get(id ?? 0)?.cells[keyOf(model)];
    const key = cells[keyOf(model)];
    return kind === 'update' && key !== undefined ? [{ table, before, key }] : [];
  });
  return changes.some(({ table, before, key }) =>
    changes.some((other) => other.table === table && other.key === before && key !== before && other.before !== before),
  );
}

function breaksRules(tables: ReadonlyMap<number, ModelTable>, live: ReadonlyMap<number, ModelRow[]>): boolean {
  const keys = new Map(
    [...live].map(([id, rows]) => [id, rows.map(({ cells }) => cells[keyOf(tables.get(id) as ModelTable)])]),
  );
  for (const [id, rows] of live) {
    const model = tables.get(id) as ModelTable;
    if (new Set(keys.get(id)).size < rows.length) return true;
    for (const column of model.columns) {
      if (rows.some(({ cells }) => isBroken(column, cells[column.name] ?? null))) return true;
      if (column.refersTo === undefined) continue;
      const targets = new Set(keys.get(column.refersTo));
      if (rows.some(({ cells }) => cells[column.name] !== null && !targets.has(cells[column.name]))) return true;
      if (column.isHierarchy && hasCycle(rows, keyOf(model), column.name)) return true;
    }
  }
  return false;
}

function hasCycle(rows: ModelRow[], key: string, name: string): boolean {
  const parents = new Map(rows.map(({ cells }) => [cells[key], cells[name]]));
  return rows.some(({ cells }) => {
    let at: Value | undefined = cells[name];
    for (let steps = 0; at !== null && at !== undefined; steps += 1) {
      if (steps > rows.length) return true;
      at = parents.get(at);
    }
    return false;
  });
}
