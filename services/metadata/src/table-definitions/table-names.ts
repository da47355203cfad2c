// Names of tables, and the key that a table gets from its first name.
import { normalizeName, ruleOfShortNames, visibleNameSchema } from '@almanac/service-kit/api/names';
import { rule } from '@almanac/service-kit/problems';

/** The key of a new table: its name in lower case, everything but letters and digits made `_`. */
export function deriveKey(name: string): string {
  return normalizeName(name)
    .replace(/[^\p{L}\p{M}\p{N}_]+/gu, '_')
    .replace(/_+/g, '_')
    .replace(/(?<=.)_$/u, '');
}

const hasValidStart = (text: string) => /^[\p{L}_]/u.test(text);

/**
 * The name of a table. It starts with a letter or `_`, both as given and in the normalised form
 * that the key is made from, which lacks invisible characters.
 */
export const tableNameSchema = visibleNameSchema.refine(
  ruleOfShortNames(
    (name) =>
      normalizeName(name) === '' || (hasValidStart(name.normalize('NFKC')) && hasValidStart(normalizeName(name))),
  ),
  rule('wrong_format', 'must start with a letter or _'),
);
