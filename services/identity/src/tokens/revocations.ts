import { prismaSql } from '@almanac/service-kit/postgres/database';
// Revocations of tokens before their expiry. A revocation is stored and announced in the
// transaction of its cause, listed for gateways when they connect, and deleted when the tokens it
// names have expired.
import type { IdentityConfig } from '../config.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { addSeconds, announce, announceAll, databaseNow, type Transaction } from '../transaction.ts';

type RevocationKind = 'token' | 'application' | 'user' | 'account';

type Revocation = {
  account_id: number;
  kind: RevocationKind;
  /** The jti, client id, user id or account id. */
  subject: string;
  issued_before: Date;
  expires_at: Date;
  reason: string;
};

/** Revokes tokens issued before a time. Repeating it extends the revocation. */
export async function revoke(tx: Transaction, revocation: Revocation, requestId?: string): Promise<void> {
  await tx.revocation.upsert({
    where: { kind_subject: { kind: revocation.kind, subject: revocation.subject } },
    create: revocation,
    update: { issued_before: revocation.issued_before, expires_at: revocation.expires_at, reason: revocation.reason },
  });
  await announce(tx, { requestId }, 'token.revoked', {
    ...revocation,
    issued_before: revocation.issued_before.toISOString(),
    expires_at: revocation.expires_at.toISOString(),
  });
}

/** Revokes the access tokens of these families that have not expired, in one statement. */
export async function revokeTokensOfFamilies(
  tx: Transaction,
  familyIds: string[],
  reason: string,
  requestId?: string,
): Promise<void> {
  const { rows } = await prismaSql(tx)(
    `insert into revocation (account_id, kind, subject, issued_before, expires_at, reason)
     select family.account_id, 'token', token.access_token_id, token.access_expires_at, token.access_expires_at, $2
     from refresh_token token join token_family family on family.id = token.family_id
     where family.id = any($1::uuid[]) and token.access_expires_at > clock_timestamp()
     on conflict (kind, subject) do nothing
     returning account_id, kind, subject, issued_before, expires_at, reason`,
    [familyIds, reason],
  );
  await announceAll(tx, { requestId }, 'token.revoked', rows);
}

/**
 * Limits the scopes of all tokens of an application, whatever they were issued with. The caller has
 * locked the application's row, so limits are set one after another; `issued_before` always rises,
 * so that the last one is known even when the clock was set back.
 */
export async function limitScopes(
  tx: Transaction,
  config: IdentityConfig,
  application: { account_id: number; client_id: string; scopes: string },
  requestId?: string,
): Promise<void> {
  const { account_id, client_id, scopes } = application;
  const { rows } = await prismaSql(tx)(
    `insert into revocation (account_id, kind, subject, scope, issued_before, expires_at, reason)
     select $1::int, 'application_scope', $2, $3, now, now + make_interval(secs => $4::int), 'scopes_changed'
     from clock_timestamp() as now
     on conflict (kind, subject) do update set scope = excluded.scope, expires_at = excluded.expires_at,
       issued_before = greatest(excluded.issued_before, revocation.issued_before + interval '1 millisecond')
     returning account_id, kind, subject, scope, issued_before, expires_at, reason`,
    [account_id, client_id, scopes, config.accessTokenSeconds + marginSeconds],
  );
  await announceAll(tx, { requestId }, 'token.revoked', rows);
}

// A token may be issued while its subject is deleted, so tokens of the near future are revoked,
// too; ids are never reused.
const marginSeconds = 600;

/** Revokes every token of a deleted user or application. */
export async function revokeSubject(
  tx: Transaction,
  config: IdentityConfig,
  subject: Pick<Revocation, 'account_id' | 'kind' | 'subject' | 'reason'>,
  requestId?: string,
): Promise<void> {
  const end = addSeconds(await databaseNow(tx), config.accessTokenSeconds + marginSeconds);
  await revoke(tx, { ...subject, issued_before: end, expires_at: end }, requestId);
}

// Requests of tokens that began before the account was closed have ended by then.
const closingSeconds = 60;

/**
 * Revokes every token of an account that is being closed. It may be opened again, so only tokens of
 * the next minute are revoked beside those that exist.
 */
export async function revokeAccount(
  tx: Transaction,
  config: IdentityConfig,
  accountId: number,
  requestId: string,
): Promise<void> {
  const issued_before = addSeconds(await databaseNow(tx), closingSeconds);
  const expires_at = addSeconds(issued_before, config.accessTokenSeconds);
  const subject = { account_id: accountId, kind: 'account', subject: String(accountId) } as const;
  await revoke(tx, { ...subject, issued_before, expires_at, reason: 'account_closed' }, requestId);
}

// Less than 1 MB, of the 16 MB that a gRPC message may have.
const maxPageSize = 5_000;

/**
 * Lists the current revocations of all accounts, by pages; without a size, all at once. Pages
 * follow ids, so rows that are added or deleted between two pages don't shift the others.
 */
export async function listRevocations(
  prisma: PrismaClient,
  { page_size, after: lastId }: { page_size: number; after: number },
) {
  const now = await databaseNow(prisma);
  const size = page_size > 0 ? Math.min(page_size, maxPageSize) : undefined;
  const rows = await prisma.revocation.findMany({
    where: { expires_at: { gt: now }, id: { gt: lastId } },
    orderBy: { id: 'asc' },
    ...(size && { take: size + 1 }), // one more shows whether there is another page
  });
  const page = rows.slice(0, size);
  const more_after = page.length < rows.length ? Number(page.at(-1)?.id) : 0;
  return { revocations: page.map(toMessage), more_after };
}

const toMessage = (row: Omit<Revocation, 'kind'> & { kind: string; scope: string | null }) => ({
  kind: row.kind,
  subject: row.subject,
  issued_before: row.issued_before.toISOString(),
  expires_at: row.expires_at.toISOString(),
  reason: row.reason,
  scope: row.scope ?? '',
});

/** True when a token with these claims is revoked. */
export async function isRevoked(
  prisma: PrismaClient,
  token: { jti: string; client_id: string; user_id?: number; account_id: number; issued_at: Date },
): Promise<boolean> {
  const subjects = [
    { kind: 'token', subject: token.jti },
    { kind: 'application', subject: token.client_id },
    { kind: 'account', subject: String(token.account_id) },
    ...(token.user_id === undefined ? [] : [{ kind: 'user', subject: String(token.user_id) }]),
  ];
  const found = await prisma.revocation.findFirst({
    where: { OR: subjects, issued_before: { gt: token.issued_at } },
    select: { id: true },
  });
  return found !== null;
}
