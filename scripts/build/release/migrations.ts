// Finds changes of a schema that break the last release, which may still run: removed, renamed or
// narrowed parts. Expand in one release, contract in the next.

// Patterns with the effect on the old code.
const dangers: [RegExp, string][] = [
  [/\bdrop\s+table\b/i, 'drops a table'],
  [/\bdrop\s+(view|materialized\s+view|function|schema)\b/i, 'drops what may be asked for'],
  [/\bdrop\s+column\b/i, 'drops a column'],
  [/\brename\s+(to|column|constraint|value)\b|\brename\s+"?\w+"?\s+to\b/i, 'renames'],
  [/\balter\s+column\s+"?\w+"?\s+(set\s+data\s+)?type\b/i, 'changes the type of a column'],
  [/\balter\s+column\s+"?\w+"?\s+set\s+not\s+null\b/i, 'demands a column that the release may leave empty'],
  // Each column of a statement is checked alone, up to the next comma.
  [
    /\badd\s+column\s(?![^,;]*\b(default|generated)\b)[^,;]*\bnot\s+null\b/i,
    'adds a column that the release does not fill, without a default',
  ],
];

/** The breaking changes of a migration, each a sentence. */
export function dangersOf(sql: string): string[] {
  return statementsOf(sql).flatMap((text) =>
    dangers.filter(([pattern]) => pattern.test(text)).map(([, what]) => `${what}: ${shortened(text)}`),
  );
}

// Bodies of functions may have semicolons; their parts are checked too.
function statementsOf(sql: string): string[] {
  return sql
    .replace(/--.*$/gm, '')
    .split(/;\s*$/m)
    .filter((text) => text.trim() !== '');
}

const shortened = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 120);
