// Conditions and orders as SQL. Pure; every value is a parameter. The semantics are those of AG
// Grid's client-side filters (blanks, case, exclusive ranges); docs/how-to/grid.md lists the
// differences.

import { type Field, type Label, systemFields } from '../rows/fields.ts';
import type { Bind } from '../values/check.ts';
import { type Family, floats, readOperand } from '../values/value-types.ts';
import type { CompareOperator, Filter, PagePlan, Sort, Test } from './filter.ts';

const comparators = {
  equals: '=',
  notEqual: '<>',
  lessThan: '<',
  lessThanOrEqual: '<=',
  greaterThan: '>',
  greaterThanOrEqual: '>=',
} satisfies Record<CompareOperator, string>;

/** The condition of a filter; an empty `all` is true, an empty `any` false. */
export function filterSql(filter: Filter, bind: Bind): string {
  if ('all' in filter)
    return filter.all.length === 0 ? 'true' : `(${filter.all.map((each) => filterSql(each, bind)).join(' and ')})`;
  if ('any' in filter)
    return filter.any.length === 0 ? 'false' : `(${filter.any.map((each) => filterSql(each, bind)).join(' or ')})`;
  return testSql(filter.field, filter.test, bind);
}

function testSql(field: Field, test: Test, bind: Bind): string {
  const { sql: x, type, label } = field;
  if (label?.target) return labelSql(label, test, bind);
  switch (test.kind) {
    case 'text':
      return textSql(field, test, bind);
    case 'number':
      return `${x} ${comparators[test.operator]} ${numberOperand(field, test.value, bind)}`;
    case 'numberRange':
      return `(${x} > ${numberOperand(field, test.from, bind)} and ${x} < ${numberOperand(field, test.to, bind)})`;
    case 'day':
      return daySql(field, test.operator, test.value, bind);
    case 'dayRange':
      return `(${daySql(field, 'greaterThan', test.from, bind)} and ${daySql(field, 'lessThan', test.to, bind)})`;
    case 'blank': {
      const blank = isText(field) ? `(${x} is null or btrim(${x}, ${bind(blanks, 'text')}) = '')` : `${x} is null`;
      return test.negated ? `not ${blank}` : blank;
    }
    case 'set': {
      const values = test.values.length === 0 ? [] : [setSql(field, test.values, bind)];
      const none = test.blanks ? [isText(field) ? `(${x} is null or ${x} = '')` : `${x} is null`] : [];
      const either = [...values, ...none];
      return either.length === 0 ? 'false' : `(${either.join(' or ')})`;
    }
    case 'value': {
      const compared = `${x} ${comparators[test.operator]} ${bind(test.value, type.base)}`;
      return test.operator === 'notEqual' ? `(${x} is null or ${compared})` : compared;
    }
    case 'oneOf':
      return `${x} = any(${bind(test.values, `${type.base}[]`)})`;
    case 'null':
      return `${x} is ${test.negated ? 'not ' : ''}null`;
  }
}

// PostgreSQL finds the matching records of the referenced table once, and joins; a label read for
// each row would cost an index scan a row. A row without a label has no record for either form.
function labelSql({ existsSql }: Label, test: Test, bind: Bind): string {
  return matchesNull(test)
    ? `not ${existsSql((shown) => `not (${testSql(shown, test, bind)})`)}`
    : existsSql((shown) => testSql(shown, test, bind));
}

function matchesNull(test: Test): boolean {
  switch (test.kind) {
    case 'text':
      return test.operator === 'notContains' || test.operator === 'notEqual';
    case 'value':
      return test.operator === 'notEqual';
    case 'blank':
    case 'null':
      return !test.negated;
    case 'set':
      return test.blanks;
    case 'number':
    case 'numberRange':
    case 'day':
    case 'dayRange':
    case 'oneOf':
      return false;
  }
}

/** The characters that String.prototype.trim removes; a text of these is blank to AG Grid. */
export const blanks =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

