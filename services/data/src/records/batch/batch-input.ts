// Reads the operations of a batch: every value by its column's type, before the database; all
// problems are collected.
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { moreProblems, type Problem } from '@almanac/service-kit/problems';
import type { Column, DeployedTable } from '../../tables/table.ts';
import { rowOf } from '../preconditions.ts';
import { type Cells, readRecord } from '../record-input.ts';

/** An operation of a request. */
export type Operation =
  | { operation: 'create'; record: Record<string, unknown> }
  | { operation: 'update'; id: string; record: Record<string, unknown>; version?: number | undefined }
  | { operation: 'delete'; id: string; version?: number | undefined };

/**
 * The change of one row. `place`: the operation, counted from 0; `version`: only while the row has
 * it.
 */
export type RowChange = {
  place: number;
  id: string | null;
  version: number | null;
  cells: Cells;
  /** Columns whose value breaks a rule; they are not among the cells. */
  broken: ReadonlySet<Column>;
};

export type Batch = { created: RowChange[]; updated: RowChange[]; deleted: RowChange[] };

/** A problem of one operation, whose message doesn't name it yet. */
type OperationProblem = Problem & { operation: number };

/** The problems of an answer: by operation, the first hundred of them. */
export class OperationProblems {
  private readonly kept: OperationProblem[] = [];
  private left = 0;

  add(...problems: OperationProblem[]): void {
    const room = limits.problems - this.kept.length;
    this.kept.push(...problems.slice(0, room));
    this.left += Math.max(0, problems.length - room);
  }

  get isEmpty(): boolean {
    return this.kept.length === 0;
  }

  get all(): Problem[] {
    const problems = this.kept
      .toSorted((a, b) => a.operation - b.operation)
      .map((problem) => ({ ...problem, message: `Operation ${problem.operation}: ${problem.message}` }));
    return this.left === 0 ? problems : [...problems, moreProblems(this.left)];
  }
}

/** 400 when two operations name the same record: its outcome would depend on their order. */
export function readBatch(
  table: DeployedTable,
  operations: Operation[],
): { batch: Batch; problems: OperationProblems } {
  refuseRepeated(operations);
  const batch: Batch = { created: [], updated: [], deleted: [] };
  const problems = new OperationProblems();
  for (const [place, each] of operations.entries()) {
    const id = each.operation === 'create' ? null : each.id;
    const version = each.operation === 'create' ? null : (each.version ?? null);
    if (each.operation === 'delete') {
      batch.deleted.push({ place, id, version, cells: new Map(), broken: new Set() });
      continue;
    }
    const isNew = each.operation === 'create';
    const { cells, broken, problems: found } = readRecord(table, each.record, isNew);
    problems.add(...found.map((problem) => ({ ...problem, operation: place, ...(id !== null && rowOf(id)) })));
    (isNew ? batch.created : batch.updated).push({ place, id, version, cells, broken });
  }
  return { batch, problems };
}

function refuseRepeated(operations: Operation[]): void {
  const first = new Map<string, number>();
  const repeated: Problem[] = [];
  for (const [place, each] of operations.entries()) {
    if (each.operation === 'create') continue;
    const before = first.get(each.id);
    if (before === undefined) first.set(each.id, place);
    else
      repeated.push({
        code: 'given_twice',
        message: `Operation ${place}: record ${each.id} is named by operation ${before} already`,
        operation: place,
        ...rowOf(each.id),
        params: { operation: before },
      });
  }
  if (repeated.length > 0) throw new ServiceError('bad_request', repeated);
}
