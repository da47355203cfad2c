// OAuth applications of an account, as its administrators manage them. clients.ts has the view of
// the OAuth endpoints.

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
import { type AuditAct, auditEntry, createdAct, deletedAct, updatedAct } from '@almanac/service-kit/messaging/audit';
import { recordAct, recordEntry } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { transactOnce } from '../idempotency.ts';
import { requireAdministrator } from '../permissions/effective-permissions.ts';
import { newIdentifier } from '../security/digest.ts';
import { limitScopes, revokeSubject } from '../tokens/revocations.ts';
import { announce, type Transaction, transact } from '../transaction.ts';
import { insertSecret } from './client-secrets.ts';

const resource = 'oauth_application';

export const applicationFields = {
  id: 'integer',
  name: 'text',
  client_id: 'text',
  redirect_uri: 'text',
  confidential: 'boolean',
  scopes: 'text',
  created_at: 'time',
  updated_at: 'time',
} as const satisfies Fields;

const columns = {
  id: true,
  name: true,
  client_id: true,
  redirect_uri: true,
  confidential: true,
  scopes: true,
  created_at: true,
  updated_at: true,
} as const;

/** Applications of the account, for administrators. */
export async function listApplications(ctx: IdentityContext, call: CallContext, list: ListQuery) {
  await requireAdministrator(ctx, call);
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions) };
  const [data, count] = await Promise.all([
    ctx.prisma.oauth_application.findMany({ where, select: columns, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.oauth_application.count({ where }),
  ]);
  return page(data, list, count);
}

/** One application; another account's is not found. */
export async function getApplication(ctx: IdentityContext, call: CallContext, id: number) {
  const where = { id, account_id: call.accountId };
  const application = await ctx.prisma.oauth_application.findFirst({ where, select: columns });
  if (!application) throw notFound('OAuth application');
  await requireAdministrator(ctx, call);
  return application;
}

export type NewApplication = { name: string; redirect_uri: string; confidential: boolean; scopes: string };

type Actor = Parameters<typeof auditEntry>[0];

/**
 * Creates an application in the caller's transaction; a confidential one is returned with its
 * secret.
 */
export async function insertApplication(tx: Transaction, actor: Actor, attributes: NewApplication) {
  const application = await tx.oauth_application.create({
    data: { ...attributes, account_id: actor.accountId, client_id: newIdentifier() },
    select: columns,
  });
  await recordEntry(tx, auditEntry(actor, createdAct(resource, application)));
  const client_secret = attributes.confidential ? (await insertSecret(tx, application.id)).secret : null;
  return { ...application, client_secret };
}

/** Creates an application, for administrators. */
export async function createApplication(
  ctx: IdentityContext,
  call: CallContext,
  read: () => Pick<NewApplication, 'name'> & Partial<NewApplication>,
) {
  await requireAdministrator(ctx, call);
  const { name, redirect_uri = '', confidential = true, scopes = 'api:read' } = read();
  return transactOnce(ctx, call, (tx) => insertApplication(tx, call, { name, redirect_uri, confidential, scopes }));
}

/**
 * Changes an application. Narrowed scopes limit its existing tokens at once. An application that
 * becomes public loses its secrets.
 */
export async function updateApplication(
  ctx: IdentityContext,
  call: CallContext,
  id: number,
  read: () => Partial<NewApplication>,
) {
  await getApplication(ctx, call, id);
  const attributes = read();
  return transact(ctx, async (tx) => {
    const before = await lockApplication(tx, call, id);
    const application = await tx.oauth_application.update({ where: { id }, data: attributes, select: columns });
    if (application.scopes !== before.scopes)
      await limitScopes(tx, ctx.config, { ...application, account_id: call.accountId }, call.requestId);
    if (!application.confidential) await tx.oauth_secret.deleteMany({ where: { application_id: id } });
    await announceApplicationChanged(tx, call, application.client_id);
    await recordAct(tx, call, updatedAct(resource, before, application));
    return application;
  });
}

/** Deletes an application and revokes all its tokens, at once and in every service. */
export async function deleteApplication(ctx: IdentityContext, call: CallContext, id: number): Promise<void> {
  await getApplication(ctx, call, id);
  await transact(ctx, async (tx) => {
    const before = await lockApplication(tx, call, id);
    await tx.oauth_application.delete({ where: { id } });
    const subject = { kind: 'application', subject: before.client_id, reason: 'application_deleted' } as const;
    await revokeSubject(tx, ctx.config, { account_id: call.accountId, ...subject }, call.requestId);
    await announceApplicationChanged(tx, call, before.client_id);
    await recordAct(tx, call, deletedAct(resource, before));
  });
}

/** Replaces all secrets by a new one; the old ones stop working at once. */
export async function regenerateSecret(ctx: IdentityContext, call: CallContext, id: number) {
  await getApplication(ctx, call, id);
  return transactOnce(ctx, call, async (tx) => {
    requireConfidential(await lockApplication(tx, call, id));
    const data = { updated_at: new Date() };
    const application = await tx.oauth_application.update({ where: { id }, data, select: columns });
    await tx.oauth_secret.deleteMany({ where: { application_id: id } });
    const { secret, id: secret_id, hint } = await insertSecret(tx, id);
    await announceApplicationChanged(tx, call, application.client_id);
    await recordSecretChange(tx, call, id, 'regenerated', { after: { secret_id, hint } });
    return { ...application, client_secret: secret };
  });
}

/** Throws 422 for a public application: it has no secrets. */
export function requireConfidential({ confidential }: { confidential: boolean }): void {
  if (!confidential)
    throw validationFailed({ code: 'wrong_state', message: 'An application that is not confidential has no secret.' });
}

type LockedApplication = NewApplication & { id: number; client_id: string; created_at: Date; updated_at: Date };

/** Locks an application's row: changes of it and of its secrets run one after another. */
export async function lockApplication(tx: Transaction, call: CallContext, id: number): Promise<LockedApplication> {
  const [application] = await tx.$queryRaw<LockedApplication[]>`
    select id, name, client_id, redirect_uri, confidential, scopes, created_at, updated_at from oauth_application
    where id = ${id} and account_id = ${call.accountId} for no key update`;
  if (!application) throw notFound('OAuth application');
  return application;
}

/** Records a change of an application's secrets: which secret, never its text. */
export function recordSecretChange(
  tx: Transaction,
  call: CallContext,
  id: number,
  change: 'regenerated' | 'added' | 'deleted',
  states: Pick<AuditAct, 'before' | 'after'>,
): Promise<void> {
  const act = { action: `${resource}.secret_${change}`, resource_type: resource, resource_id: id, ...states };
  return recordAct(tx, call, act);
}

/** Invalidates other services' caches of an application. */
export function announceApplicationChanged(tx: Transaction, call: CallContext, clientId: string): Promise<void> {
  return announce(tx, call, 'application.changed', { client_id: clientId });
}
