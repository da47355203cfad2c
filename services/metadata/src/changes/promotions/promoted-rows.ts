// The rows that a promotion would change, with what the base and both branches have, by window.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { readRowWindow } from '@almanac/service-kit/http/row-input';
import type { MetadataContext } from '../../context.ts';
import { findVisiblePairs } from './promotion-rights.ts';
import { type RowWindow, readRows } from './promotion-rows.ts';
import { requireVisiblePromotion } from './promotions.ts';

/** `table_definition_id`: of one table of the promotion; by default of all. */
type RowsRequest = Omit<RowWindow, 'startRow' | 'endRow'> & {
  table_definition_id?: number | undefined;
  startRow?: number | undefined;
  endRow?: number | undefined;
};

/**
 * A window of the rows that the promotion would change, as the body of the answer; none of one that
 * takes no rows along. 422 once it has ended.
 */
export async function listPromotedRows(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  { table_definition_id, ...request }: RowsRequest,
): Promise<Buffer> {
  const window = { ...request, ...readRowWindow(request) };
  const { stored, comparison } = await requireVisiblePromotion(ctx, call, id);
  if (!comparison)
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: `Promotion is ${stored.status}; the history of the rows has what it merged.`,
      params: { state: stored.status },
    });
  const visible = await findVisiblePairs(ctx, call, stored, comparison.pairs);
  const wanted = visible.filter(
    ({ sourceId }) => table_definition_id === undefined || sourceId === table_definition_id,
  );
  return readRows(ctx, call, stored.include_data ? wanted : [], window);
}
