// The rules of one column, in the order in which they are checked: a value first, then its type,
// then its list of allowed values. Only the first broken rule of a cell is reported.

import type { Problem } from '@almanac/service-kit/problems';
import type { Check } from '../values/check.ts';
import { typeOf } from '../values/value-types.ts';
import { type Column, isRequired } from './table.ts';

/** The rule of a required column. */
export const requiredMessage = "can't be blank";

const checksByColumn = new WeakMap<Column, Check[]>();

/** The rules of a cell that has a value. */
export function valueChecks(column: Column): Check[] {
  let checks = checksByColumn.get(column);
  if (!checks) {
    checks = typeOf(column).checks(column);
    if (column.valid_values.length > 0) checks = [...checks, listCheck(column)];
    checksByColumn.set(column, checks);
  }
  return checks;
}

function listCheck(column: Column): Check {
  const type = typeOf(column);
  const allowed = new Set(column.valid_values.map(type.canonical));
  return {
    code: 'not_in_list',
    params:
      column.valid_values.length <= maxAllowedShown
        ? { allowed: column.valid_values }
        : { count: column.valid_values.length },
    message: `must be one of ${shownValues(column.valid_values)}`,
    brokenBy: (text) => !allowed.has(type.canonical(text)),
    brokenSql: (x, bind) =>
      type.base === 'text'
        ? `${x} <> all(${bind(column.valid_values, 'text[]')})`
        : `${x}::${type.base} <> all(${bind(column.valid_values, `${type.base}[]`)})`,
  };
}

// A longer list is in the column's definition.
const maxAllowedShown = 100;

/** The first values of a list, for a message. */
export function shownValues(values: string[]): string {
  const few = values.slice(0, 20).map((value) => (value.length > 60 ? `${value.slice(0, 60)}…` : value));
  return few.join(', ') + (values.length > few.length ? ` … (${values.length} values)` : '');
}

/** The sentence for a broken rule: the column's name and what the rule demands. */
export const sentence = (column: Pick<Column, 'name'>, message: string): string => `${column.name} ${message}`;

/** The problem of a cell that breaks a rule. */
export const problemOf = (
  column: Pick<Column, 'name'>,
  { code, message, params }: Pick<Check, 'code' | 'message' | 'params'>,
): Problem => ({ code, message: sentence(column, message), column: column.name, ...(params && { params }) });

/** The problem of a required cell without a value. */
export const requiredProblem = (column: Pick<Column, 'name'>): Problem =>
  problemOf(column, { code: 'blank', message: requiredMessage });

/** The rule that a text cell (null: no value) breaks in the column; undefined when none. */
export function findProblem(column: Column, text: string | null): Problem | undefined {
  if (text === null) return isRequired(column) ? requiredProblem(column) : undefined;
  const broken = valueChecks(column).find((check) => check.brokenBy(text));
  return broken && problemOf(column, broken);
}
