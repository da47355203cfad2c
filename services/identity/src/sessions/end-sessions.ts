// The end of browser sessions. Gateways cache a session for seconds, so its end is announced to
// them as the revocation of a token is.
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { announceAll, type Transaction } from '../transaction.ts';

/** The sessions of a user, one of them, or the one with this digest. */
export type SessionFilter = { account_id?: number; user_id: number; id?: number | undefined } | { digest: Uint8Array };

export type EndedSession = { account_id: number; user_id: number };

/** How long the end is kept for gateways: many times as long as they cache a session. */
const keptSeconds = 600;

/** Deletes the sessions, and announces their end. Returns those that there were. */
export async function endSessions(tx: Transaction, filter: SessionFilter, requestId?: string): Promise<EndedSession[]> {
  const { digest, account_id, user_id, id }: Partial<Record<string, unknown>> = filter;
  const { rows } = await prismaSql(tx)(
    `with ended as (
       delete from session
       where (digest = $1::bytea or user_id = $2::int)
         and ($3::int is null or account_id = $3) and ($4::int is null or id = $4)
       returning id, account_id, user_id
     ), revoked as (
       insert into revocation (account_id, kind, subject, issued_before, expires_at, reason)
       select account_id, 'token', 'session:' || id, now, now + make_interval(secs => $5::int), 'session_ended'
       from ended, clock_timestamp() as now
       on conflict (kind, subject) do nothing
       returning account_id, kind, subject, issued_before, expires_at, reason
     )
     select revoked.*, ended.user_id from ended join revoked on revoked.subject = 'session:' || ended.id`,
    [digest ?? null, user_id ?? null, account_id ?? null, id ?? null, keptSeconds],
  );
  const ended = rows.map(({ user_id: _user, ...revocation }) => revocation);
  if (ended.length > 0) await announceAll(tx, { requestId }, 'token.revoked', ended);
  return rows as EndedSession[];
}
