// Similarity of two column names, from 0 to 1: 1 for equal ones, slightly less when only case,
// accents or separators differ, else by their words and letters. Pure.
import { foldName } from '../formats/table-file/column-names.ts';

/** A name prepared for comparison with many others: its words, and its pairs of letters, sorted. */
export type ComparedName = {
  fold: string;
  words: string[];
  wordSet: ReadonlySet<string>;
  text: string;
  pairs: Uint32Array;
};

// A mapping allows no longer names; each is compared with every column of a table.
const maxNameLength = 255;

/** Words are lower case, without accents, split at separators and before capitals. */
export function readName(name: string): ComparedName {
  if (name.length > maxNameLength)
    return { fold: name, words: [], wordSet: new Set(), text: '', pairs: new Uint32Array() };
  const plain = name.replaceAll('ß', 'ss').normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const cut = plain.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  const words = cut.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const text = words.join('');
  const pairs = Uint32Array.from({ length: Math.max(text.length - 1, 1) }, (_, i) => pairAt(text, i)).sort();
  return { fold: foldName(name), words: words.toSorted(), wordSet: new Set(words), text, pairs };
}

const pairAt = (text: string, i: number) => (text.charCodeAt(i) || 0) * 0x10000 + (text.charCodeAt(i + 1) || 0);

/**
 * Compares a name with many. An index holds the words and pairs of all names, so only common parts
 * are visited, however many and long the names are.
 */
export function similarityTo(names: readonly ComparedName[]): (name: ComparedName) => Float64Array {
  const words = buildIndex(names.map((name) => name.words));
  const distinct = buildIndex(names.map(({ wordSet }) => [...wordSet]));
  const pairs = buildIndex(names.map((name) => name.pairs));
  return (name) => {
    const shared = {
      words: words(name.words),
      distinct: distinct([...name.wordSet]),
      pairs: pairs(name.pairs),
    };
    return Float64Array.from(names, (other, i) =>
      similarity(name, other, {
        words: shared.words[i] as number,
        distinct: shared.distinct[i] as number,
        pairs: shared.pairs[i] as number,
      }),
    );
  };
}

/**
 * How many elements of a sorted list occur in each of the lists; a repeated element counts
 * repeatedly.
 */
function buildIndex<T extends string | number>(lists: ArrayLike<T>[]): (list: ArrayLike<T>) => Uint16Array {
  const places = new Map<T | string, number[]>();
  for (const [i, list] of lists.entries())
    for (const key of keysOf(list)) {
      const found = places.get(key);
      if (found) found.push(i);
      else places.set(key, [i]);
    }
  return (list) => {
    const counts = new Uint16Array(lists.length);
    for (const key of keysOf(list)) for (const i of places.get(key) ?? []) counts[i] = (counts[i] as number) + 1;
    return counts;
  };
}

// A repeated element gets a key of its own. No word contains a blank.
function* keysOf<T extends string | number>(list: ArrayLike<T>): Generator<T | string> {
  let times = 0;
  for (let i = 0; i < list.length; i += 1) {
    times = i > 0 && list[i] === list[i - 1] ? times + 1 : 0;
    yield times === 0 ? (list[i] as T) : `${list[i]} ${times}`;
  }
}

type Shared = { words: number; distinct: number; pairs: number };

function similarity(one: ComparedName, other: ComparedName, shared: Shared): number {
  if (one.fold === other.fold) return 1;
  if (one.text === '' || other.text === '') return 0;
  if (one.text === other.text) return 0.97;
  const words = dice(shared.words, one.words, other.words);
  if (words === 1) return 0.95; // in another order
  // Words weigh more than letters: "country code" is closer to "code of the country" than to
  // "county mode".
  const alike = 0.9 * Math.max(words * 0.9, dice(shared.pairs, one.pairs, other.pairs));
  const isPart = shared.distinct === Math.min(one.wordSet.size, other.wordSet.size);
  return Math.max(alike, isPart ? partialScore : 0);
}

/** For "city" and "city name": a match if nothing is closer. */
const partialScore = 0.7;

/** The Dice coefficient of two lists. */
const dice = (shared: number, { length: one }: ArrayLike<unknown>, { length: other }: ArrayLike<unknown>) =>
  (2 * shared) / (one + other);
