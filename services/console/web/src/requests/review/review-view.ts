// What the review of a change request shows, as its address has it: every view is a link.
import { readId } from '../../address/view.ts';
import type { Operation } from '../queries.ts';

export const kinds = ['create', 'update', 'delete', 'restore'] as const satisfies Operation['kind'][];
export const decisions = ['undecided', 'accepted', 'rejected', 'returned'] as const satisfies Operation['decision'][];

/** Which operations of a table are shown. */
export type OperationFilter = {
  kind?: Operation['kind'] | undefined;
  decision?: Operation['decision'] | undefined;
  /** Those with problems or conflicts alone. */
  problem?: true | undefined;
};

export type ReviewView = OperationFilter & {
  table?: number | undefined;
  /** Unchanged columns are shown as well. */
  columns?: 'all' | undefined;
  /** The operation that is open. */
  operation?: number | undefined;
};

/** The view of an address. What cannot be read is left out: an old link still opens the request. */
export function readReviewView(search: Record<string, unknown>): ReviewView {
  return {
    table: readId(search.table),
    kind: kinds.find((kind) => kind === search.kind),
    decision: decisions.find((decision) => decision === search.decision),
    problem: String(search.problem) === 'true' || undefined,
    columns: search.columns === 'all' ? 'all' : undefined,
    operation: readId(search.operation),
  };
}

export function isFiltered({ kind, decision, problem }: OperationFilter): boolean {
  return kind !== undefined || decision !== undefined || problem !== undefined;
}

/** Whether the operation is still one of those that the filter finds. */
export function isFound(
  { kind, decision, problems }: Pick<Operation, 'kind' | 'decision' | 'problems'>,
  filter: OperationFilter,
): boolean {
  return (
    (filter.kind === undefined || filter.kind === kind) &&
    (filter.decision === undefined || filter.decision === decision) &&
    (filter.problem === undefined || problems.length > 0)
  );
}