const isText = (field: Field) => field.type.family === 'text';

/**
 * The text of a column without case, in filters and in the indexes that serve them. Columns compare
 * by code point; case is folded by the database's own rules.
 */
export const foldedSql = (field: Field): string =>
  isText(field) ? `lower(${field.sql} collate "default")` : `lower(${field.type.textSql(field.sql)})`;

type TextTest = Extract<Test, { kind: 'text' }>;

/** A text as part of a pattern of LIKE: its metacharacters are literal. */
export const literally = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

function textSql(field: Field, { operator, value, isFolded }: TextTest, bind: Bind): string {
  const x = foldedSql(field);
  const like = (pattern: string, negated = false) =>
    `${x} ${negated ? 'not ' : ''}like lower(${bind(pattern, 'text')})`;
  const orNull = (condition: string) => `(${field.sql} is null or ${condition})`;
  switch (operator) {
    case 'contains':
      return like(`%${literally(value)}%`);
    case 'notContains':
      return orNull(like(`%${literally(value)}%`, true));
    case 'startsWith':
      return like(`${literally(value)}%`);
    case 'endsWith':
      return like(`%${literally(value)}`);
    case 'equals':
      return isFolded
        ? `${x} = lower(${bind(value, 'text')})`
        : withSpellings(field, [value], bind, () => `${x} = lower(${bind(value, 'text')})`);
    case 'notEqual':
      return orNull(`${x} <> lower(${bind(value, 'text')})`);
  }
}

// A value of these types has one text only.
const oneText: ReadonlySet<Family> = new Set(['integer', 'boolean', 'date', 'uuid']);

// A set of texts is compared as values, which an index serves, where a value has one text, and
// where PostgreSQL, JavaScript and people write it each in their own way.
function setSql(field: Field, texts: string[], bind: Bind): string {
  const { type, sql } = field;
  const isOneText = oneText.has(type.family);
  if (!isOneText && !floats.has(type.family))
    return withSpellings(field, texts, bind, () => foldedAmongSql(field, texts, bind));
  const values = texts
    .map((text) => text.toLowerCase())
    .filter((text) => readOperand(type, text) !== undefined && (!isOneText || type.canonical(text) === text));
  return `${sql} = any(${bind(values, `${type.base}[]`)})`;
}

// PostgreSQL compares each row with the elements of an array one by one, but hashes a subquery
// once. CASE keeps the subquery from becoming a join.
const maxLinearComparisons = 50;

function foldedAmongSql(field: Field, texts: string[], bind: Bind): string {
  const folded = `select lower(v) from unnest(${bind(texts, 'text[]')}) v`;
  return texts.length > maxLinearComparisons
    ? `case when true then ${foldedSql(field)} in (${folded}) end`
    : `${foldedSql(field)} = any(array(${folded}))`;
}

const maxSpellings = 256;
// The characters outside ASCII whose lower case is an ASCII letter: the Kelvin sign and the dotted
// capital I.
const alsoBecomes: Record<string, string> = { k: '\u212a', i: '\u0130' };

// An index on the column itself can't ignore case. A short ASCII text has few spellings: a row that
// is equal without case has one of them. Without an index the folded comparison excludes most rows
// first: the generic plan of a prepared statement compares a row with the whole list one by one,
// which costs several times as much.
function withSpellings(field: Field, values: string[], bind: Bind, byFolding: () => string): string {
  const spellings = spellingsOf(field, values);
  if (!spellings) return byFolding();
  const isIndexed = field.column?.is_primary_key || (field.column?.foreign_key_table_id ?? null) !== null;
  const listed = `${field.sql} = any(${bind(spellings, 'text[]')})`;
  // The planner estimates the rows of a list, but not of the folded comparison: CASE keeps it from
  // multiplying the two.
  return isIndexed ? listed : `(case when ${byFolding()} then true else false end and ${listed})`;
}

