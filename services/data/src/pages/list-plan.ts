// Reads `q` and `sort` of GET /table_data into a plan over the table's columns. Wrong ones are 400.

import { type Operator, operators, readMoment, separatorHint } from '@almanac/service-kit/api/list-query';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Place, ProblemCode } from '@almanac/service-kit/problems';
import { type Field, fieldsOf } from '../rows/fields.ts';
import type { DeployedTable } from '../tables/table.ts';
import { isDate } from '../values/dates.ts';
import { readOperand } from '../values/value-types.ts';
import type { CompareOperator, Filter, PagePlan, Sort, Test, TextOperator } from './filter.ts';

export type ListRequest = {
  page?: number;
  per_page?: number;
  sort?: string;
  q?: string | string[];
  include_deleted?: boolean;
};

const bad = (code: ProblemCode, message: string, place: Place = {}) =>
  new ServiceError('bad_request', { code, message, field: 'q', ...place });

/** The plan of a page. */
export function planList(table: Pick<DeployedTable, 'structure'>, request: ListRequest): PagePlan {
  const fields = fieldsOf(table);
  const page = request.page ?? 1;
  const perPage = Math.min(request.per_page ?? limits.perPageDefault, limits.perPageMaximum);
  const texts = request.q === undefined ? [] : Array.isArray(request.q) ? request.q : [request.q];
  if (texts.length > limits.filterConditions)
    throw bad('too_many', `q may be given at most ${limits.filterConditions} times.`, {
      params: { maximum: limits.filterConditions },
    });
  return {
    filter: { all: texts.map((text) => readCondition(text, fields)) },
    sorts: request.sort === undefined ? [] : [readSort(request.sort, fields)],
    offset: (page - 1) * perPage,
    limit: perPage,
    includeDeleted: request.include_deleted === true,
  };
}

function readSort(text: string, fields: Map<string, Field>): Sort {
  const direction = text.startsWith('-') ? 'desc' : 'asc';
  return { field: findField('sort', direction === 'desc' ? text.slice(1) : text, fields), direction };
}

function findField(parameter: string, name: string, fields: Map<string, Field>): Field {
  const field = fields.get(name);
  const column = name.slice(0, 80);
  if (!field)
    throw bad('unknown_property', `${parameter}: ${column} is not a column of this table.`, {
      field: parameter,
      column,
    });
  return field;
}

function readCondition(text: string, fields: Map<string, Field>): Filter {
  const [name = '', operator, ...rest] = text.split(':');
  if (operator === undefined) throw bad('wrong_format', 'q: use column:operator:value.');
  const field = findField('q', name, fields);
  const known = operators.find((each) => each === operator);
  if (!known)
    throw bad('not_in_list', `q: ${operator.slice(0, 80)} is not an operator; use ${operators.join(', ')}.`, {
      column: field.name,
      params: { allowed: operators },
    });
  if (rest.length === 0 && known !== 'null' && known !== 'not_null')
    throw bad('wrong_format', 'q: use column:operator:value.', { column: field.name });
  return { field, test: readTest(field, known, rest.join(':')) };
}

const textOperators = {
  contains: 'contains',
  not_contains: 'notContains',
  starts_with: 'startsWith',
  ends_with: 'endsWith',
} satisfies Partial<Record<Operator, TextOperator>>;

const compareOperators = {
  eq: 'equals',
  not_eq: 'notEqual',
  gt: 'greaterThan',
  gte: 'greaterThanOrEqual',
  lt: 'lessThan',
  lte: 'lessThanOrEqual',
} satisfies Partial<Record<Operator, CompareOperator>>;

function readTest(field: Field, operator: Operator, value: string): Test {
  if (operator === 'null' || operator === 'not_null') return { kind: 'null', negated: operator === 'not_null' };
  if (operator in textOperators)
    return { kind: 'text', operator: textOperators[operator as keyof typeof textOperators], value: readText(value) };
  if (operator === 'in')
    return { kind: 'oneOf', values: value.split('|').map((each) => readValue(field, operator, each)) };
  return {
    kind: 'value',
    operator: compareOperators[operator as keyof typeof compareOperators],
    value: readValue(field, operator, value),
  };
}

function readText(value: string): string {
  if (value.includes('\u0000') || !value.isWellFormed()) throw bad('malformed', 'q: this is no text.');
  return value;
}

// The times of system columns are read like those of other lists. Of other columns a day is; what
// is finer than a millisecond equals no value of theirs.
function readValue(field: Field, operator: Operator, value: string): string {
  const text = readText(value);
  if (field.type.family === 'instant' && (!field.column || isDate(text))) {
    const moment = readMoment(text, operator);
    if (moment) return moment.toISOString();
  }
  const operand = readOperand(field.type, text);
  if (operand === undefined)
    throw new ServiceError('bad_request', [
      {
        code: 'wrong_format',
        message: `q: ${text.slice(0, 80)} is no value of ${field.name}.`,
        field: 'q',
        column: field.name,
      },
      ...separatorHint(operator, text),
    ]);
  return operand;
}
