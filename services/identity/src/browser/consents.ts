// What users have allowed applications: remembered until taken back, so that nobody is asked twice for the same.
import { auditEntry } from '@almanac/service-kit/messaging/audit';
import { recordEntry } from '../audit/audit-log.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { createCode, type NewCode } from '../oauth/authorization-code.ts';
import { revokeFamilies } from '../oauth/token-families.ts';
import { includesScopes, parseScopes, type Scope } from '../tokens/scopes.ts';
import { type Database, transact } from '../transaction.ts';
import { lockSession, type SessionUser } from './sessions.ts';

/** What a user has allowed an application so far. */
export async function findConsentedScopes(db: Database, user_id: number, application_id: number): Promise<Scope[]> {
  const where = { user_id_application_id: { user_id, application_id } };
  const consent = await db.consent.findUnique({ where, select: { scope: true } });
  return parseScopes(consent?.scope ?? '') ?? [];
}

/** A code without asking, for what the user has allowed before; undefined when that is less than what is asked for, or he has left. */
export function createConsentedCode(
  ctx: IdentityContext,
  sessionId: string,
  code: NewCode,
): Promise<string | undefined> {
  return transact(ctx.prisma, async ({ db, sql }) => {
    if (!(await lockSession(db, sessionId))) return undefined;
    // The row is held: whoever takes the consent back waits, and then finds the code too.
    const { rows } = await sql('select scope from consent where user_id = $1 and application_id = $2 for share', [
      code.user_id,
      code.client.id,
    ]);
    const held = parseScopes(String(rows[0]?.scope ?? '')) ?? [];
    const wanted = parseScopes(code.scope) ?? [];
    return includesScopes(held, wanted) ? createCode(db, code) : undefined;
  });
}

/**
 * The user says yes: what is asked for is remembered with all that was allowed before, and the client may have its code. Undefined
 * when his session has ended meanwhile.
 */
export function allow(
  ctx: IdentityContext,
  origin: Origin,
  sessionId: string,
  code: NewCode,
): Promise<string | undefined> {
  const { client, user_id, scope } = code;
  return transact(ctx.prisma, async ({ db, sql }) => {
    if (!(await lockSession(db, sessionId))) return undefined;
    // One statement joins old and new, so that two answers at the same moment lose nothing of each other.
    const { rows } = await sql(
      `insert into consent (account_id, user_id, application_id, scope) values ($1, $2, $3, $4)
       on conflict (user_id, application_id) do update set updated_at = now(), scope = (
         select string_agg(distinct word, ' ' order by word)
         from unnest(string_to_array(consent.scope || ' ' || excluded.scope, ' ')) as word)
       returning scope`,
      [client.account_id, user_id, client.id, scope],
    );
    const after = { scope: parseScopes(String(rows[0]?.scope))?.join(' ') };
    const actor = { accountId: client.account_id, userId: user_id, applicationId: client.id, ...origin };
    await recordEntry(db, auditEntry(actor, { action: 'consent.granted', ...on(client.id), after }));
    return createCode(db, code);
  });
}

const on = (applicationId: number) => ({ resource_type: 'oauth_application', resource_id: applicationId });

export type AllowedApplication = { id: number; name: string; scopes: Scope[]; since: Date; lastUsed: Date | undefined };

/** The applications that may act for a person: by consent, or by tokens they hold. By name. */
export async function listAllowedApplications(
  ctx: IdentityContext,
  person: SessionUser,
): Promise<AllowedApplication[]> {
  const rows = await ctx.prisma.$queryRaw<
    { id: number; name: string; scope: string; since: Date; last_used: Date | null }[]
  >`
    select application.id, application.name, concat_ws(' ', consent.scope, family.scope) as scope,
      least(consent.created_at, family.since) as since, family.last_used
    from oauth_application application
    left join consent on consent.application_id = application.id and consent.user_id = ${person.id}
    left join lateral (
      select string_agg(scope, ' ') filter (where is_alive) as scope, min(created_at) filter (where is_alive) as since,
        max((select max(created_at) from refresh_token where family_id = token_family.id)) as last_used
      from token_family, lateral (select revoked_at is null and expires_at > now() as is_alive) life
      where application_id = application.id and user_id = ${person.id}
    ) family on true
    where application.account_id = ${person.account_id} and (consent.id is not null or family.since is not null)
    order by lower(application.name), application.id`;
  return rows.map(({ scope, last_used, ...row }) => {
    const scopes = parseScopes(scope) ?? [];
    // `api` is all there is; the others say nothing beside it.
    return { ...row, scopes: scopes.includes('api') ? ['api'] : scopes, lastUsed: last_used ?? undefined };
  });
}

/** Takes back all that an application may do for a person; tokens it has are dead. Answers its name; undefined: it could do nothing. */
export function revokeConsent(
  ctx: IdentityContext,
  origin: Origin,
  person: SessionUser,
  applicationId: number,
): Promise<string | undefined> {
  const { id: user_id, account_id } = person;
  return transact(ctx.prisma, async (tx) => {
    const application = await tx.db.oauth_application.findFirst({
      where: { id: applicationId, account_id },
      select: { name: true },
    });
    if (!application) return undefined;
    const { rows } = await tx.sql('delete from consent where user_id = $1 and application_id = $2 returning scope', [
      user_id,
      applicationId,
    ]);
    const grant = { user_id, application_id: applicationId };
    const ended = await revokeFamilies(ctx, tx, grant, 'consent_revoked', origin.requestId);
    if (rows.length === 0 && ended === 0) return undefined;
    const before = { scope: rows[0]?.scope, grants: ended };
    const actor = { accountId: account_id, userId: user_id, applicationId, ...origin };
    await recordEntry(tx.db, auditEntry(actor, { action: 'consent.revoked', ...on(applicationId), before }));
    return application.name;
  });
}
