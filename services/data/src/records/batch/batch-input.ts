// Reads the operations of a batch: every value by its column's type, before the database; all
// problems are collected. Upserts are read first, and become changes or new rows once it is known
// which rows have their keys.
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { moreProblems, type Problem } from '@almanac/service-kit/problems';
import type { Column, DeployedTable } from '../../tables/table.ts';
import { type KeyedInput, noInput, readKeyed } from '../key-input.ts';
import { requireKey, rowOf } from '../preconditions.ts';
import { type Cells, type RecordInput, readRecord } from '../record-input.ts';

/** An operation of a request. */
export type Operation =
  | { operation: 'create'; record: Record<string, unknown> }
  | { operation: 'update'; id: string; record: Record<string, unknown>; version?: number | undefined }
  | { operation: 'delete'; id: string; version?: number | undefined }
  | { operation: 'upsert'; record: Record<string, unknown> }
  | Restoration;

/** Of change requests alone. */
export type Restoration = { operation: 'restore'; id: string; version?: number | undefined };

/**
 * The change of one row. `place`: the operation, counted from 0; `version`: only while the row has
 * it.
 */
export type RowChange = {
  place: number;
  id: string | null;
  version: number | null;
  cells: Cells;
  /** Of an upsert: only while the row has this primary key. */
  key?: Cells | undefined;
  /** Columns whose value breaks a rule; they are not among the cells. */
  broken: ReadonlySet<Column>;
};

export type Batch = { created: RowChange[]; updated: RowChange[]; deleted: RowChange[]; restored: RowChange[] };

/** A problem of one operation, whose message doesn't name it yet. */
export type OperationProblem = Problem & { operation: number };

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

/** The upserts of a batch, by their places. */
export type Upserts = ReadonlyMap<number, KeyedInput>;

/**
 * Of an upsert: the live row with its key, if there is one, and the place of the first upsert with
 * this key.
 */
export type KeyedRow = { place: number; first: number; id: string | null };

/** Reads the upserts of a batch; 400 when there are some and the table has no primary key. */
export function readUpserts(table: DeployedTable, operations: Operation[]): Upserts {
  const upserts = new Map<number, KeyedInput>();
  for (const [place, each] of operations.entries())
    if (each.operation === 'upsert') upserts.set(place, readKeyed(table, each.record));
  if (upserts.size > 0) requireKey(table);
  return upserts;
}

/**
 * Adds the problems of values to `problems`. `rows`: those of the upserts whose key could be read.
 * 400 when two operations name the same record: its outcome would depend on their order.
 */
export function readBatch<P extends Pick<OperationProblems, 'add'>>(
  table: DeployedTable,
  operations: Operation[],
  upserts: Upserts,
  rows: readonly KeyedRow[],
  problems: P,
): { batch: Batch; problems: P } {
  const found = new Map(rows.map((row) => [row.place, row]));
  refuseRepeated(operations, found);
  const batch: Batch = { created: [], updated: [], deleted: [], restored: [] };
  const add = (
    changes: RowChange[],
    change: Pick<RowChange, 'place' | 'id' | 'version' | 'key'>,
    input: RecordInput,
  ) => {
    const { cells, broken } = input;
    const at = { operation: change.place, ...(change.id !== null && rowOf(change.id)) };
    problems.add(...input.problems.map((problem) => ({ ...problem, ...at })));
    changes.push({ ...change, cells, broken });
  };
  for (const [place, each] of operations.entries())
    if (each.operation === 'create')
      add(batch.created, { place, id: null, version: null }, readRecord(table, each.record, true));
    else if (each.operation === 'upsert') {
      const upsert = upserts.get(place) as KeyedInput;
      const { id = null } = found.get(place) ?? {};
      const change = { place, id, version: null };
      // Without a key, the other problems are those of a change.
      if (id !== null) add(batch.updated, { ...change, key: upsert.key }, upsert);
      else add(batch.created, change, upsert.key ? readRecord(table, each.record, true) : upsert);
    } else {
      const change = { place, id: each.id, version: each.version ?? null };
      if (each.operation === 'delete') add(batch.deleted, change, noInput());
      else if (each.operation === 'restore') add(batch.restored, change, noInput());
      else add(batch.updated, change, readRecord(table, each.record, false));
    }
  return { batch, problems };
}

function refuseRepeated(operations: Operation[], found: ReadonlyMap<number, KeyedRow>): void {
  const first = new Map<string, number>();
  const repeated: Problem[] = [];
  for (const [place, each] of operations.entries()) {
    const row = found.get(place);
    const id = 'id' in each ? each.id : row?.id;
    const before = row && row.first < place ? row.first : first.get(id ?? '');
    if (before === undefined) {
      if (id) first.set(id, place);
      continue;
    }
    const record = row ? 'the record with this key' : `record ${id}`;
    repeated.push({
      code: 'given_twice',
      message: `Operation ${place}: ${record} is named by operation ${before} already`,
      operation: place,
      ...(id && rowOf(id)),
      params: { operation: before },
    });
  }
  if (repeated.length > 0) throw new ServiceError('bad_request', repeated);
}
