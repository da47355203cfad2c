// Edits outlive the page: a session that ends, a crash or a closed tab loses nothing that was
// typed. They are kept in the browser by person and table, until they are saved or discarded, or
// the person signs out.
import { type Edits, noEdits, type RowEdit } from './edits.ts';
import type { SentBatch } from './save-edits.ts';

/** All keys of kept edits begin with it. */
export const keptEditsPrefix = 'almanac.edits.';

const keyOf = (userId: number, tableId: number) => `${keptEditsPrefix}${userId}.${tableId}`;

/** The edits of a table, and what was sent of them without an answer. */
export type KeptEdits = { edits: Edits; unanswered: SentBatch | undefined };

type Stored = { edits: RowEdit[]; unanswered?: SentBatch | undefined };

export function readKeptEdits(userId: number, tableId: number): KeptEdits {
  try {
    const text = localStorage.getItem(keyOf(userId, tableId)) ?? '{"edits":[]}';
    const stored = JSON.parse(text) as Stored | RowEdit[];
    // Release 0.1.0 kept the edits alone.
    const { edits, unanswered } = Array.isArray(stored) ? { edits: stored } : stored;
    return { edits: new Map(edits.map((edit) => [edit.id, edit])), unanswered };
  } catch {
    return { edits: noEdits, unanswered: undefined };
  }
}

/** Keeps the edits of a table; none removes what was kept. Answers whether there was room. */
export function keepEdits(userId: number, tableId: number, { edits, unanswered }: KeptEdits): boolean {
  const key = keyOf(userId, tableId);
  try {
    if (edits.size === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify({ edits: [...edits.values()], unanswered }));
    return true;
  } catch {
    return false;
  }
}
