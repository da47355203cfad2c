// The rows that a promotion would change, with what the base and both branches have, and the
// decisions on them.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { readRowWindow } from '@almanac/service-kit/http/row-input';
import type { MetadataContext } from '../../context.ts';
import { requireStep } from '../change-kind.ts';
import { actorOf, findVisiblePairs, splitByVisibleRows } from './promotion-rights.ts';
import { promotions, requireVisiblePromotion } from './promotions.ts';
import { decideRows, type RowWindow, readDecisions, readRows } from './rows/merged-rows.ts';
import type { Deciding } from './rows/rows-schema.ts';

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
  return readRows(ctx, call, { promotionId: id, pairs: stored.include_data ? wanted : [] }, window);
}

/**
 * Decides rows of a promotion, all or none, and answers how many. 403 or 422 unless the caller may
 * promote it now; 404 names rows that it would not change.
 */
export async function decidePromotedRows(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readDecided: () => Deciding[],
): Promise<{ decided_count: number }> {
  const { stored, comparison } = await requireVisiblePromotion(ctx, call, id);
  requireStep(promotions, stored, 'promote', await actorOf(ctx, call, stored));
  const pairs = await findVisiblePairs(ctx, call, stored, comparison?.pairs ?? []);
  const decisions = readDecided();
  const known = new Set<number | undefined>([undefined, ...pairs.map(({ sourceId }) => sourceId)]);
  for (const { rows = [], filter } of decisions)
    for (const { table_definition_id } of [...rows, filter ?? {}])
      if (!known.has(table_definition_id)) throw notFound('Table definition');
  if (!stored.include_data)
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: 'Promotion takes no rows along; there are none to decide.',
    });
  return decideRows(ctx, call, { promotionId: id, pairs, decisions });
}

/**
 * A window of the decisions on rows that the caller may view on both branches, as the body of the
 * answer.
 */
export async function listDecisions(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  { decision, ...request }: { decision?: string; startRow?: number; endRow?: number },
): Promise<Buffer> {
  const window = readRowWindow(request);
  const { stored } = await requireVisiblePromotion(ctx, call, id);
  const tables = stored.tables.map(({ table_definition_id, target_definition_id, domain_id }) => ({
    ...{ sourceId: table_definition_id, targetId: target_definition_id },
    source: { domain_id },
  }));
  const { seen } = await splitByVisibleRows(ctx, call, stored, tables);
  return readDecisions(ctx, call, {
    ...{ promotionId: id, sourceIds: seen.map(({ sourceId }) => sourceId) },
    ...{ decision, ...window },
  });
}
