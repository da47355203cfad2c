// What a migration may not do while the last release still runs on the schema: take away, rename or narrow what that code reads and
// writes. Expand in one release, contract in the next.

// Each with what the old code would meet.
const dangers: [RegExp, string][] = [
  [/\bdrop\s+table\b/i, 'drops a table'],
  [/\bdrop\s+(view|materialized\s+view|function|schema)\b/i, 'drops what may be asked for'],
  [/\bdrop\s+column\b/i, 'drops a column'],
  [/\brename\s+(to|column|constraint|value)\b|\brename\s+"?\w+"?\s+to\b/i, 'renames'],
  [/\balter\s+column\s+"?\w+"?\s+(set\s+data\s+)?type\b/i, 'changes the type of a column'],
  [/\balter\s+column\s+"?\w+"?\s+set\s+not\s+null\b/i, 'demands a column that the release may leave empty'],
  // Each column of the statement is judged by its own words, up to the next comma.
  [
    /\badd\s+column\s(?![^,;]*\b(default|generated)\b)[^,;]*\bnot\s+null\b/i,
    'adds a column that the release does not fill, without a default',
  ],
];

/** What of a migration the last release would stumble over, each a sentence. */
export function dangersOf(sql: string): string[] {
  return statementsOf(sql).flatMap((text) =>
    dangers.filter(([pattern]) => pattern.test(text)).map(([, what]) => `${what}: ${shortened(text)}`),
  );
}

// Bodies of functions may hold semicolons; cut there, their parts are judged all the same.
function statementsOf(sql: string): string[] {
  return sql
    .replace(/--.*$/gm, '')
    .split(/;\s*$/m)
    .filter((text) => text.trim() !== '');
}

const shortened = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 120);
