// The saved views that tables open with, for the lists of tables.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { allows } from '@almanac/service-kit/rights/rights';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import { placeOf } from '../rights/place.ts';
import { readOpeningViews } from './views.ts';

/** The member of an answer that `include=opening_view` asks for. */
export const openingViewShape = {
  opening_view_id: z.int().nullable().optional().meta({
    description:
      'With `include=opening_view`: the saved view that the table opens with for the caller, their own default or else everybody’s; null for all rows, and without the right to view them.',
  }),
};

/** Tables with the views that they open with. */
export async function withOpeningViews<T extends { id: number; domain_id: number; branch_id: number }>(
  ctx: MetadataContext,
  call: CallContext,
  tables: T[],
): Promise<(T & { opening_view_id: number | null })[]> {
  const held = call.userId === undefined ? undefined : await ctx.rights.get(call);
  const viewable = tables.filter((table) => !held || allows(held, 'view', placeOf(table)));
  const views = await readOpeningViews(
    ctx,
    call,
    viewable.map(({ id }) => id),
  );
  return tables.map((table) => ({ ...table, opening_view_id: views.get(table.id) ?? null }));
}
