// Finds what was typed into the palette.

export type Entry = { id: string; name: string /** Found as well, and shown beside the name. */; note?: string };

/** The entries that match, the best first; all of them for an empty text. */
export function matchEntries<T extends Entry>(entries: readonly T[], typed: string): T[] {
  const words = plain(typed)
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [...entries];
  return entries
    .map((entry, place) => ({ entry, place, score: score(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.place - b.place)
    .map(({ entry }) => entry);
}

// Every word must be found. A name counts more than a note.
function score({ name, note = '' }: Entry, words: readonly string[]): number {
  const scores = words.map((word) => Math.max(2 * scoreWord(plain(name), word), scoreWord(plain(note), word)));
  return scores.includes(0) ? 0 : scores.reduce((sum, one) => sum + one, 0);
}

function scoreWord(text: string, word: string): number {
  if (text === word) return 6;
  if (text.startsWith(word)) return 5;
  if (text.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(word))) return 4;
  if (text.includes(word)) return 3;
  return word.length > 1 && hasInOrder(text, word) ? 1 : 0;
}

/** `cntr` finds Countries. */
function hasInOrder(text: string, letters: string): boolean {
  let from = 0;
  for (const letter of letters) {
    const at = text.indexOf(letter, from);
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
}

/** Without case and accents: `sao` finds São Tomé. */
function plain(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
}
