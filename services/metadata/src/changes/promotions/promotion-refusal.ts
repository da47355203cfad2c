// What a refused `promote` shows: the promotion as it is now, so that whoever was refused can look at it and promote just that.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { z } from 'zod';
import type { MetadataContext } from '../../context.ts';
import { conflictSchema, promotionDiffSchema } from './comparison/comparison-schema.ts';
import type { Promotion } from './promotion-schema.ts';
import { showPromotion } from './promotions.ts';

const present = { description: 'As the promotion shows it now; left out when it can’t be promoted any more.' };

/** The members of a refusal besides the problems. */
export const refusalShape = {
  diffs: z.array(promotionDiffSchema).optional().meta(present),
  conflicts: z.array(conflictSchema).optional().meta(present),
  revision: z
    .string()
    .optional()
    .meta({ description: 'Names what `diffs` and `conflicts` were made of: send it to promote just that.' }),
};

/** Does `promote`; its refusal (422) is thrown with what the promotion would change now, if the caller sees that. */
export async function refusingWithDiffs(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  promote: () => Promise<Promotion>,
): Promise<Promotion> {
  try {
    return await promote();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 422) throw error;
    const { kind, errors, label, headers, cause } = error;
    throw new ServiceError(kind, errors, { label, headers, cause, facts: await findShown(ctx, call, id) });
  }
}

// A table may have moved meanwhile to where the caller sees nothing: then the problems are all there is to tell.
async function findShown(ctx: MetadataContext, call: CallContext, id: number): Promise<Record<string, unknown>> {
  try {
    const { diffs, conflicts, revision } = await showPromotion(ctx, call, id);
    return revision === null ? {} : { diffs, conflicts, revision };
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return {};
    throw error;
  }
}
