// The tables of a request that a person has marked as viewed, in this browser. A mark is for what
// they have seen: it ends when others change the request or its rows.
const storageKey = 'almanac.viewed-tables';
const keptRequests = 50;

/** Whose marks, and of which request under which revision. */
export type Seen = { userId: number; requestId: number; revision: string | null };
type Kept = { of: string; revision: string | null; tables: number[] };

export function viewedTables(seen: Seen): number[] {
  return viewedIn(localStorage.getItem(storageKey), seen);
}

export function keepViewedTables(seen: Seen, tables: readonly number[]): void {
  localStorage.setItem(storageKey, withViewed(localStorage.getItem(storageKey), seen, tables));
}

export function viewedIn(text: string | null, seen: Seen): number[] {
  const kept = read(text).find(({ of, revision }) => of === nameOf(seen) && revision === seen.revision);
  return kept?.tables ?? [];
}

/** The text with these marks, those set last first; the oldest fall out. */
export function withViewed(text: string | null, seen: Seen, tables: readonly number[]): string {
  const others = read(text).filter(({ of }) => of !== nameOf(seen));
  const kept: Kept = { of: nameOf(seen), revision: seen.revision, tables: [...tables] };
  return JSON.stringify([kept, ...others].slice(0, keptRequests));
}

const nameOf = ({ userId, requestId }: Seen) => `${userId}:${requestId}`;

function read(text: string | null): Kept[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(kept) ? kept.filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(value: unknown): value is Kept {
  return typeof value === 'object' && value !== null && Array.isArray((value as Kept).tables);
}
