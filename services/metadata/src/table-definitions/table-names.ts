// Names of tables, and the key a table gets from its first name.
import { normalizeName, visibleNameSchema } from '@almanac/service-kit/api/names';

/** The key of a new table: its name in lower case, everything but letters and digits made `_`. */
export function deriveKey(name: string): string {
  return normalizeName(name)
    .replace(/[^\p{L}\p{M}\p{N}_]+/gu, '_')
    .replace(/_+/g, '_')
    .replace(/(?<=.)_$/u, '');
}

const startsWell = (text: string) => /^[\p{L}_]/u.test(text);

/** The name of a table: it also starts with a letter or `_`, as given and in the form that makes the key: some letters are invisible. */
export const tableNameSchema = visibleNameSchema.refine(
  (name) => normalizeName(name) === '' || (startsWell(name.normalize('NFKC')) && startsWell(normalizeName(name))),
  'must start with a letter or _',
);
