// Merging three ways as plainly as possible, in memory: what the set-based one must equal.
export type Value = string | number | null;
type Cells = Record<string, Value>;
export type Rows = Map<string, Cells>;
export type Side = { columns: string[]; rows: Rows };
/** What both had in common last, as `of` had it; of columns that are not among these nothing is known. */
export type Base = { of: Side; rows: Rows; columns: string[] };
export type ModelConflict = { key: string; column: string | null; sides: unknown[] };
/** A side for each conflict; undefined: nobody has decided. */
export type Decide = (key: string, column: string | null) => 'source' | 'target' | undefined;

export const copyOfRows = (rows: Rows): Rows => new Map([...rows].map(([key, cells]) => [key, { ...cells }]));

/** The target as it becomes, and the conflicts by key and place of the column; what is undecided stays as the target has it. */
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
