// Tokens that are dead before their time: written and announced in the transaction that killed them, listed for gateways that
// connect, forgotten when no such token can be alive any more.
import type { IdentityConfig } from '../config.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { after, databaseNow, type Transaction } from '../transaction.ts';

type RevocationKind = 'token' | 'application' | 'user' | 'account';

type Revocation = {
  account_id: number;
  kind: RevocationKind;
  /** jti, client id, user id or account id. */
  subject: string;
  issued_before: Date;
  expires_at: Date;
  reason: string;
};

/** Kills tokens up to a time. Saying it again extends it. */
export async function revoke(tx: Transaction, revocation: Revocation, requestId?: string): Promise<void> {
  await tx.db.revocation.upsert({
    where: { kind_subject: { kind: revocation.kind, subject: revocation.subject } },
    create: revocation,
    update: { issued_before: revocation.issued_before, expires_at: revocation.expires_at, reason: revocation.reason },
  });
  await tx.announce(
    'identity.token.revoked',
    {
      ...revocation,
      issued_before: revocation.issued_before.toISOString(),
      expires_at: revocation.expires_at.toISOString(),
    },
    requestId,
  );
}

/** Kills the access tokens of these families that may still be alive: one statement, however many there are. */
export async function revokeTokensOfFamilies(
  tx: Transaction,
  familyIds: string[],
  reason: string,
  requestId?: string,
): Promise<void> {
  const { rows } = await tx.sql(
    `insert into revocation (account_id, kind, subject, issued_before, expires_at, reason)
     select family.account_id, 'token', token.access_token_id, token.access_expires_at, token.access_expires_at, $2
     from refresh_token token join token_family family on family.id = token.family_id
     where family.id = any($1::uuid[]) and token.access_expires_at > clock_timestamp()
     on conflict (kind, subject) do nothing
     returning account_id, kind, subject, issued_before, expires_at, reason`,
    [familyIds, reason],
  );
  await tx.announceAll('identity.token.revoked', rows, requestId);
}

/**
 * Says what an application's tokens may do from here on, whatever they were issued with. The caller holds the application's row,
 * so words about it come one after the other; `issued_before` tells which is the last, whatever the clock does.
 */
export async function limitScopes(
  tx: Transaction,
  config: IdentityConfig,
  application: { account_id: number; client_id: string; scopes: string },
  requestId?: string,
): Promise<void> {
  const { account_id, client_id, scopes } = application;
  const { rows } = await tx.sql(
    `insert into revocation (account_id, kind, subject, scope, issued_before, expires_at, reason)
     select $1::int, 'application_scope', $2, $3, now, now + make_interval(secs => $4::int), 'scopes_changed'
     from clock_timestamp() as now
     on conflict (kind, subject) do update set scope = excluded.scope, expires_at = excluded.expires_at,
       issued_before = greatest(excluded.issued_before, revocation.issued_before + interval '1 millisecond')
     returning account_id, kind, subject, scope, issued_before, expires_at, reason`,
    [account_id, client_id, scopes, config.accessTokenSeconds + marginSeconds],
  );
  await tx.announceAll('identity.token.revoked', rows, requestId);
}

// A token may be on its way while its subject is being deleted; ids are never used again, so tokens of the near future die too.
const marginSeconds = 600;

/** Kills every token of something that is gone for good. */
export async function revokeSubject(
  tx: Transaction,
  config: IdentityConfig,
  subject: Pick<Revocation, 'account_id' | 'kind' | 'subject' | 'reason'>,
  requestId?: string,
): Promise<void> {
  const end = after(await databaseNow(tx.db), config.accessTokenSeconds + marginSeconds);
  await revoke(tx, { ...subject, issued_before: end, expires_at: end }, requestId);
}

// Less than a megabyte: a message holds sixteen, and a busy database reads it within the time of a call.
const pageSizeAtMost = 5_000;

/**
 * The revocations that a token could still meet, of all accounts, a page of them; all at once without a size. They stand by their
 * ids, which never change, so rows that come and go between two pages move no other one.
 */
export async function listRevocations(
  prisma: PrismaClient,
  { page_size, after: lastId }: { page_size: number; after: number },
) {
  const now = await databaseNow(prisma);
  const size = page_size > 0 ? Math.min(page_size, pageSizeAtMost) : undefined;
  const rows = await prisma.revocation.findMany({
    where: { expires_at: { gt: now }, id: { gt: lastId } },
    orderBy: { id: 'asc' },
    ...(size && { take: size + 1 }), // one more tells whether there is another page
  });
  const page = rows.slice(0, size);
  const more_after = page.length < rows.length ? Number(page.at(-1)?.id) : 0;
  return { revocations: page.map(shown), more_after };
}

const shown = (row: Omit<Revocation, 'kind'> & { kind: string; scope: string | null }) => ({
  kind: row.kind,
  subject: row.subject,
  issued_before: row.issued_before.toISOString(),
  expires_at: row.expires_at.toISOString(),
  reason: row.reason,
  scope: row.scope ?? '',
});

/** True when a token with these facts has been killed. */
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
