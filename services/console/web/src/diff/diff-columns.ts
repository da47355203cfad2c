// The columns of a table of changed rows: the key first, then what some of them change. What none
// of them changes is folded away.
import type { Schemas } from '../api/client.ts';
import type { Column } from '../api/queries.ts';

/** `column` is undefined for those who may approve the request, but not view the table. */
export type DiffColumn = { name: string; column: Column | undefined };
export type DiffColumns = { keys: DiffColumn[]; changed: DiffColumn[]; unchanged: DiffColumn[] };

const firstColumns = 5;

type Operation = Schemas['ChangeOperation'];
/** What is shown of an operation, or of any change of a row. */
export type Shown = Pick<Operation, 'kind' | 'key' | 'base' | 'proposed' | 'current' | 'changed_columns' | 'problems'>;

/** `labelId`: the column that says what a row is called; it is shown even if it stays the same. */
export function diffColumns(
  operations: readonly Shown[],
  columns: readonly Column[],
  labelId: number | null = null,
): DiffColumns {
  const keys = new Set(operations.flatMap(({ key }) => Object.keys(key)));
  const known = columns.toSorted((a, b) => a.position - b.position).map(({ name }) => name);
  const others = operations.flatMap(({ key, base, proposed, current }) =>
    [key, base, proposed, current].flatMap((values) => Object.keys(values ?? {})),
  );
  const names = [...new Set([...known, ...others])].filter((name) => !name.startsWith('svc_'));
  const all = names.map((name) => ({ name, column: columns.find((column) => column.name === name) }));
  const found = operations.flatMap(namesOf);
  // Of rows that are only deleted or restored the first columns say which they are.
  const first = names.filter((name) => !keys.has(name)).slice(0, firstColumns);
  const label = columns.filter(({ id }) => id === labelId).map(({ name }) => name);
  const changed = new Set([...(found.length > 0 ? found : first), ...label]);
  return {
    keys: all.filter(({ name }) => keys.has(name)),
    changed: all.filter(({ name }) => !keys.has(name) && changed.has(name)),
    unchanged: all.filter(({ name }) => !keys.has(name) && !changed.has(name)),
  };
}

/**
 * The columns that the operation gives values to. A value that breaks a rule is a problem alone.
 */
function namesOf({ kind, proposed, changed_columns, problems }: Shown): string[] {
  const broken = problems.flatMap(({ column }) => column ?? []);
  if (kind !== 'create') return [...changed_columns, ...broken];
  const filled = Object.entries(proposed ?? {}).filter(([, value]) => value !== null);
  return [...filled.map(([name]) => name), ...broken];
}

export type DiffCell =
  | { kind: 'added' | 'removed' | 'same'; value: unknown }
  | { kind: 'changed'; before: unknown; after: unknown };

/** What the operation does to a cell of its row. */
export function diffCell(operation: Omit<Shown, 'problems'>, name: string): DiffCell {
  const { kind, key, base, proposed, current, changed_columns } = operation;
  if (kind === 'create') return { kind: 'added', value: proposed?.[name] ?? null };
  if (kind === 'delete') return { kind: 'removed', value: current?.[name] ?? base?.[name] ?? null };
  if (kind === 'restore') return { kind: 'added', value: current?.[name] ?? base?.[name] ?? null };
  if (changed_columns.includes(name))
    return { kind: 'changed', before: base?.[name] ?? null, after: proposed?.[name] ?? null };
  return { kind: 'same', value: current?.[name] ?? base?.[name] ?? key[name] ?? null };
}
