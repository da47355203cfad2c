// How alike two names of columns are, from 0 to 1: 1 for equal ones, a little less when only case, accents or separators differ, then by
// their words and letters. Pure.
import { foldName } from '../formats/column-names.ts';

/** A name made ready to be compared with many others. */
export type ComparedName = { fold: string; words: string[]; text: string; pairs: string[] };

// A mapping takes no longer ones; each is compared with every column of a table.
const longestName = 255;

/** The words of a name are lower case, without accents, cut at separators and where capitals begin. */
export function readName(name: string): ComparedName {
  if (name.length > longestName) return { fold: name, words: [], text: '', pairs: [] };
  const plain = name.replaceAll('ß', 'ss').normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const cut = plain.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  const words = cut.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const text = words.join('');
  const pairs = Array.from({ length: Math.max(text.length - 1, 1) }, (_, i) => text.slice(i, i + 2));
  return { fold: foldName(name), words, text, pairs };
}

/** Symmetric. */
export function likeness(one: ComparedName, other: ComparedName): number {
  if (one.fold === other.fold) return 1;
  if (one.text === '' || other.text === '') return 0;
  if (one.text === other.text) return 0.97;
  const shared = dice(one.words, other.words);
  if (shared === 1) return 0.95; // in another order
  // Words weigh more than letters: "country code" is nearer to "code of the country" than to "county mode".
  const alike = 0.9 * Math.max(shared * 0.9, dice(one.pairs, other.pairs));
  return Math.max(alike, isPart(one.words, other.words) || isPart(other.words, one.words) ? partly : 0);
}

/** Of "city" and "city name": may well be the same, if nothing is nearer. */
const partly = 0.7;
const isPart = (words: string[], others: string[]) => words.every((word) => others.includes(word));

// How much of two lists is in both; what is there twice counts twice.
function dice(ones: string[], others: string[]): number {
  const left = [...others];
  let shared = 0;
  for (const each of ones) {
    const at = left.indexOf(each);
    if (at < 0) continue;
    left[at] = '';
    shared += 1;
  }
  return (2 * shared) / (ones.length + others.length);
}
