// Refresh tokens that administrators issue to service users: each is bound to one confidential
// application, and its text is shown once. Its id is that of the first token of its family, which
// stays the same while programs exchange tokens for new ones.

import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { lockApplication } from '../applications/applications.ts';
import { recordAct } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { findKeptAnswer, transactOnce } from '../idempotency.ts';
import { createServiceFamily, endFamilies } from '../oauth/token-families.ts';
import { requireAdministrator } from '../permissions/effective-permissions.ts';
import { grantScopes } from '../tokens/scopes.ts';
import { addSeconds, type Database, databaseNow, type Transaction, transact } from '../transaction.ts';
import { lockUser } from './users.ts';

const maxTokens = 2;

export const refreshTokenFields = {
  id: 'integer',
  created_at: 'time',
  expires_at: 'time',
} as const satisfies Fields;

/** The valid refresh tokens of a service user, without their text. A person has none here. */
export async function listRefreshTokens(ctx: IdentityContext, call: CallContext, userId: number, list: ListQuery) {
  await requireUser(ctx, call, userId);
  const now = await databaseNow(ctx.prisma);
  const where = { ...issuedTo(call, userId, now), ...prismaWhere(list.conditions) };
  const [data, count] = await Promise.all([
    findIssued(ctx.prisma, where, { orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.refresh_token.count({ where }),
  ]);
  return page(data, list, count);
}

async function requireUser(ctx: IdentityContext, call: CallContext, id: number): Promise<void> {
  const where = { id, account_id: call.accountId };
  if (!(await ctx.prisma.user.findFirst({ where, select: { id: true } }))) throw notFound('User');
  await requireAdministrator(ctx, call);
}

const issuedTo = (call: CallContext, user_id: number, now: Date) =>
  ({
    parent_id: null,
    family: { account_id: call.accountId, user_id, revoked_at: null, ends_at: { gt: now } },
  }) satisfies Prisma.refresh_tokenWhereInput;

type Order = Pick<Prisma.refresh_tokenFindManyArgs, 'orderBy' | 'skip' | 'take'>;

async function findIssued(db: Database, where: Prisma.refresh_tokenWhereInput, order: Order) {
  const tokens = await db.refresh_token.findMany({
    where,
    ...order,
    select: { id: true, created_at: true, family: { select: familyColumns } },
  });
  // A concurrently revoked one may be missing despite the type.
  const families = tokens.flatMap(({ family }) => family?.id ?? []);
  const uses = await db.refresh_token.groupBy({
    by: ['family_id'],
    where: { family_id: { in: families }, parent_id: { not: null } },
    _max: { created_at: true },
  });
  const lastUse = new Map(uses.map(({ family_id, _max }) => [family_id, _max.created_at]));
  return tokens.flatMap(({ family, ...token }) =>
    family ? [{ ...present(token, family), last_used_at: lastUse.get(family.id) ?? null }] : [],
  );
}

const familyColumns = { id: true, application_id: true, scope: true, ends_at: true } as const;

type Grant = { application_id: number; scope: string; ends_at: Date | null };

const present = (token: { id: bigint; created_at: Date }, { application_id, scope, ends_at }: Grant) => ({
  id: Number(token.id),
  oauth_application_id: application_id,
  scopes: scope,
  created_at: token.created_at,
  expires_at: ends_at as Date,
});

type NewToken = {
  oauth_application_id: number;
  scopes?: string;
  expires_at?: string;
  keep_previous?: boolean;
};

/**
 * Issues a refresh token to a service user. It revokes the earlier ones with their access tokens,
 * unless `keep_previous` is set.
 */
export async function issueRefreshToken(ctx: IdentityContext, call: CallContext, userId: number, read: () => NewToken) {
  await requireUser(ctx, call, userId);
  const { oauth_application_id, scopes, expires_at, keep_previous = false } = read();
  const answer = await findKeptAnswer(ctx, call);
  if (answer) return answer;
  if (call.userId === userId)
    throw validationFailed({ code: 'not_allowed', message: "You can't issue a refresh token for yourself." });
  return transactOnce(ctx, call, async (tx) => {
    // Locks the user's row, so a suspension runs before or after the whole issue.
    const user = await lockUser(tx, call.accountId, userId);
    if (user.user_type !== 'service')
      throw validationFailed({
        code: 'not_allowed',
        message: 'Only a service user has refresh tokens here; a person gets one by logging in.',
      });
    if (user.status !== 'active')
      throw new ServiceError('wrong_state', {
        code: 'wrong_state',
        message: `The user is ${user.status}, not active.`,
      });
    const application = await lockApplication(tx, call, oauth_application_id);
    const now = await databaseNow(tx);
    const ends_at = chooseEnd(ctx, now, expires_at);
    const scope = chooseScope(application, scopes);
    await makeRoom(ctx, tx, call, userId, { now, keep_previous });
    const client = { id: application.id, account_id: call.accountId };
    const { refreshToken, ...issued } = await createServiceFamily(tx, { client, user_id: userId, scope, ends_at });
    const shown = present(issued, { application_id: application.id, scope, ends_at });
    await recordAct(tx, call, { ...act(userId, 'issued'), after: shown });
    return { ...shown, last_used_at: null, refresh_token: refreshToken };
  });
}

function chooseEnd({ config }: IdentityContext, now: Date, wanted: string | undefined): Date {
  const latest = addSeconds(now, config.serviceTokenSeconds);
  if (wanted === undefined) return latest;
  const end = new Date(wanted);
  if (end <= now)
    throw validationFailed({ code: 'out_of_range', message: 'Expires at must be in the future', field: 'expires_at' });
  if (end > latest)
    throw validationFailed({
      code: 'out_of_range',
      message: `Expires at must be at most ${latest.toISOString()}`,
      field: 'expires_at',
    });
  return end;
}

function chooseScope(application: { confidential: boolean; scopes: string }, wanted: string | undefined): string {
  if (!application.confidential)
    throw validationFailed({
      code: 'incompatible',
      message: 'The application must be confidential: the refresh token works only with its secret.',
      field: 'oauth_application_id',
    });
  const scope = grantScopes(application.scopes, wanted);
  if (scope === undefined)
    throw validationFailed({
      code: 'not_in_list',
      message: `Scopes must be among those of the application (${application.scopes})`,
      field: 'scopes',
    });
  return scope;
}

async function makeRoom(
  ctx: IdentityContext,
  tx: Transaction,
  call: CallContext,
  userId: number,
  { now, keep_previous }: { now: Date; keep_previous: boolean },
): Promise<void> {
  const earlier = await tx.refresh_token.findMany({ where: issuedTo(call, userId, now), select: { id: true } });
  if (!keep_previous) for (const { id } of earlier) await revokeIssued(ctx, tx, call, userId, id);
  else if (earlier.length >= maxTokens)
    throw validationFailed({
      code: 'limit_reached',
      message: `A service user has at most ${maxTokens} refresh tokens; revoke one first.`,
      params: { maximum: maxTokens },
    });
}

/** Revokes a refresh token of a service user with all that was exchanged for it, at once. */
export async function revokeRefreshToken(
  ctx: IdentityContext,
  call: CallContext,
  userId: number,
  id: number,
): Promise<void> {
  await requireUser(ctx, call, userId);
  await transact(ctx, async (tx) => {
    await lockUser(tx, call.accountId, userId);
    await revokeIssued(ctx, tx, call, userId, BigInt(id));
  });
}

async function revokeIssued(
  ctx: IdentityContext,
  tx: Transaction,
  call: CallContext,
  userId: number,
  id: bigint,
): Promise<void> {
  const where = { id, ...issuedTo(call, userId, await databaseNow(tx)) };
  const token = await tx.refresh_token.findFirst({
    where,
    select: { id: true, created_at: true, family: { select: familyColumns } },
  });
  if (!token?.family) throw notFound('Refresh token');
  await endFamilies(ctx, tx, { id: token.family.id }, 'revoked', call.requestId);
  const before = present(token, token.family);
  await recordAct(tx, call, { ...act(userId, 'revoked'), before });
}

const act = (userId: number, change: 'issued' | 'revoked') => ({
  action: `user.refresh_token_${change}`,
  resource_type: 'user',
  resource_id: userId,
});
