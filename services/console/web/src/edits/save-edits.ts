// Sends edits to the server: as changes of the rows themselves, or as a change request.
import { client, type Schemas } from '../api/client.ts';
import { isUnanswered, problemsOf } from '../api/explain-error.ts';
import type { Row } from '../api/queries.ts';
import type { EditProblem } from './edit-history.ts';
import { type Edits, type RowEdit, withoutSaved } from './edits.ts';

type Operation = Exclude<Schemas['BatchOperation'], { operation: 'upsert' }>;
export type Problems = Map<number, EditProblem[]>;

/**
 * What a save has come to. Each batch is all or nothing; after the first refusal none is sent.
 */
export type Saved = {
  /** The rows that were written, by the ids of their edits; of deleted ones the ids alone. */
  records: Map<number, Row>;
  done: Edits;
  problems: Problems;
  /** What failed beside the rows: no answer, no right, no session. */
  failure: unknown;
  /** The rows as they are now, where others have changed them. */
  current: Map<number, Row>;
  requestIds: string[];
  /** The batch of which it is not known whether it is written. */
  unanswered: SentBatch | undefined;
};

/** The names of one write, the same when it is repeated. */
export type WriteNames = { key: string; requestId: string };

/** A batch as it was sent. Sent again by the same names it is written once, and answered. */
export type SentBatch = { edits: readonly RowEdit[]; names: WriteNames };

export const newNames = (): WriteNames => ({ key: crypto.randomUUID(), requestId: crypto.randomUUID() });

const batchSize = 1_000;

/**
 * Writes edits to the rows of a table. A batch that had no answer before is sent first, exactly as
 * it was: only so is it known what it has done, and what has been changed since is put on top of
 * that. Never throws: what failed is in the answer.
 */
export async function saveRows(tableId: number, edits: Edits, before?: SentBatch): Promise<Saved> {
  const saved: Saved = {
    records: new Map(),
    done: new Map(),
    problems: new Map(),
    failure: undefined,
    current: new Map(),
    requestIds: [],
    unanswered: undefined,
  };
  const done = new Map<number, RowEdit>();
  const send = async ({ edits: part, names }: SentBatch): Promise<boolean> => {
    try {
      const written = await client.post('/table_data/batch', {
        body: { table_definition_id: tableId, operations: part.map(operationOf) },
        // Named by us, so that a lost answer is got again, and what is written can be undone.
        headers: { 'Idempotency-Key': names.key, 'X-Request-Id': names.requestId },
      });
      saved.requestIds.push(names.requestId);
      const of = (kind: RowEdit['kind']) => part.filter((edit) => edit.kind === kind);
      for (const [place, { id }] of of('create').entries()) saved.records.set(id, written.created[place] as Row);
      for (const [place, { id }] of of('update').entries()) saved.records.set(id, written.updated[place] as Row);
      for (const edit of part) done.set(edit.id, edit);
      return true;
    } catch (error) {
      readRefusal(error, part, saved);
      if (isUnanswered(error)) saved.unanswered = { edits: part, names };
      return false;
    }
  };
  let left = edits;
  if (before && !(await send(before))) {
    // Refused for its rows it has written nothing; refused for another reason it may have, before.
    if (saved.failure !== undefined) return { ...saved, done, unanswered: before };
    saved.problems.clear();
    saved.current.clear();
  }
  if (done.size > 0) left = withoutSaved(edits, done, saved.records);
  for (const part of partsOf([...left.values()])) if (!(await send({ edits: part, names: newNames() }))) break;
  return { ...saved, done };
}

/** Adds edits to a draft change request; answers what is wrong with them, by row. */
export async function proposeRows(requestId: number, tableId: number, edits: Edits): Promise<Problems> {
  const problems: Problems = new Map();
  for (const part of partsOf([...edits.values()])) {
    const { operations } = await client.post('/change_requests/{id}/operations', {
      params: { path: { id: requestId } },
      body: { table_definition_id: tableId, operations: part.map(operationOf) },
    });
    for (const [place, stored] of operations.entries()) {
      const id = (part[place] as RowEdit).id;
      for (const { code, column, message } of stored.problems)
        addProblem(problems, id, { column, message, isConflict: code === 'version_conflict' });
    }
  }
  return problems;
}

function partsOf(all: readonly RowEdit[]): RowEdit[][] {
  const parts: RowEdit[][] = [];
  for (let at = 0; at < all.length; at += batchSize) parts.push(all.slice(at, at + batchSize));
  return parts;
}

function operationOf({ kind, id, before, values }: RowEdit): Operation {
  if (kind === 'create') return { operation: 'create', record: values };
  const version = before?.svc_version as number;
  if (kind === 'delete') return { operation: 'delete', id, version };
  return { operation: 'update', id, version, record: values };
}

/** Takes back what a request wrote in the table. */
export async function takeBack(table_definition_id: number, request_id: string): Promise<void> {
  await client.post('/table_data/undo', { body: { table_definition_id, request_id } });
}

// Problems name their operation; those that don't are about the whole.
function readRefusal(error: unknown, part: readonly RowEdit[], saved: Saved): void {
  for (const { operation, code, column, message, current } of problemsOf(error)) {
    const edit = operation === undefined ? undefined : part[operation];
    if (!edit) continue;
    addProblem(saved.problems, edit.id, { column, message, isConflict: code === 'version_conflict' });
    if (current) saved.current.set(edit.id, current as Row);
  }
  if (saved.problems.size === 0) saved.failure = error;
}

// The row is seen beside the problem; the number of its operation says nothing to a person.
function addProblem(problems: Problems, id: number, problem: EditProblem): void {
  const message = problem.message.replace(/^Operation \d+: /, '');
  problems.set(id, [...(problems.get(id) ?? []), { ...problem, message }]);
}
