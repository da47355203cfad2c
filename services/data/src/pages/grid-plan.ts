// Reads the body of POST /table_data/grid into a plan: which rows, in which order, and the window.
// One 400 names every problem.

import { ExactNumber } from '@almanac/service-kit/api/json-body';
import { type ErrorKind, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { type Place, type Problem, type ProblemCode, withoutRepeated } from '@almanac/service-kit/problems';
import { type Field, fieldsOf } from '../rows/fields.ts';
import { findLabel, isLabelName, labelsOf } from '../rows/labels.ts';
import type { DeployedTable } from '../tables/table.ts';
import { isDate } from '../values/dates.ts';
import { numberFromJson } from '../values/integers.ts';
import { type Family, floats, readOperand, valueTypes } from '../values/value-types.ts';
import {
  compareOperators,
  type Filter,
  type PagePlan,
  type RowSelection,
  type Sort,
  type Test,
  type TextOperator,
  textOperators,
} from './filter.ts';

/** Which rows a request is about, whatever it asks of them. */
export type SelectionRequest = {
  filterModel?: unknown;
  or?: unknown;
  q?: string | undefined;
  include_deleted?: boolean;
};
export type GridRequest = SelectionRequest & {
  startRow: number;
  endRow: number;
  sortModel?: unknown;
  columns?: string[];
};

/** The referenced tables that the caller may view, by id, for labels. */
export type Targets = ReadonlyMap<number, DeployedTable>;

type JsonObject = Record<string, unknown>;
const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/** The plan, or 400 with every problem. `targets`: for labels. */
export function planGrid(
  table: Pick<DeployedTable, 'structure'>,
  request: GridRequest,
  targets: Targets = new Map(),
): PagePlan {
  const reader = new GridReader(table, targets);
  const window = reader.readWindow(request);
  const selection = reader.readSelection(request);
  const sorts = reader.readSortModel(request.sortModel);
  const columns = request.columns && reader.readColumns(request.columns);
  reader.refuse();
  return { ...selection, sorts, ...window, ...(columns && { columns }) };
}

/** Whether a request names labels, so that planning it takes the referenced tables. */
export function namesLabels({ filterModel, or, q, sortModel }: SelectionRequest & { sortModel?: unknown }): boolean {
  const models: unknown[] = [filterModel, ...(Array.isArray(or) ? or : [])];
  const filtered = models.flatMap((model) => (isJsonObject(model) ? Object.keys(model) : []));
  const sorted = Array.isArray(sortModel) ? sortModel.map((item: unknown) => isJsonObject(item) && item.colId) : [];
  return q !== undefined || [...filtered, ...sorted].some((name) => typeof name === 'string' && isLabelName(name));
}

/** The filter of a request alone, or 400 with every problem. `targets`: for labels. */
export function planFilter(
  table: Pick<DeployedTable, 'structure'>,
  request: Pick<SelectionRequest, 'filterModel' | 'q'>,
  targets: Targets = new Map(),
): Filter {
  const reader = new GridReader(table, targets);
  const { filter } = reader.readSelection(request);
  reader.refuse();
  return filter;
}

const knownKeys = new Set([
  'filterType',
  'type',
  'filter',
  'filterTo',
  'dateFrom',
  'dateTo',
  'values',
  'operator',
  'conditions',
  'condition1',
  'condition2',
]);
// `bigint` is AG Grid's filter for whole numbers that JavaScript can't hold; here every number is
// exact.
const filterTypes = ['text', 'number', 'bigint', 'date'] as const;
export const numberFamilies: ReadonlySet<Family> = new Set<Family>(['integer', 'decimal', 'real', 'double']);
const dateFamilies = new Set(['date', 'instant']);
type All = { all: Filter[] };
const everyRow: All = { all: [] };
const tooManyConditions = `At most ${limits.filterConditions} filter conditions may be given.`;

/** Reads the parts of a request, and collects their problems. */
export class GridReader {
  private readonly problems: Problem[] = [];
  private readonly table: Pick<DeployedTable, 'structure'>;
  private readonly targets: Targets;
  // The part of the request that is being read, for the places of problems.
  private where = 'filterModel';
  private conditions = 0;

  constructor(table: Pick<DeployedTable, 'structure'>, targets: Targets) {
    this.table = table;
    this.targets = targets;
  }

  /** Throws the problems so far, if there are any: 400, or of another kind. */
  refuse(kind: ErrorKind = 'bad_request'): void {
    if (this.problems.length > 0) throw new ServiceError(kind, withoutRepeated(this.problems));
  }

  readWindow({ startRow, endRow }: { startRow: number; endRow: number }): { offset: number; limit: number } {
    if (endRow <= startRow) this.problem('out_of_range', 'endRow must be greater than startRow.', { field: 'endRow' });
    else if (endRow - startRow > limits.gridRows)
      this.problem('out_of_range', `At most ${limits.gridRows} rows may be asked for at once.`, {
        field: 'endRow',
        params: { maximum: startRow + limits.gridRows },
      });
    return { offset: startRow, limit: endRow - startRow };
  }

  /** `except`: a column whose own filter is left out. */
  readSelection(
    { filterModel, or, q, include_deleted }: SelectionRequest,
    except?: string,
  ): RowSelection & { filter: All } {
    const all = [...this.readFilterModel(filterModel, except).all, ...this.readOr(or), ...this.readSearch(q)];
    return { filter: { all }, includeDeleted: include_deleted === true };
  }

  // A row meets one of these models, besides the filter model.
  private readOr(models: unknown): Filter[] {
    if (models === undefined || models === null) return [];
    this.where = 'or';
    if (!Array.isArray(models)) return [this.fail('wrong_type', 'or must be an array of filter models.')];
    if (models.length === 0) return [this.fail('too_few', 'or must have at least one filter model.')];
    if (models.length > limits.filterConditions) return [this.fail('too_many', tooManyConditions)];
    const any = models.map((model: unknown, i) => {
      this.where = `or.${i}`;
      return this.readFilterModel(model ?? 'none');
    });
    return [{ any }];
  }

  // A row has every word in one of its texts, or in the label of a record that it refers to.
  private readSearch(text: string | undefined): Filter[] {
    const words = [...new Set(text?.split(/\s+/u).filter((word) => word !== ''))];
    if (words.length > limits.searchWords) {
      const params = { maximum: limits.searchWords };
      this.problem('too_many', `q may have at most ${limits.searchWords} words.`, { field: 'q', params });
      return [];
    }
    const columns = [...fieldsOf(this.table).values()].filter(({ column, type }) => column && type.family === 'text');
    const searched = [...columns, ...labelsOf(this.table, this.targets).filter(({ label }) => label?.target)];
    return words.map((value) => ({
      any: searched.map((field): Filter => ({ field, test: { kind: 'text', operator: 'contains', value } })),
    }));
  }

  /** The columns that records show; those of the system always are. */
  readColumns(names: string[]): Set<string> {
    const fields = fieldsOf(this.table);
    for (const name of names) if (!fields.has(name)) this.refuseName('columns', name);
    return new Set(names);
  }

  problem(code: ProblemCode, message: string, place: Place): void {
    if (this.problems.length < limits.problems) this.problems.push({ code, message, ...place });
  }

  private readFilterModel(model: unknown, except?: string): All {
    if (model === undefined || model === null) return everyRow;
    if (!isJsonObject(model)) return this.fail('wrong_type', `${this.where} must be an object.`);
    const names = Object.keys(model);
    if (names.length > limits.filterConditions) return this.fail('too_many', tooManyConditions);
    const filters = names.flatMap((name) => {
      const field = this.findField(this.where, name);
      const filter = field ? this.readFilter(field, model[name]) : everyRow;
      return name === except ? [] : filter;
    });
    if (this.conditions > limits.filterConditions) this.fail('too_many', tooManyConditions);
    return { all: filters };
  }

  readSortModel(model: unknown): Sort[] {
    if (model === undefined || model === null) return [];
    if (!Array.isArray(model)) {
      return this.failSort('wrong_type', 'sortModel must be an array.');
    }
    if (model.length > limits.sorts) {
      return this.failSort('too_many', `At most ${limits.sorts} sorts may be given.`);
    }
    return model.flatMap((item: unknown) => this.readSort(item));
  }

  private readSort(item: unknown): Sort[] {
    if (!isJsonObject(item))
      return this.failSort('wrong_type', 'Each item of sortModel must be an object {colId, sort}.');
    const unknown = Object.keys(item).find((key) => key !== 'colId' && key !== 'sort' && key !== 'type');
    if (unknown !== undefined)
      this.failSort('unknown_property', `sortModel: ${show(unknown)} is not a known property.`);
    if (typeof item.colId !== 'string') return this.failSort('wrong_type', 'sortModel: colId must be a column name.');
    const field = this.findField('sortModel', item.colId);
    const { sort: direction, type = 'default' } = item;
    if (direction !== 'asc' && direction !== 'desc')
      return this.failSort('not_in_list', 'sortModel: sort must be asc or desc.');
    if (type !== 'default' && type !== 'absolute')
      return this.failSort('not_in_list', 'sortModel: type must be default or absolute.');
    if (!field) return [];
    if (type === 'default') return [{ field, direction }];
    if (!numberFamilies.has(field.type.family))
      return this.failSort('incompatible', `sortModel: ${field.name} is not numeric, so it has no absolute order.`);
    return [{ field, direction, absolute: true }];
  }

  /** The column or label of that name; a problem of `where` when there is none. */
  findField(where: string, name: string): Field | undefined {
    const field = fieldsOf(this.table).get(name) ?? findLabel(this.table, name, this.targets);
    if (!field) this.refuseName(where, name);
    return field;
  }

  private refuseName(where: string, name: string): void {
    const column = show(name);
    this.problem('unknown_property', `${where}: ${column} is not a column of this table.`, { field: where, column });
  }

  private fail(code: ProblemCode, message: string, field?: Field): All {
    this.problem(code, message, this.placeOf(field));
    return everyRow;
  }

  private refuseTest(field: Field, code: ProblemCode, sentence: string): undefined {
    this.problem(code, `${field.name}: ${sentence}`, this.placeOf(field));
  }

  private placeOf(field?: Field): Place {
    return { field: this.where, ...(field && { column: field.name }) };
  }

  private failSort(code: ProblemCode, message: string): [] {
    this.problem(code, message, { field: 'sortModel' });
    return [];
  }

  private readFilter(field: Field, model: unknown): Filter {
    if (!isJsonObject(model))
      return this.fail('wrong_type', `${this.where}: the filter of ${field.name} must be an object.`, field);
    const unknown = Object.keys(model).find((key) => !knownKeys.has(key));
    if (unknown !== undefined)
      return this.fail(
        'unknown_property',
        `${field.name}: ${show(unknown)} is not a known property of a filter.`,
        field,
      );
    return model.operator === undefined ? this.readCondition(field, model, undefined) : this.readCombined(field, model);
  }

  private readCombined(field: Field, model: JsonObject): Filter {
    const { operator, conditions } = model;
    if (operator !== 'AND' && operator !== 'OR')
      return this.fail('not_in_list', `${field.name}: operator must be AND or OR.`, field);
    const items = conditions ?? [model.condition1, model.condition2];
    if (!Array.isArray(items) || items.length === 0)
      return this.fail('wrong_type', `${field.name}: conditions must be an array of filters.`, field);
    if (items.length > limits.filterConditions) return this.fail('too_many', tooManyConditions);
    const filters = items.map((item: unknown) => {
      if (!isJsonObject(item) || item.operator !== undefined)
        return this.fail('wrong_type', `${field.name}: each of conditions must be a simple filter.`, field);
      const unknown = Object.keys(item).find((key) => !knownKeys.has(key));
      if (unknown !== undefined)
        return this.fail(
          'unknown_property',
          `${field.name}: ${show(unknown)} is not a known property of a filter.`,
          field,
        );
      return this.readCondition(field, item, model.filterType);
    });
    return operator === 'AND' ? { all: filters } : { any: filters };
  }

  private readCondition(field: Field, model: JsonObject, outerType: unknown): Filter {
    this.conditions += 1;
    const filterType = model.filterType ?? outerType;
    const test = this.readTest(field, filterType, model);
    return test ? { field, test } : everyRow;
  }

  private readTest(field: Field, filterType: unknown, model: JsonObject): Test | undefined {
    const { family } = field.type;
    const fail = (code: ProblemCode, sentence: string) => this.refuseTest(field, code, sentence);
    if (filterType === 'set') return this.readSet(field, model);
    if (!isOneOf(filterTypes, filterType))
      return fail('not_in_list', 'filterType must be text, number, bigint, date or set.');
    const isNumber = filterType === 'number' || filterType === 'bigint';
    if (isNumber && !numberFamilies.has(family))
      return fail('incompatible', `a ${filterType} filter needs a numeric column.`);
    if (filterType === 'date' && !dateFamilies.has(family))
      return fail('incompatible', 'a date filter needs a date or datetime column.');
    const { type } = model;
    if (type === 'blank' || type === 'notBlank') return { kind: 'blank', negated: type === 'notBlank' };
    if (filterType === 'text') return this.readText(field, type, model.filter);
    if (isNumber) return this.readNumber(field, type, model);
    return this.readDay(field, type, model);
  }

  private readText(field: Field, type: unknown, value: unknown): Test | undefined {
    const fail = (code: ProblemCode, sentence: string) => this.refuseTest(field, code, sentence);
    if (!isOneOf(textOperators, type)) return fail('not_in_list', `${show(type)} is not an operator of a text filter.`);
    if (typeof value !== 'string') return fail('wrong_type', 'filter must be text.');
    if (value === '') return emptyTextTest(type);
    return { kind: 'text', operator: type, value };
  }

  private readNumber(field: Field, type: unknown, model: JsonObject): Test | undefined {
    const fail = (code: ProblemCode, sentence: string) => this.refuseTest(field, code, sentence);
    const value = readFilterNumber(field, model.filter);
    if (type !== 'inRange' && !isOneOf(compareOperators, type))
      return fail('not_in_list', `${show(type)} is not an operator of a number filter.`);
    if (value === undefined) return fail('wrong_format', 'filter must be a number.');
    if (type !== 'inRange') return { kind: 'number', operator: type, value };
    const to = readFilterNumber(field, model.filterTo);
    return to === undefined
      ? fail('wrong_format', 'filterTo must be a number.')
      : { kind: 'numberRange', from: value, to };
  }

  private readDay(field: Field, type: unknown, model: JsonObject): Test | undefined {
    const fail = (code: ProblemCode, sentence: string) => this.refuseTest(field, code, sentence);
    if (type !== 'inRange' && !isOneOf(compareOperators, type))
      return fail('not_in_list', `${show(type)} is not an operator of a date filter.`);
    const from = readFilterDay(model.dateFrom);
    if (from === undefined) return fail('wrong_format', 'dateFrom must be a date, YYYY-MM-DD.');
    if (type !== 'inRange') return { kind: 'day', operator: type, value: from };
    const to = readFilterDay(model.dateTo);
    return to === undefined
      ? fail('wrong_format', 'dateTo must be a date, YYYY-MM-DD.')
      : { kind: 'dayRange', from, to };
  }

  private readSet(field: Field, model: JsonObject): Test | undefined {
    const { values } = model;
    if (!Array.isArray(values) || !values.every((value) => value === null || typeof value === 'string'))
      return this.refuseTest(field, 'wrong_type', 'values must be an array of texts or nulls.');
    const texts = values.filter((value: unknown): value is string => typeof value === 'string' && value !== '');
    return { kind: 'set', values: texts, blanks: texts.length < values.length };
  }
}

// To AG Grid an empty text is no text: no row is like it, and only a row without a value is unlike
// it.
const emptyTextTest = (operator: TextOperator): Test =>
  operator === 'notEqual' || operator === 'notContains'
    ? { kind: 'null', negated: false }
    : { kind: 'set', values: [], blanks: false };

function isOneOf<T extends string>(some: readonly T[], value: unknown): value is T {
  return some.some((each) => each === value);
}

function show(value: unknown): string {
  return typeof value === 'string' ? (value.length > 80 ? `${value.slice(0, 80)}…` : value) : 'this';
}

const numberPattern = /^-?[0-9]{1,38}(?:\.[0-9]{1,38})?$/;

function readFilterNumber({ type }: Field, value: unknown): string | undefined {
  const text = numberFromJson(value);
  if (text === undefined) return undefined;
  // A real is compared with any double.
  if (floats.has(type.family)) return readOperand(valueTypes.double, text);
  return numberPattern.test(text) && text.replace(/[-.]/g, '').length <= 38 ? text : undefined;
}

// AG Grid sends `2026-01-31 00:00:00`; only the day counts.
const dayPattern = /^(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?Z?)?$/;

function readFilterDay(value: unknown): string | undefined {
  const day = typeof value === 'string' ? dayPattern.exec(value)?.[1] : undefined;
  return day !== undefined && isDate(day) ? day : undefined;
}
