// What a rule of a value is: one declaration that JavaScript applies to a cell of a request and PostgreSQL to a million cells
// of a file. Whoever adds a rule writes both halves side by side; `check.property.test.ts` holds them equal.

/** Adds a value to a statement and answers its placeholder with the given type, e.g. `$3::text`. */
export type Bind = (value: unknown, type: string) => string;

export type Check = {
  /** What the rule demands, after the column's name: `must be an integer …`. Never holds the value. */
  message: string;
  /** The same of a text that a file has in a form of its own. */
  messageIn?: (form: string) => string;
  brokenBy: (text: string) => boolean;
  /** A boolean expression over a text expression that isn't null; true when the rule is broken. May assume the checks before it held. */
  brokenSql: (x: string, bind: Bind) => string;
};

/** `x ~ pattern` in SQL. The pattern is a constant of this code: character classes only, so that JavaScript and PostgreSQL read it alike. */
export function matchesSql(x: string, source: string): string {
  if (source.includes("'")) throw new Error('a pattern must not hold a quote');
  return `${x} ~ '^(?:${source})$'`;
}

/**
 * True in SQL unless the cell is a value of the type and `also` holds. CASE, because AND promises no order and
 * casting what isn't valid would end the statement.
 */
export function brokenUnlessSql(x: string, type: string, also: string): string {
  return `case when pg_input_is_valid(${x}, '${type}') then not (${also}) else true end`;
}

/** Whether any of the checks is broken, each asked only when those before it held. */
export function anyBrokenSql(checks: Check[], x: string, bind: Bind): string {
  if (checks.length === 1) return (checks[0] as Check).brokenSql(x, bind);
  return `case ${checks.map((check) => `when ${check.brokenSql(x, bind)} then true`).join(' ')} else false end`;
}
