// Names as people give them, and the form in which two of them are the same.
import { nameSchema } from './input.ts';

// A name in its normalised form must fit into one entry of an index (2,704 bytes).
const normalizedCodePoints = 600;

/**
 * The form in which two names are the same: compatibility forms unified, invisible characters dropped, blanks made one,
 * case ignored. What is stored and shown is the name as given.
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

/** A name that has something to show and to compare. */
export const visibleNameSchema = nameSchema
  .refine((name) => normalizeName(name) !== '', "can't be blank")
  .refine((name) => [...normalizeName(name)].length <= normalizedCodePoints, 'is too long');
