// The secrets of an application, as its administrators manage them. Two secrets may be valid at the
// same time, so that one replaces the other without an interruption.

import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import type { IdentityContext } from '../context.ts';
import { transactOnce } from '../idempotency.ts';
import { transact } from '../transaction.ts';
import {
  announceApplicationChanged,
  getApplication,
  lockApplication,
  recordSecretChange,
  requireConfidential,
} from './applications.ts';
import { insertSecret, secretColumns } from './client-secrets.ts';

const maxSecrets = 2;

export const secretFields = {
  id: 'integer',
  hint: 'text?',
  created_at: 'time',
  last_used_at: 'time?',
} as const satisfies Fields;

/** The secrets of an application, without their text. */
export async function listSecrets(ctx: IdentityContext, call: CallContext, applicationId: number, list: ListQuery) {
  await getApplication(ctx, call, applicationId);
  const where = { application_id: applicationId, ...prismaWhere(list.conditions) };
  const [data, count] = await Promise.all([
    ctx.prisma.oauth_secret.findMany({ where, select: secretColumns, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.oauth_secret.count({ where }),
  ]);
  return page(data, list, count);
}

/** Adds a second secret. */
export async function createSecret(ctx: IdentityContext, call: CallContext, applicationId: number) {
  await getApplication(ctx, call, applicationId);
  return transactOnce(ctx, call, async (tx) => {
    const application = await lockApplication(tx, call, applicationId);
    requireConfidential(application);
    const count = await tx.oauth_secret.count({ where: { application_id: applicationId } });
    if (count >= maxSecrets)
      throw validationFailed({
        code: 'limit_reached',
        message: `An application has at most ${maxSecrets} secrets; delete one first.`,
        params: { maximum: maxSecrets },
      });
    const { secret, ...visible } = await insertSecret(tx, applicationId);
    await announceApplicationChanged(tx, call, application.client_id);
    const after = { secret_id: visible.id, hint: visible.hint };
    await recordSecretChange(tx, call, applicationId, 'added', { after });
    return { ...visible, client_secret: secret };
  });
}

/** Deletes a secret, which stops working at once. A confidential application keeps at least one. */
export async function deleteSecret(
  ctx: IdentityContext,
  call: CallContext,
  applicationId: number,
  id: number,
): Promise<void> {
  await getApplication(ctx, call, applicationId);
  await transact(ctx, async (tx) => {
    const application = await lockApplication(tx, call, applicationId);
    const secrets = await tx.oauth_secret.findMany({
      where: { application_id: applicationId },
      select: { id: true, hint: true },
    });
    const secret = secrets.find((each) => each.id === id);
    if (!secret) throw notFound('OAuth secret');
    if (secrets.length === 1)
      throw validationFailed({
        code: 'not_allowed',
        message: "The last secret of a confidential application can't be deleted; regenerate it instead.",
      });
    await tx.oauth_secret.delete({ where: { id } });
    await announceApplicationChanged(tx, call, application.client_id);
    const before = { secret_id: id, hint: secret.hint };
    await recordSecretChange(tx, call, applicationId, 'deleted', { before });
  });
}
