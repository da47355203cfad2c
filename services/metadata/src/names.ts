// Names as people give them, and the key a table gets from its first name.
import { nameSchema } from '@almanac/service-kit/input';
import { normalizeName } from '@almanac/service-kit/names';

// A name in its normalised form must fit into one entry of an index (2,704 bytes).
const normalizedCodePoints = 600;

/** The key of a new table: its name in lower case, everything but letters and digits made `_`. */
export function deriveKey(name: string): string {
  return normalizeName(name)
    .replace(/[^\p{L}\p{M}\p{N}_]+/gu, '_')
    .replace(/_+/g, '_')
    .replace(/(?<=.)_$/u, '');
}

/** A name that has something to show and to compare. */
export const visibleNameSchema = nameSchema
  .refine((name) => normalizeName(name) !== '', "can't be blank")
  .refine((name) => [...normalizeName(name)].length <= normalizedCodePoints, 'is too long');

/** The name of a table: it also starts with a letter or `_`. */
export const tableNameSchema = visibleNameSchema.refine(
  (name) => normalizeName(name) === '' || /^[\p{L}_]/u.test(name.normalize('NFKC')),
  'must start with a letter or _',
);
