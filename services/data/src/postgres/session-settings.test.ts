// All callers share the connections: a setting of the session would apply to the next call. So data
// sets for a transaction only (set_config(…, true), SET LOCAL), or ends the session with its
// settings.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// They end their connection.
const endTheirSession = new Set([
  'maintenance/automatic-indexes/automatic-indexes.ts',
  'maintenance/automatic-indexes/trigrams.ts',
]);

const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.ts$/.test(file) && !/\.(test|suite)\.ts$/.test(file),
);

/** The SQL in a source that would change a session; SQL stands in quotes. */
function sessionChanges(source: string): string[] {
  const code = source.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const found = [
    /["'`;]\s*set\s+(?!local\b|constraints\b|transaction\b)[\w.${}]+\s*(=|to\b)[^,]*?["'`;]/gi,
    /["'`;]\s*(reset|discard|listen|load|declare)\s+\w+/gi,
    /\bset_config\s*\((?:[^()]|\([^()]*\))*?,\s*(?!true\b)[\w$]+\s*\)/gi,
    /\bcreate\s+(local\s+|global\s+)?temp(orary)?\b(?![^;`]*\bon\s+commit\s+drop\b)/gi,
    /\bset\s+(session\s+(authorization|characteristics)|role)\b/gi,
  ];
  return found.flatMap((pattern) => code.match(pattern) ?? []);
}

it.each(sources)('%s leaves nothing in a session', (file) => {
  const changes = sessionChanges(readFileSync(join(import.meta.dirname, file), 'utf8'));
  if (endTheirSession.has(file)) expect(changes).not.toEqual([]);
  else expect(changes).toEqual([]);
});

it.each([
  'await sql("set statement_timeout = \'3600s\'");',
  "sql('set search_path to b_1')",
  'sql(`set lock_timeout = 5000`)',
  `"select set_config('app.account', $1, false)"`,
  `"select set_config('a', current_setting('b'), $2)"`,
  "'begin; set role other'",
  "'create temp table x ()'",
  "'discard all'",
])('%s would be found', (source) => expect(sessionChanges(source)).not.toEqual([]));

it.each([
  "sql('set local lock_timeout = 5000')",
  `"select set_config('lock_timeout', '2s', true), set_config('b', '0', true)"`,
  '`update t set x = 1`',
  '`create temporary table t on commit drop as select 1`',
  '// SET LOCAL and set x = 1',
])('%s would not', (source) => expect(sessionChanges(source)).toEqual([]));
