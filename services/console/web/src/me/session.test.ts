import { dropEdits, hasPendingEdits } from './session.ts';

function storageOf(entries: Record<string, string>): Storage {
  const kept = new Map(Object.entries(entries));
  return {
    get length() {
      return kept.size;
    },
    key: (index) => [...kept.keys()][index] ?? null,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
    clear: () => kept.clear(),
  };
}

describe('pending edits', () => {
  it('are dropped when a person signs out, and what the browser keeps stays', () => {
    const storage = storageOf({ 'almanac.edits.7.12': '[]', 'almanac.theme': 'dark', 'almanac.edits.7.13': '[]' });
    expect(hasPendingEdits(storage)).toBe(true);
    dropEdits(storage);
    expect(hasPendingEdits(storage)).toBe(false);
    expect(storage.getItem('almanac.theme')).toBe('dark');
    expect(storage.length).toBe(1);
  });
});
