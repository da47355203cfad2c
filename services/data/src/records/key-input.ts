// Reads the primary key of a record: of one that is looked up, and in one that is written whether
// it is there or not.
import { ServiceError, shorten } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { requiredProblem, sentence, valueChecks } from '../tables/column-rules.ts';
import type { Column, DeployedTable } from '../tables/table.ts';
import { keyColumns } from '../tables/table.ts';
import type { Check } from '../values/check.ts';
import { readOperand, typeOf } from '../values/value-types.ts';
import { requireKey } from './preconditions.ts';
import { type Cells, type RecordInput, readRecord } from './record-input.ts';

/**
 * The key of a record to look up, from the texts of a query by column. 400 with every problem. A
 * value that is longer or finer than its column may be is fine; no record has it.
 */
export function readKey(table: Pick<DeployedTable, 'structure'>, given: Record<string, string>): Cells {
  const key = requireKey(table);
  const problems = Object.keys(given)
    .filter((name) => !key.some((column) => column.name === name))
    .map(
      (name): Problem => ({
        code: 'unknown_property',
        message: `key: ${shorten(name)} is not a column of the primary key (${namesOf(key)}).`,
        field: 'key',
      }),
    );
  const cells: Cells = new Map();
  for (const column of key) {
    const text = Object.hasOwn(given, column.name) ? given[column.name] : undefined;
    const operand = text === undefined ? undefined : readOperand(typeOf(column), text);
    if (operand !== undefined) cells.set(column, operand);
    else if (text === undefined)
      problems.push({ code: 'blank', message: `key: ${column.name} is required.`, field: 'key', column: column.name });
    else {
      const message = `key: ${sentence(column, (valueChecks(column)[0] as Check).message)}.`;
      problems.push({ code: 'wrong_format', message, field: 'key', column: column.name });
    }
  }
  if (problems.length > 0) throw new ServiceError('bad_request', problems);
  return cells;
}

const namesOf = (columns: Column[]) => columns.map(({ name }) => name).join(', ');

/**
 * A record that is created, or changed when one with its key is there. `key` is undefined when it
 * can't be read; `cells` are those of the other columns.
 */
export type KeyedInput = RecordInput & { key: Cells | undefined };

/** Columns that the record doesn't name stay as they are; it must name those of the key. */
export function readKeyed(table: Pick<DeployedTable, 'structure'>, record: Record<string, unknown>): KeyedInput {
  const isEmpty = Object.keys(record).length === 0;
  const { cells, problems, broken } = isEmpty ? noInput() : readRecord(table, record, false);
  const key: Cells = new Map();
  for (const column of keyColumns(table.structure)) {
    if (!Object.hasOwn(record, column.name)) {
      problems.push(requiredProblem(column));
      broken.add(column);
    }
    const cell = cells.get(column);
    if (cell !== undefined) key.set(column, cell);
    cells.delete(column);
  }
  const isRead = key.size === keyColumns(table.structure).length;
  return { cells, problems, broken, key: isRead ? key : undefined };
}

/** The input of an operation that has no values. */
export const noInput = (): RecordInput => ({ cells: new Map(), problems: [], broken: new Set() });
