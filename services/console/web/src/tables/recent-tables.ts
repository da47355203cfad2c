// The tables opened last in this browser, by key, the newest first.
const storageKey = 'almanac.recent-tables';
const kept = 8;

/** The tables in order: those opened last first, then the others as they stand. */
export function recentFirst<T extends { key: string }>(tables: T[]): T[] {
  const recent = recentTables();
  const place = ({ key }: T) => (recent.includes(key) ? recent.indexOf(key) : recent.length);
  return tables.toSorted((a, b) => place(a) - place(b));
}

function recentTables(): string[] {
  try {
    const keys: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
  } catch {
    return [];
  }
}

export function keepRecentTable(key: string): void {
  const keys = [key, ...recentTables().filter((other) => other !== key)].slice(0, kept);
  localStorage.setItem(storageKey, JSON.stringify(keys));
}
