import { infiniteQueryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import { operationOf } from '../../diff/change-kinds.ts';
import { rowWindows, windowFrom } from '../../diff/row-windows.ts';
import type { PromotionView } from './promotion-view.ts';

export type PromotedRow = Schemas['PromotedRow'];

/** The rows of a table that a promotion would change, a window at a time, as of its revision. */
export const promotedRowsQuery = (id: number, revision: string | null, { table, kind, conflict }: PromotionView) =>
  infiniteQueryOptions({
    // Beside those of promotions: of one that has ended there is nothing to be read again.
    queryKey: ['promoted_rows', id, revision, { table, kind, conflict }],
    ...rowWindows,
    queryFn: ({ pageParam, signal }) =>
      client.get('/promotions/{id}/rows', {
        params: {
          path: { id },
          query: {
            ...(table && { table_definition_id: table }),
            ...(kind && { kind: operationOf[kind] }),
            ...(conflict && { conflict: 'true' as const }),
            ...windowFrom(pageParam),
          },
        },
        signal,
      }),
  });
