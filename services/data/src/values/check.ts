// The rule of a value: one declaration that JavaScript applies to a cell of a request, and
// PostgreSQL to a million cells of a file. Both halves stand side by side; `checks.test.ts` keeps
// them equal.
import type { ProblemCode } from '@almanac/service-kit/problems';

/** Adds a value to a statement and returns its placeholder with the given type, e.g. `$3::text`. */
export type Bind = (value: unknown, type: string) => string;

export type Check = {
  code: ProblemCode;
  /** What the rule demands, for programs. */
  params?: Record<string, unknown>;
  /** The rule, as it follows the column's name: `must be an integer …`. Never holds the value. */
  message: string;
  /** The same for a file that writes values in another form. */
  messageIn?: (form: string) => string;
  brokenBy: (text: string) => boolean;
  /**
   * True in SQL when the rule is broken, for a text expression that isn't null and breaks no check
   * before.
   */
  brokenSql: (x: string, bind: Bind) => string;
};

/**
 * `x ~ pattern` in SQL. The pattern is a constant of this code: character classes only, which
 * JavaScript and PostgreSQL read alike.
 */
export function matchesSql(x: string, source: string): string {
  if (source.includes("'")) throw new Error('a pattern must not hold a quote');
  return `${x} ~ '^(?:${source})$'`;
}

/**
 * True in SQL unless the cell is a value of the type and `also` holds. CASE, because AND promises
 * no order, and a cast of another text would fail the statement.
 */
export function brokenUnlessSql(x: string, type: string, also: string): string {
  return `case when pg_input_is_valid(${x}, '${type}') then not (${also}) else true end`;
}

/** Whether a check is broken; each is evaluated only when none before it is broken. */
export function anyBrokenSql(checks: Check[], x: string, bind: Bind): string {
  if (checks.length === 1) return (checks[0] as Check).brokenSql(x, bind);
  return `case ${checks.map((check) => `when ${check.brokenSql(x, bind)} then true`).join(' ')} else false end`;
}
