// How alike two names of columns are, from 0 to 1: 1 for equal ones, a little less when only case, accents or separators differ, then by
// their words and letters. Pure.
import { foldName } from '../formats/column-names.ts';

/** The words of a name: lower case, without accents, cut at separators and where capitals begin. */
export function wordsOf(name: string): string[] {
  const plain = name.replaceAll('ß', 'ss').normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const cut = plain.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  return cut.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Symmetric. */
export function likeness(one: string, other: string): number {
  if (foldName(one) === foldName(other)) return 1;
  const [words, others] = [wordsOf(one), wordsOf(other)];
  const [text, otherText] = [words.join(''), others.join('')];
  if (text === '' || otherText === '') return 0;
  if (text === otherText) return 0.97;
  const shared = dice(words, others);
  if (shared === 1) return 0.95; // in another order
  // Words weigh more than letters: "country code" is nearer to "code of the country" than to "county mode".
  const alike = 0.9 * Math.max(shared * 0.9, dice(pairs(text), pairs(otherText)));
  return Math.max(alike, isPart(words, others) || isPart(others, words) ? partly : 0);
}

/** Of "city" and "city name": may well be the same, if nothing is nearer. */
const partly = 0.7;
const isPart = (words: string[], others: string[]) => words.every((word) => others.includes(word));

const pairs = (text: string) => Array.from({ length: Math.max(text.length - 1, 1) }, (_, i) => text.slice(i, i + 2));

function dice(ones: string[], others: string[]): number {
  const left = new Map<string, number>();
  for (const each of others) left.set(each, (left.get(each) ?? 0) + 1);
  let shared = 0;
  for (const each of ones) {
    const count = left.get(each) ?? 0;
    if (count === 0) continue;
    left.set(each, count - 1);
    shared += 1;
  }
  return (2 * shared) / (ones.length + others.length);
}
