// Conditions on rows, as a plan: what the grid's filter models and the lists' `q` are read into.
import type { Field } from './fields.ts';

export type TextOperator = 'contains' | 'notContains' | 'equals' | 'notEqual' | 'startsWith' | 'endsWith';
export type CompareOperator =
  | 'equals'
  | 'notEqual'
  | 'lessThan'
  | 'lessThanOrEqual'
  | 'greaterThan'
  | 'greaterThanOrEqual';

export type Test =
  /** On the text form, ignoring case; the negative ones hold for rows without a value. */
  | { kind: 'text'; operator: TextOperator; value: string }
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
  /** On the typed value, exact; `notEqual` holds for rows without a value. The values passed the type's checks. */
  | { kind: 'value'; operator: CompareOperator; value: string }
  | { kind: 'oneOf'; values: string[] }
  | { kind: 'null'; negated: boolean };

export type Filter = { field: Field; test: Test } | { all: Filter[] } | { any: Filter[] };

/** `absolute`: numbers by their distance from zero. */
export type Sort = { field: Field; direction: 'asc' | 'desc'; absolute?: true };

/** Which rows, in which order, from where to where. */
export type PagePlan = { filter: Filter; sorts: Sort[]; offset: number; limit: number; includeDeleted: boolean };
