// Where the windows of operations start.
import type { InfiniteData } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { isFound, type OperationFilter } from './review-view.ts';

export type OperationPage = Schemas['ChangeOperationPage'];
export type OperationPages = InfiniteData<OperationPage>;

export const windowSize = 200;

/**
 * Where the next window starts. Operations that were decided since have left the filter, but not
 * the page: the server doesn't count them any more.
 */
export function nextStart(
  last: OperationPage,
  pages: readonly OperationPage[],
  filter: OperationFilter,
): number | undefined {
  if (last.operations.length < windowSize) return undefined;
  return pages.flatMap(({ operations }) => operations).filter((operation) => isFound(operation, filter)).length;
}
