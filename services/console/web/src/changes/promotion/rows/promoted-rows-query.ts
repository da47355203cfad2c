import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../../../api/client.ts';
import { operationOf } from '../../../diff/change-kinds.ts';
import { rowWindows, windowFrom } from '../../../diff/row-windows.ts';
import type { PromotionView } from './promotion-view.ts';

export type PromotedRow = Schemas['PromotedRow'];
export type RowPages = InfiniteData<Schemas['PromotedRowPage'], number>;

/** Of the rows of a promotion as of a revision. */
export const promotedRowsKey = (id: number, revision: string | null) => ['promoted_rows', id, revision];

/** How the API names the rows of a view. */
export const filterOf = ({ table, kind, conflict, rejected }: PromotionView) => ({
  ...(table && { table_definition_id: table }),
  ...(kind && { kind: operationOf[kind] }),
  ...(conflict && { conflict: true }),
  ...(rejected && { decision: 'rejected' as const }),
});

/** The rows of a table that a promotion would change, a window at a time, as of its revision. */
export const promotedRowsQuery = (id: number, revision: string | null, view: PromotionView) =>
  infiniteQueryOptions({
    // Beside those of promotions: of one that has ended there is nothing to be read again.
    queryKey: [...promotedRowsKey(id, revision), filterOf(view)],
    ...rowWindows,
    queryFn: ({ pageParam, signal }) => {
      const { conflict, ...filter } = filterOf(view);
      const query = { ...filter, ...(conflict && { conflict: 'true' as const }), ...windowFrom(pageParam) };
      return client.get('/promotions/{id}/rows', { params: { path: { id }, query }, signal });
    },
  });
