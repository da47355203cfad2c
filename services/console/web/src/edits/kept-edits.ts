// Edits outlive the page: a session that ends, a crash or a closed tab loses nothing that was
// typed. They are kept in the browser by person and table, until they are saved or discarded, or
// the person signs out.
import { type Edits, noEdits, type RowEdit } from './edits.ts';

/** All keys of kept edits begin with it. */
export const keptEditsPrefix = 'almanac.edits.';

const keyOf = (userId: number, tableId: number) => `${keptEditsPrefix}${userId}.${tableId}`;

export function readKeptEdits(userId: number, tableId: number): Edits {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(userId, tableId)) ?? '[]') as RowEdit[];
    return new Map(kept.map((edit) => [edit.id, edit]));
  } catch {
    return noEdits;
  }
}

/** Keeps the edits of a table; none removes what was kept. Answers whether there was room. */
export function keepEdits(userId: number, tableId: number, edits: Edits): boolean {
  const key = keyOf(userId, tableId);
  try {
    if (edits.size === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify([...edits.values()]));
    return true;
  } catch {
    return false;
  }
}
