// What a decision changes in the operations that are shown, before and after the server has
// answered.
import { decisionOf, type Verb } from '../../parts/review/verb.ts';
import type { Operation } from '../queries.ts';
import type { OperationPages } from '../review/next-start.ts';
import { isFound, type OperationFilter } from '../review/review-view.ts';

/** The operations of these ids, or all of a table that the filter finds. */
export type Meant = { ids: readonly number[] } | { tableId: number; filter: OperationFilter };

export type Decision = { verb: Verb; comment: string | null; userId: number | null };

/** The pages with the operations decided. What doesn't change stays the same object. */
export function decidePages(
  pages: OperationPages | undefined,
  meant: Meant,
  decision: Decision,
): OperationPages | undefined {
  const isMeant = meantOf(meant);
  if (!pages?.pages.some(({ operations }) => operations.some(isMeant))) return pages;
  const decidedPages = pages.pages.map((page) =>
    page.operations.some(isMeant)
      ? { ...page, operations: page.operations.map((each) => (isMeant(each) ? decided(each, decision) : each)) }
      : page,
  );
  return { ...pages, pages: decidedPages };
}

/**
 * Whether rejected or returned operations are among those that the decision changes, or come to be.
 */
export function changesWhatIsApplied(operations: readonly Operation[], meant: Meant, verb: Verb): boolean {
  const isMeant = meantOf(meant);
  const isLeftOut = ({ decision }: Operation) => decision === 'rejected' || decision === 'returned';
  return verb === 'reject' || verb === 'return' || 'filter' in meant || operations.filter(isMeant).some(isLeftOut);
}

function meantOf(meant: Meant): (operation: Operation) => boolean {
  if ('ids' in meant) {
    const ids = new Set(meant.ids);
    return ({ id }) => ids.has(id);
  }
  return (operation) => operation.table_definition_id === meant.tableId && isFound(operation, meant.filter);
}

function decided(operation: Operation, { verb, comment, userId }: Decision): Operation {
  return { ...operation, decision: decisionOf[verb], comment, decided_by: verb === 'undecided' ? null : userId };
}
