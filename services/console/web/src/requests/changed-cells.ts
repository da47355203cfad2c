// The cells that an operation changes, to show them old over new.
import type { Schemas } from '../api/client.ts';

type Operation = Pick<Schemas['ChangeOperation'], 'kind' | 'base' | 'proposed' | 'changed_columns'>;

/** A cell without `before` is new, one without `after` is deleted. */
export type ChangedCell = { name: string; before?: unknown; after?: unknown };

/** Of a new or deleted row all cells with a value; of a changed one those that change. */
export function changedCells({ kind, base, proposed, changed_columns }: Operation): ChangedCell[] {
  if (kind === 'create') return filled(proposed).map(([name, after]) => ({ name, after }));
  if (kind === 'delete') return filled(base).map(([name, before]) => ({ name, before }));
  return changed_columns.map((name) => ({ name, before: base?.[name] ?? null, after: proposed?.[name] ?? null }));
}

function filled(values: Record<string, unknown> | null): [string, unknown][] {
  return Object.entries(values ?? {}).filter(([name, value]) => value !== null && !name.startsWith('svc_'));
}
