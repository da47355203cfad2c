// How alike two names of columns are, from 0 to 1: 1 for equal ones, a little less when only case, accents or separators differ, then by
// their words and letters. Pure.
import { foldName } from '../formats/column-names.ts';

/** A name made ready to be compared with many others: its words, and its pairs of letters, as sorted numbers and texts. */
export type ComparedName = {
  fold: string;
  words: string[];
  wordSet: ReadonlySet<string>;
  text: string;
  pairs: Uint32Array;
};

// A mapping takes no longer ones; each is compared with every column of a table.
const longestName = 255;

/** The words of a name are lower case, without accents, cut at separators and where capitals begin. */
export function readName(name: string): ComparedName {
  if (name.length > longestName)
    return { fold: name, words: [], wordSet: new Set(), text: '', pairs: new Uint32Array() };
  const plain = name.replaceAll('ß', 'ss').normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const cut = plain.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  const words = cut.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const text = words.join('');
  const pairs = Uint32Array.from({ length: Math.max(text.length - 1, 1) }, (_, i) => pairAt(text, i)).sort();
  return { fold: foldName(name), words: words.toSorted(), wordSet: new Set(words), text, pairs };
}

const pairAt = (text: string, i: number) => (text.charCodeAt(i) || 0) * 0x10000 + (text.charCodeAt(i + 1) || 0);

/** Symmetric. */
export function likeness(one: ComparedName, other: ComparedName): number {
  if (one.fold === other.fold) return 1;
  if (one.text === '' || other.text === '') return 0;
  if (one.text === other.text) return 0.97;
  const shared = dice(one.words, other.words);
  if (shared === 1) return 0.95; // in another order
  // Words weigh more than letters: "country code" is nearer to "code of the country" than to "county mode".
  const alike = 0.9 * Math.max(shared * 0.9, dice(one.pairs, other.pairs));
  return Math.max(alike, isPart(one, other) || isPart(other, one) ? partly : 0);
}

/** Of "city" and "city name": may well be the same, if nothing is nearer. */
const partly = 0.7;
const isPart = ({ words }: ComparedName, { wordSet }: ComparedName) => words.every((word) => wordSet.has(word));

// How much of two sorted lists is in both; what is there twice counts twice.
function dice<T extends string | number>(ones: ArrayLike<T>, others: ArrayLike<T>): number {
  let shared = 0;
  for (let i = 0, j = 0; i < ones.length && j < others.length; ) {
    const one = ones[i] as T;
    const other = others[j] as T;
    if (one === other) shared += 1;
    if (one <= other) i += 1;
    if (other <= one) j += 1;
  }
  return (2 * shared) / (ones.length + others.length);
}
