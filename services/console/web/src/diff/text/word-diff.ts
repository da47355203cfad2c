// What has changed within a long text, word by word.

export type TextPart = { kind: 'same' | 'removed' | 'added'; text: string };

// Shorter texts are read faster one over the other, and the table of longer ones would be too
// large.
const shortest = 30;
const mostWords = 600;

/** The parts of both texts in their order; undefined where old over new reads better. */
export function wordDiff(before: unknown, after: unknown): TextPart[] | undefined {
  if (typeof before !== 'string' || typeof after !== 'string') return undefined;
  if (Math.min(before.length, after.length) < shortest) return undefined;
  const [old, fresh] = [wordsOf(before), wordsOf(after)];
  if (old.length > mostWords || fresh.length > mostWords) return undefined;
  const parts = joined(partsOf(old, fresh));
  const kept = parts.filter(({ kind }) => kind === 'same').reduce((sum, { text }) => sum + text.length, 0);
  // Texts with little in common would be a patchwork.
  return kept * 2 >= Math.min(before.length, after.length) ? parts : undefined;
}

/** Words with the spaces after them, so that the parts make up the texts again. */
function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

function partsOf(old: string[], fresh: string[]): TextPart[] {
  const lengths = commonLengths(old, fresh);
  const parts: TextPart[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      parts.push({ kind: 'same', text: old[i] as string });
      i += 1;
      j += 1;
    } else if (i < old.length && (j === fresh.length || at(lengths, i + 1, j) >= at(lengths, i, j + 1))) {
      parts.push({ kind: 'removed', text: old[i] as string });
      i += 1;
    } else {
      parts.push({ kind: 'added', text: fresh[j] as string });
      j += 1;
    }
  }
  return parts;
}

/** How many words the texts have in common, in their order, from each place on. */
function commonLengths(old: string[], fresh: string[]): Uint16Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = fresh.length - 1; j >= 0; j -= 1)
      (lengths[i] as Uint16Array)[j] =
        old[i] === fresh[j] ? at(lengths, i + 1, j + 1) + 1 : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
  return lengths;
}

const at = (lengths: Uint16Array[], i: number, j: number): number => lengths[i]?.[j] ?? 0;

/** Neighbours of one kind are one part. */
function joined(parts: TextPart[]): TextPart[] {
  const found: TextPart[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (last?.kind === part.kind) last.text += part.text;
    else found.push({ ...part });
  }
  return found;
}
