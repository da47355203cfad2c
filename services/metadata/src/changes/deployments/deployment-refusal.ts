// What a `deploy` shows that is refused because of what its caller hasn't seen: just that, so that he can look at it and deploy it.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { z } from 'zod';
import type { MetadataContext } from '../../context.ts';
import { NotReviewed } from '../reviewed-revisions.ts';
import { tableDiffSchema } from '../table-diff.ts';
import type { Deployment } from './deployment-schema.ts';
import { showDeployment } from './deployments.ts';

/** The members of such a refusal besides the problems. */
export const refusalShape = {
  diffs: z.array(tableDiffSchema).optional().meta({
    description: 'As the deployment shows them now, when what would be deployed is not what was shown.',
  }),
  revision: z
    .string()
    .optional()
    .meta({ description: 'Names what `diffs` were made of: send it to deploy just that.' }),
};

/** Does `deploy`; a refusal for what wasn't seen is thrown with it. Others go without: making diffs counts rows, and may take long. */
export async function refusingWithDiffs(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  deploy: () => Promise<Deployment>,
): Promise<Deployment> {
  try {
    return await deploy();
  } catch (error) {
    if (!(error instanceof NotReviewed)) throw error;
    const { diffs, revision } = await showDeployment(ctx, call, id);
    throw new ServiceError(error.kind, error.errors, { facts: revision === null ? {} : { diffs, revision } });
  }
}
