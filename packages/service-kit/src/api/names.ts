// Names that people choose, and the form in which two of them are compared.
import { limits } from '../limits.ts';
import { rule } from '../problems.ts';
import { nameSchema } from './input.ts';

// A name in its normalised form must fit into one entry of an index (2,704 bytes).
const normalizedCodePoints = 600;

/**
 * Normalizes a name for comparison: compatibility forms unified, invisible characters dropped,
 * white space collapsed, case folded. The name itself is stored and shown as it was given.
 */
export function normalizeName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase()
    .normalize('NFKC');
}

/**
 * A rule of names for those that are not too long already: the time that Unicode's normalization
 * takes grows with the square of a text's length.
 */
export const ruleOfShortNames = (holds: (name: string) => boolean) => (name: string) =>
  name.length > 2 * limits.nameCodePoints || holds(name);

/** A name with at least one visible character. */
export const visibleNameSchema = nameSchema
  .refine(
    ruleOfShortNames((name) => normalizeName(name) !== ''),
    rule('blank', "can't be blank"),
  )
  .refine(
    ruleOfShortNames((name) => [...normalizeName(name)].length <= normalizedCodePoints),
    rule('too_long', 'is too long'),
  );