function spellingsOf(field: Field, values: string[]): string[] | undefined {
  if (!isText(field)) return undefined;
  const spellings: string[] = [];
  for (const value of values) {
    if (!/^[ -~]*$/.test(value)) return undefined;
    let own = [''];
    for (const character of value) {
      const lower = character.toLowerCase();
      const forms = [...new Set([lower, character.toUpperCase(), alsoBecomes[lower] ?? lower])];
      own = own.flatMap((start) => forms.map((form) => start + form));
      if (own.length + spellings.length > maxSpellings) return undefined;
    }
    spellings.push(...own);
  }
  return spellings;
}

const maxBigint = 9223372036854775807n;

// The operand's type decides whether an index can serve: whole numbers compare with integers as
// they are.
function numberOperand(field: Field, value: string, bind: Bind): string {
  switch (field.type.family) {
    case 'integer': {
      const whole = /^-?[0-9]+$/.test(value) && BigInt(value.replace('-', '')) <= maxBigint;
      return bind(value, whole ? 'bigint' : 'numeric');
    }
    case 'real': {
      const rounded = Math.fround(Number(value));
      const fits = Number.isFinite(rounded) && (rounded !== 0 || Number(value) === 0);
      return bind(value, fits ? 'real' : 'double precision');
    }
    case 'double':
      return bind(value, 'double precision');
    default:
      return bind(value, 'numeric');
  }
}

// An instant is on a day when it is at or after its midnight and before the next one, which an
// index serves.
function daySql(field: Field, operator: CompareOperator, day: string, bind: Bind): string {
  const x = field.sql;
  if (field.type.family === 'date') return `${x} ${comparators[operator]} ${bind(day, 'date')}`;
  const begin = `(${bind(day, 'date')}::timestamp at time zone 'UTC')`;
  const end = `((${bind(day, 'date')} + 1)::timestamp at time zone 'UTC')`;
  switch (operator) {
    case 'equals':
      return `(${x} >= ${begin} and ${x} < ${end})`;
    case 'notEqual':
      return `(${x} < ${begin} or ${x} >= ${end})`;
    case 'lessThan':
      return `${x} < ${begin}`;
    case 'lessThanOrEqual':
      return `${x} < ${end}`;
    case 'greaterThan':
      return `${x} >= ${end}`;
    case 'greaterThanOrEqual':
      return `${x} >= ${begin}`;
  }
}

// The lowest integer has no absolute value in its own type.
const absoluteSql = ({ sql, type }: Field) => (type.family === 'integer' ? `abs(${sql}::numeric)` : `abs(${sql})`);

/** The expression that a sort orders by. */
export const sortedSql = ({ field, absolute }: Pick<Sort, 'field' | 'absolute'>): string =>
  absolute ? absoluteSql(field) : field.sql;

/**
 * The order of a page, or its reverse. No value sorts before every value, as in AG Grid; ties break
 * by svc_sk, so pages never overlap.
 */
export function orderSql(
  { sorts, includeDeleted }: Pick<PagePlan, 'sorts' | 'includeDeleted'>,
  reversed = false,
): string {
  const last = systemFields[0] as Field;
  const all = sorts.some((sort) => sort.field === last)
    ? sorts
    : [...sorts, { field: last, direction: 'asc' } as const];
  return all
    .map(({ field, direction, absolute }: Sort) => {
      const x = sortedSql({ field, absolute });
      const ascending = (direction === 'asc') !== reversed;
      // Deleted rows may lack values that are required of live rows.
      return `${x} ${directionSql(ascending, field.nullable || (includeDeleted && field.column !== undefined))}`;
    })
    .join(', ');
}

/**
 * How an ascending or descending column is written, in orders and in the indexes that serve them.
 */
export function directionSql(ascending: boolean, nullable: boolean): string {
  if (!nullable) return ascending ? 'asc' : 'desc';
  return ascending ? 'asc nulls first' : 'desc nulls last';
}
