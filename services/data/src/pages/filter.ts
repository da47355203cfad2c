// Conditions on rows, as a plan: made from the filter models of the grid and from the `q` of lists.
import type { Field } from '../rows/fields.ts';
import { fieldAt } from '../rows/labels.ts';
import type { DeployedTable } from '../tables/table.ts';

/** The grid's operators; the reader of requests and the document take them from here. */
export const textOperators = ['contains', 'notContains', 'equals', 'notEqual', 'startsWith', 'endsWith'] as const;
export type TextOperator = (typeof textOperators)[number];
export const compareOperators = [
  'equals',
  'notEqual',
  'lessThan',
  'lessThanOrEqual',
  'greaterThan',
  'greaterThanOrEqual',
] as const;
export type CompareOperator = (typeof compareOperators)[number];

export type Test =
  /**
   * On the text form, ignoring case; the negative ones hold for rows without a value. `isFolded`:
   * an index ignores case.
   */
  | { kind: 'text'; operator: TextOperator; value: string; isFolded?: boolean }
  /** On numbers; rows without a value never match. */
  | { kind: 'number'; operator: CompareOperator; value: string }
  /** Between two numbers, exclusive. */
  | { kind: 'numberRange'; from: string; to: string }
  /** On the calendar day in UTC. */
  | { kind: 'day'; operator: CompareOperator; value: string }
  | { kind: 'dayRange'; from: string; to: string }
  /** No value; for text also one of blanks only. */
  | { kind: 'blank'; negated: boolean }
  /** One of a set of text forms, ignoring case; `blanks`: or no value. */
  | { kind: 'set'; values: string[]; blanks: boolean }
  /**
   * On the typed value, exact; `notEqual` holds for rows without a value. The values passed the
   * type's checks.
   */
  | { kind: 'value'; operator: CompareOperator; value: string }
  | { kind: 'oneOf'; values: string[] }
  | { kind: 'null'; negated: boolean };

export type Filter = { field: Field; test: Test } | { all: Filter[] } | { any: Filter[] };

/** Which rows. */
export type RowSelection = { filter: Filter; includeDeleted: boolean };

/** `absolute`: numbers by their distance from zero. */
export type Sort = { field: Field; direction: 'asc' | 'desc'; absolute?: true };

/**
 * Which rows, in which order, and the window. `columns`: the names of those that are shown; all
 * without it. `isInOrder`: an index holds the rows of the filter in
 * this order, for every value of the filter.
 */
export type PagePlan = RowSelection & {
  sorts: Sort[];
  offset: number;
  limit: number;
  columns?: ReadonlySet<string>;
  isInOrder?: boolean;
};

const minSearchLength = 3;

/**
 * Whether the test searches within texts for three letters or more, which a trigram index finds.
 */
export function isTextSearch({ field, test }: { field: Field; test: Test }): boolean {
  if (field.label || test.kind !== 'text' || field.type.family !== 'text') return false;
  const { operator, value } = test;
  if (operator !== 'contains' && operator !== 'startsWith' && operator !== 'endsWith') return false;
  return Array.from(value).length >= minSearchLength;
}

/** All tests of a filter. */
export function testsOf(filter: Filter): { field: Field; test: Test }[] {
  if ('all' in filter) return filter.all.flatMap(testsOf);
  if ('any' in filter) return filter.any.flatMap(testsOf);
  return [filter];
}

/** Whether the filter reads labels, which are in other tables. */
export const hasLabel = (filter: Filter): boolean => testsOf(filter).some(({ field }) => field.label);

/** A filter as of an instant, which only its labels depend on. */
export function filterAt(filter: Filter, at: string | undefined): Filter {
  if (at === undefined) return filter;
  if ('all' in filter) return { all: filter.all.map((each) => filterAt(each, at)) };
  if ('any' in filter) return { any: filter.any.map((each) => filterAt(each, at)) };
  return { ...filter, field: fieldAt(filter.field, at) };
}

/** The referenced tables whose labels a filter and these fields need; undefined for none. */
export function labelledTables(filter: Filter, fields: readonly Field[]): ReadonlySet<DeployedTable> | undefined {
  const all = [...testsOf(filter).map(({ field }) => field), ...fields];
  const tables = new Set(all.flatMap(({ label }) => label?.target ?? []));
  return tables.size === 0 ? undefined : tables;
}
