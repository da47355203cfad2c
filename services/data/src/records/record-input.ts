// Reads `record` of a write: every value by its column's type, before the database; all problems
// are collected.
import { shorten, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';
import { findProblem, problemOf, requiredProblem, valueChecks } from '../tables/column-rules.ts';
import type { Column, DeployedTable } from '../tables/table.ts';
import { isRequired } from '../tables/table.ts';
import type { Check } from '../values/check.ts';
import { textDemand } from '../values/texts.ts';
import { typeOf } from '../values/value-types.ts';

/**
 * Cells in their text form, by column; null: no value. Columns with a problem are in `broken`
 * instead.
 */
export type Cells = Map<Column, string | null>;
export type RecordInput = { cells: Cells; problems: Problem[]; broken: Set<Column> };

/**
 * `isNew`: columns that the record doesn't name have no value. 422 at once when it names far more
 * columns than the table has.
 */
export function readRecord(
  table: Pick<DeployedTable, 'structure'>,
  record: Record<string, unknown>,
  isNew: boolean,
): RecordInput {
  const columns = columnsByName(table);
  const unknown = Object.keys(record).length - columns.size;
  if (unknown > limits.problems)
    throw validationFailed({
      code: 'unknown_property',
      message: `The record names ${unknown} columns more than this table has`,
      params: { count: unknown },
    });
  const cells: Cells = new Map();
  const problems: Problem[] = [];
  const broken = new Set<Column>();
  const refuse = (column: Column, problem: Problem) => {
    problems.push(problem);
    broken.add(column);
  };
  for (const name of Object.keys(record)) {
    const column = columns.get(name);
    if (!column) {
      problems.push(unknownColumn(name));
      continue;
    }
    const cell = readCell(column, record[name]);
    if (typeof cell === 'object' && cell !== null) refuse(column, cell.problem);
    else cells.set(column, cell);
  }
  if (isNew)
    for (const column of table.structure.columns) {
      if (Object.hasOwn(record, column.name)) continue;
      if (isRequired(column)) refuse(column, requiredProblem(column));
      else cells.set(column, null);
    }
  else if (Object.keys(record).length === 0)
    problems.push({ code: 'blank', message: 'The record names no column to change.', field: 'record' });
  return { cells, problems, broken };
}

const columnsByStructure = new WeakMap<object, Map<string, Column>>();

function columnsByName({ structure }: Pick<DeployedTable, 'structure'>): Map<string, Column> {
  let columns = columnsByStructure.get(structure);
  if (!columns) {
    columns = new Map(structure.columns.map((column) => [column.name, column]));
    columnsByStructure.set(structure, columns);
  }
  return columns;
}

function unknownColumn(name: string): Problem {
  const column = shorten(name);
  return name.startsWith('svc_')
    ? { code: 'read_only', message: `${column} is set by the system`, column }
    : { code: 'unknown_property', message: `${column} is not a column of this table`, column };
}

function readCell(column: Column, value: unknown): string | null | { problem: Problem } {
  if (value === null || value === undefined) {
    const problem = findProblem(column, null);
    return problem === undefined ? null : { problem };
  }
  const type = typeOf(column);
  const text = type.fromJson(value);
  // The first rule of other types describes the form of a value; that of texts is about their
  // length.
  if (text === undefined) {
    const message = type.family === 'text' ? textDemand : (valueChecks(column)[0] as Check).message;
    return { problem: problemOf(column, { code: 'wrong_type', message }) };
  }
  const broken = valueChecks(column).find((check) => check.brokenBy(text));
  if (broken) return { problem: problemOf(column, broken) };
  // An instant without an offset is UTC; the canonical form says so, whatever the zone of the
  // session.
  return type.family === 'instant' ? type.canonical(text) : text;
}
