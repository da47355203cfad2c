// Consents: what users have allowed applications. A consent lasts until the user takes it back, so
// that the same is not asked twice.
import { auditEntry } from '@almanac/service-kit/messaging/audit';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { recordEntry } from '../audit/audit-log.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { createCode, type NewCode } from '../oauth/authorization-code.ts';
import { revokeFamilies } from '../oauth/token-families.ts';
import { includesScopes, parseScopes, type Scope } from '../tokens/scopes.ts';
import { type Database, transact } from '../transaction.ts';
import { lockSession, type SessionUser } from './sessions.ts';

/** The scopes that a user has allowed an application. */
export async function findConsentedScopes(db: Database, user_id: number, application_id: number): Promise<Scope[]> {
  const where = { user_id_application_id: { user_id, application_id } };
  const consent = await db.consent.findUnique({ where, select: { scope: true } });
  return parseScopes(consent?.scope ?? '') ?? [];
}

/**
 * Creates a code by an earlier consent; undefined when it includes less, or the session has ended.
 */
export function createConsentedCode(
  ctx: IdentityContext,
  sessionId: string,
  code: NewCode,
): Promise<string | undefined> {
  return transact(ctx, async (tx) => {
    if (!(await lockSession(tx, sessionId))) return undefined;
    // The lock makes a concurrent `revokeConsent` wait, so that it finds the code.
    const { rows } = await prismaSql(tx)(
      'select scope from consent where user_id = $1 and application_id = $2 for share',
      [code.user_id, code.client.id],
    );
    const held = parseScopes(String(rows[0]?.scope ?? '')) ?? [];
    const wanted = parseScopes(code.scope) ?? [];
    return includesScopes(held, wanted) ? createCode(tx, code) : undefined;
  });
}

/**
 * Adds the code's scopes to the user's consent and creates the code; undefined when the session has
 * ended in between.
 */
export function grantConsent(
  ctx: IdentityContext,
  origin: Origin,
  sessionId: string,
  code: NewCode,
): Promise<string | undefined> {
  const { client, user_id, scope } = code;
  return transact(ctx, async (tx) => {
    if (!(await lockSession(tx, sessionId))) return undefined;
    // One statement merges old and new scopes, so that concurrent consents lose nothing.
    const { rows } = await prismaSql(tx)(
      `insert into consent (account_id, user_id, application_id, scope) values ($1, $2, $3, $4)
       on conflict (user_id, application_id) do update set updated_at = now(), scope = (
         select string_agg(distinct word, ' ' order by word)
         from unnest(string_to_array(consent.scope || ' ' || excluded.scope, ' ')) as word)
       returning scope`,
      [client.account_id, user_id, client.id, scope],
    );
    const after = { scope: parseScopes(String(rows[0]?.scope))?.join(' ') };
    const actor = { accountId: client.account_id, userId: user_id, applicationId: client.id, ...origin };
    await recordEntry(tx, auditEntry(actor, { action: 'consent.granted', ...resource(client.id), after }));
    return createCode(tx, code);
  });
}

const resource = (applicationId: number) => ({ resource_type: 'oauth_application', resource_id: applicationId });

/** An application that may act for a user. */
export type AllowedApplication = { id: number; name: string; scopes: Scope[]; since: Date; lastUsed: Date | undefined };

/**
 * The applications that may act for a user, by consent or by a valid token family, sorted by name.
 */
export async function listAllowedApplications(ctx: IdentityContext, user: SessionUser): Promise<AllowedApplication[]> {
  const rows = await ctx.prisma.$queryRaw<
    { id: number; name: string; scope: string; since: Date; last_used: Date | null }[]
  >`
    select application.id, application.name, concat_ws(' ', consent.scope, family.scope) as scope,
      least(consent.created_at, family.since) as since, family.last_used
    from oauth_application application
    left join consent on consent.application_id = application.id and consent.user_id = ${user.id}
    left join lateral (
      select string_agg(scope, ' ') filter (where is_alive) as scope, min(created_at) filter (where is_alive) as since,
        max((select max(created_at) from refresh_token where family_id = token_family.id)) as last_used
      from token_family, lateral (select revoked_at is null and expires_at > now() as is_alive) life
      where application_id = application.id and user_id = ${user.id}
    ) family on true
    where application.account_id = ${user.account_id} and (consent.id is not null or family.since is not null)
    order by lower(application.name), application.id`;
  return rows.map(({ scope, last_used, ...row }) => {
    const scopes = parseScopes(scope) ?? [];
    // `api` includes the others.
    return { ...row, scopes: scopes.includes('api') ? ['api'] : scopes, lastUsed: last_used ?? undefined };
  });
}

/**
 * Revokes a user's consent for an application and all its tokens. Returns the application's name;
 * undefined when there was nothing to revoke.
 */
export function revokeConsent(
  ctx: IdentityContext,
  origin: Origin,
  user: SessionUser,
  applicationId: number,
): Promise<string | undefined> {
  const { id: user_id, account_id } = user;
  return transact(ctx, async (tx) => {
    const application = await tx.oauth_application.findFirst({
      where: { id: applicationId, account_id },
      select: { name: true },
    });
    if (!application) return undefined;
    const { rows } = await prismaSql(tx)(
      'delete from consent where user_id = $1 and application_id = $2 returning scope',
      [user_id, applicationId],
    );
    const grant = { user_id, application_id: applicationId };
    const ended = await revokeFamilies(ctx, tx, grant, 'consent_revoked', origin.requestId);
    if (rows.length === 0 && ended === 0) return undefined;
    const before = { scope: rows[0]?.scope, grants: ended };
    const actor = { accountId: account_id, userId: user_id, applicationId, ...origin };
    await recordEntry(tx, auditEntry(actor, { action: 'consent.revoked', ...resource(applicationId), before }));
    return application.name;
  });
}
