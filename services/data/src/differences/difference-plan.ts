// The plan of a comparison: which columns both sides have, which rows and which window are
// requested. Pure; 400 with every problem, 422 where rows of the sides can't be matched.
import { ServiceError } from '@almanac/service-kit/errors';
import { type Place, type Problem, type ProblemCode, withoutRepeated } from '@almanac/service-kit/problems';
import { type Filter, type PagePlan, testsOf } from '../pages/filter.ts';
import { planGrid } from '../pages/grid-plan.ts';
import { type Field, fieldsOf } from '../rows/fields.ts';
import { type Column, type DeployedTable, keyColumns } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';
import type { Side, Sides } from './sides.ts';

export const differenceKinds = ['created', 'updated', 'deleted'] as const;
export type DifferenceKind = (typeof differenceKinds)[number];

export type DifferenceRequest = {
  startRow: number;
  endRow: number;
  /** All by default. */
  kinds?: DifferenceKind[] | undefined;
  /** The names of the columns to compare; all by default. */
  columns?: string[] | undefined;
  filterModel?: unknown;
};

/** A column that both sides have, by its lineage. The right side names it. */
export type Compared = { left: Column; right: Column };

export type DifferencePlan = Pick<PagePlan, 'offset' | 'limit'> & {
  left: Side;
  right: Side;
  /** By which rows are matched; without any, by svc_sk. */
  key: Compared[];
  /** The other columns that are compared. */
  compared: Compared[];
  leftOnly: Column[];
  rightOnly: Column[];
  kinds: readonly DifferenceKind[];
  /** A row is shown when it matches on one side; undefined: every row. */
  filters: { left: Filter; right: Filter } | undefined;
};

/** Whether both sides are one deployed table, so that the rows that changed in between suffice. */
export const isOneTable = ({ left, right }: Pick<DifferencePlan, 'left' | 'right'>): boolean =>
  left.table.table_definition_id === right.table.table_definition_id;

/** The plan, or what is wrong with the request. */
export function planDifferences({ left, right }: Sides, request: DifferenceRequest): DifferencePlan {
  const shared = pairsOf(left.table, right.table);
  const byName = new Map(shared.map((pair) => [pair.right.name, pair]));
  const problems: Problem[] = [];
  const problem = (code: ProblemCode, message: string, place: Place) => problems.push({ code, message, ...place });

  const rightFields = fieldsOf(right.table);
  for (const column of request.columns ?? []) {
    const shown = column.slice(0, 80);
    if (!rightFields.get(column)?.column)
      problem('unknown_property', `columns: ${shown} is not a column of this table.`, {
        field: 'columns',
        column: shown,
      });
    else if (!byName.has(column))
      problem('incompatible', `columns: the left side has no ${shown}.`, { field: 'columns', column: shown });
  }
  const page = readPage(right.table, request, problems);
  const filters = page && splitFilter(page.filter, shared, problem);
  if (problems.length > 0 || !page) throw new ServiceError('bad_request', withoutRepeated(problems));

  const key = matchingKey({ left, right }, shared);
  const chosen = request.columns && new Set(request.columns);
  const inKey = new Set(key.map((pair) => pair.right));
  const without = (columns: Column[], some: Set<number>) => columns.filter(({ lineage_id }) => !some.has(lineage_id));
  const lineages = new Set(shared.map((pair) => pair.right.lineage_id));
  return {
    left,
    right,
    key,
    compared: shared.filter((pair) => !inKey.has(pair.right) && (chosen?.has(pair.right.name) ?? true)),
    leftOnly: without(left.table.structure.columns, lineages),
    rightOnly: without(right.table.structure.columns, lineages),
    kinds: request.kinds ?? differenceKinds,
    filters,
    offset: page.offset,
    limit: page.limit,
  };
}

function pairsOf(left: DeployedTable, right: DeployedTable): Compared[] {
  const theirs = new Map(left.structure.columns.map((column) => [column.lineage_id, column]));
  return right.structure.columns.flatMap((column) => {
    const other = theirs.get(column.lineage_id);
    return other ? [{ left: other, right: column }] : [];
  });
}

// Window and filter are those of the grid, in the columns of the right side.
function readPage(table: DeployedTable, { startRow, endRow, filterModel }: DifferenceRequest, problems: Problem[]) {
  try {
    return planGrid(table, { startRow, endRow, filterModel });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

/** Whether values of both columns compare with each other. */
export const areComparable = ({ left, right }: Compared): boolean => typeOf(left).family === typeOf(right).family;

// The filter in the columns of each side.
function splitFilter(
  right: Filter,
  shared: Compared[],
  problem: (code: ProblemCode, message: string, place: Place) => void,
): DifferencePlan['filters'] {
  const tests = testsOf(right);
  if (tests.length === 0 && 'all' in right && right.all.length === 0) return undefined;
  const theirs = new Map(shared.filter(areComparable).map((pair) => [pair.right, pair.left]));
  for (const { field } of tests)
    if (field.column && !theirs.has(field.column))
      problem('incompatible', `${field.name}: the left side has no such column of that type to filter by.`, {
        field: 'filterModel',
        column: field.name,
      });
  const onLeft = (field: Field): Field => {
    const column = field.column && theirs.get(field.column);
    return column ? { ...field, type: typeOf(column), column } : field;
  };
  return { left: mapFields(right, onLeft), right };
}

function mapFields(filter: Filter, map: (field: Field) => Field): Filter {
  if ('all' in filter) return { all: filter.all.map((each) => mapFields(each, map)) };
  if ('any' in filter) return { any: filter.any.map((each) => mapFields(each, map)) };
  return { ...filter, field: map(filter.field) };
}

function matchingKey({ left, right }: Sides, shared: Compared[]): Compared[] {
  const keys = [left, right].map(({ table }) => keyColumns(table.structure));
  const pairs = shared.filter((pair) => pair.left.is_primary_key && pair.right.is_primary_key);
  const isSame = keys.every(({ length }) => length === pairs.length) && pairs.every(areComparable);
  if (isSame && (pairs.length > 0 || isOneTable({ left, right }))) return pairs;
  throw new ServiceError('validation_failed', {
    code: 'incompatible',
    message: isSame
      ? 'The table has no primary key, by which rows of two branches are recognised as the same.'
      : 'The primary key is not deployed alike on both sides, so their rows can’t be matched.',
    field: 'right',
  });
}
