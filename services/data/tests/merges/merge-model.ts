// A three-way merge as plain as possible, in memory, that the set-based one must equal.
export type Value = string | number | null;
type Cells = Record<string, Value>;
export type Rows = Map<string, Cells>;
export type Side = { columns: string[]; rows: Rows };
/** The last common state, as `of` had it; of columns that are not among these nothing is known. */
export type Base = { of: Side; rows: Rows; columns: string[] };
export type ModelConflict = { key: string; column: string | null; sides: unknown[] };
/** A side for each conflict; undefined: undecided. */
export type Decide = (key: string, column: string | null) => 'source' | 'target' | undefined;

export const copyOfRows = (rows: Rows): Rows => new Map([...rows].map(([key, cells]) => [key, { ...cells }]));

/**
 * The target after the merge, and the conflicts by key and position of the column; undecided ones
 * keep the target's value.
 */
export function mergeModel(
  source: Side,
  target: Side,
  base: Base | undefined,
  decide: Decide,
): { rows: Rows; conflicts: ModelConflict[] } {
  const shared = target.columns.filter((column) => source.columns.includes(column));
  const rows = copyOfRows(target.rows);
  const conflicts: ModelConflict[] = [];
  const ask = (key: string, column: string | null, sides: unknown[]) => {
    conflicts.push({ key, column, sides });
    return decide(key, column) === 'source';
  };
  for (const key of [...new Set([...source.rows.keys(), ...(base?.rows.keys() ?? [])])].sort()) {
    const s = source.rows.get(key);
    const b = base?.rows.get(key);
    const t = target.rows.get(key);
    const was = (column: string): Value => {
      const isKnown = shared.includes(column) ? base?.columns.includes(column) : base?.of === target;
      return (isKnown ? b?.[column] : null) ?? null;
    };
    const isSame = (cells: Cells, columns: string[]) =>
      columns.every((column) => (cells[column] ?? null) === was(column));
    const taken = () => Object.fromEntries(shared.map((column) => [column, s?.[column] ?? null]));
    if (s && b && isSame(s, shared)) continue;
    if (s && t) {
      for (const column of shared) {
        const [mine, theirs] = [s[column] ?? null, t[column] ?? null];
        if (mine === theirs || (b && mine === was(column))) continue;
        if ((b && theirs === was(column)) || ask(key, column, [b ? was(column) : null, mine, theirs]))
          (rows.get(key) as Cells)[column] = mine;
      }
    } else if (s) {
      if (!b || ask(key, null, [true, true, false])) rows.set(key, taken());
    } else if (t && (isSame(t, target.columns) || ask(key, null, [true, false, true]))) rows.delete(key);
  }
  return { rows, conflicts };
}
