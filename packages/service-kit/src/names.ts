// When two names are the same, whatever they are names of.

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
