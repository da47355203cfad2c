// OAuth applications: who may ask for tokens. A secret is shown when it is made and never again.
import type { CallContext } from '@almanac/service-kit/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import { type Fields, type ListQuery, page, prismaOrderBy, prismaWhere, window } from '@almanac/service-kit/list-query';
import type { IdentityContext } from './context.ts';
import { type Database, type Transaction, transact } from './database.ts';
import { digestOf, newIdentifier, newSecret } from './digest.ts';
import { requireAdministrator } from './permissions.ts';
import { revokeForever } from './revocations.ts';

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

const shown = {
  id: true,
  name: true,
  client_id: true,
  redirect_uri: true,
  confidential: true,
  scopes: true,
  created_at: true,
  updated_at: true,
} as const;

export async function listApplications(ctx: IdentityContext, call: CallContext, list: ListQuery) {
  await requireAdministrator(ctx, call);
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions) };
  const [data, count] = await Promise.all([
    ctx.prisma.oauth_application.findMany({ where, select: shown, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.oauth_application.count({ where }),
  ]);
  return page(data, list, count);
}

/** One application; another account's is not found. */
export async function getApplication(ctx: IdentityContext, call: CallContext, id: number) {
  const where = { id, account_id: call.accountId };
  const application = await ctx.prisma.oauth_application.findFirst({ where, select: shown });
  if (!application) throw notFound('OAuth application');
  await requireAdministrator(ctx, call);
  return application;
}

export type NewApplication = { name: string; redirect_uri: string; confidential: boolean; scopes: string };

/** Makes an application, in the caller's transaction; a confidential one comes with its secret. */
export async function createApplication(tx: Transaction, accountId: number, attributes: NewApplication) {
  const application = await tx.db.oauth_application.create({
    data: { ...attributes, account_id: accountId, client_id: newIdentifier() },
    select: shown,
  });
  const client_secret = attributes.confidential ? await addSecret(tx.db, application.id) : null;
  return { ...application, client_secret };
}

/** Makes an application for its administrator. */
export async function addApplication(
  ctx: IdentityContext,
  call: CallContext,
  read: () => Pick<NewApplication, 'name'> & Partial<NewApplication>,
) {
  await requireAdministrator(ctx, call);
  const { name, redirect_uri = '', confidential = true, scopes = 'api:read' } = read();
  return transact(ctx.prisma, (tx) =>
    createApplication(tx, call.accountId, { name, redirect_uri, confidential, scopes }),
  );
}

/** Changes an application. One that stops being confidential loses its secret. */
export async function updateApplication(
  ctx: IdentityContext,
  call: CallContext,
  id: number,
  read: () => Partial<NewApplication>,
) {
  await getApplication(ctx, call, id);
  const attributes = read();
  return transact(ctx.prisma, async (tx) => {
    const [application] = await tx.db.oauth_application.updateManyAndReturn({
      where: { id, account_id: call.accountId },
      data: attributes,
      select: shown,
    });
    if (!application) throw notFound('OAuth application');
    if (!application.confidential) await tx.db.oauth_secret.deleteMany({ where: { application_id: id } });
    await announceChanged(tx, call, application.client_id);
    return application;
  });
}

/** Deletes an application; all its tokens, and those of its users, are dead everywhere at once. */
export async function deleteApplication(ctx: IdentityContext, call: CallContext, id: number): Promise<void> {
  const { client_id } = await getApplication(ctx, call, id);
  await transact(ctx.prisma, async (tx) => {
    const { count } = await tx.db.oauth_application.deleteMany({ where: { id, account_id: call.accountId } });
    if (count === 0) throw notFound('OAuth application');
    const subject = { kind: 'application', subject: client_id, reason: 'application_deleted' } as const;
    await revokeForever(tx, ctx.config, { account_id: call.accountId, ...subject }, call.requestId);
    await announceChanged(tx, call, client_id);
  });
}

/** Replaces the secret; the old one is worthless from here on. */
export async function regenerateSecret(ctx: IdentityContext, call: CallContext, id: number) {
  await getApplication(ctx, call, id);
  return transact(ctx.prisma, async (tx) => {
    const [application] = await tx.db.oauth_application.updateManyAndReturn({
      where: { id, account_id: call.accountId },
      data: { updated_at: new Date() },
      select: shown,
    });
    if (!application) throw notFound('OAuth application');
    if (!application.confidential) throw validationFailed('An application that is not confidential has no secret.');
    await tx.db.oauth_secret.deleteMany({ where: { application_id: id } });
    const client_secret = await addSecret(tx.db, id);
    await announceChanged(tx, call, application.client_id);
    return { ...application, client_secret };
  });
}

async function addSecret(db: Database, applicationId: number): Promise<string> {
  const secret = newSecret();
  await db.oauth_secret.create({ data: { application_id: applicationId, digest: digestOf(secret) } });
  return secret;
}

function announceChanged(tx: Transaction, call: CallContext, clientId: string): Promise<void> {
  const payload = { account_id: call.accountId, client_id: clientId };
  return tx.announce('identity.application.changed', payload, call.requestId);
}

/** An application as the OAuth endpoints know it. */
export type Client = {
  id: number;
  account_id: number;
  name: string;
  client_id: string;
  redirect_uri: string;
  confidential: boolean;
  scopes: string;
  secrets: { digest: Uint8Array }[];
};

/** The application with this client id, in whatever open account. */
export function findClient(db: Database, clientId: string): Promise<Client | null> {
  // Anything else was never handed out; PostgreSQL need not see it.
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(clientId)) return Promise.resolve(null);
  return db.oauth_application.findFirst({
    where: { client_id: clientId, account: { status: 'active' } },
    select: {
      id: true,
      account_id: true,
      name: true,
      client_id: true,
      redirect_uri: true,
      confidential: true,
      scopes: true,
      secrets: { select: { digest: true } },
    },
  });
}
