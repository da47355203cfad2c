// Browser sessions. Every browser has a random session id in a cookie; logging in replaces it by
// one whose digest is stored.
import { readClientAddress } from '@almanac/service-kit/http/client-address';
import { type AuditEntry, auditEntry } from '@almanac/service-kit/messaging/audit';
import type { Request, Response } from 'express';
import { recordEntries, recordEntry } from '../audit/audit-log.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { digestOf, newIdentifier, newSecret } from '../security/digest.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import { addSeconds, type Database, databaseNow, transact } from '../transaction.ts';
import { clearCookie, readCookie, setCookie } from './cookies.ts';

/** The user who is logged in. */
export type SessionUser = { id: number; account_id: number; email: string };

const deviceSeconds = 180 * 86_400;
const maxUserAgent = 300;

/** The browser's session id; undefined when the cookie is missing or malformed. */
export function findSessionId(ctx: IdentityContext, req: Request): string | undefined {
  const id = readCookie(ctx, req, 'session');
  return id !== undefined && /^[A-Za-z0-9_-]{43}$/.test(id) ? id : undefined;
}

/** The browser's session id; created when there is none. */
export function ensureSessionId(ctx: IdentityContext, req: Request, res: Response): string {
  const present = findSessionId(ctx, req);
  if (present !== undefined) return present;
  const id = newSecret();
  setCookie(ctx, res, 'session', id, ctx.config.sessionSeconds);
  return id;
}

/**
 * The user logged in under this id; undefined when the session has ended or the user isn't active.
 */
export async function findSessionUser(
  ctx: IdentityContext,
  sessionId: string | undefined,
): Promise<SessionUser | undefined> {
  if (sessionId === undefined) return undefined;
  const now = await databaseNow(ctx.prisma);
  const session = await ctx.prisma.session.findFirst({
    where: {
      digest: digestOf(sessionId),
      expires_at: { gt: now },
      user: { status: 'active', account: { status: 'active' } },
    },
    select: { user: { select: { id: true, account_id: true, email: true } } },
  });
  return session?.user;
}

/**
 * A user whose password was right, with the hash it was checked against and the entries for the
 * audit log: `act` for the log-in, `others` for other users with the address.
 */
export type LoggedIn = { user: SessionUser; password_hash: string | null; act: AuditEntry; others: AuditEntry[] };

/**
 * Starts a session under a new id; the old id becomes invalid. False when the password was changed
 * since it was checked: the change has ended all sessions, so a later start must fail.
 */
export async function startSession(
  ctx: IdentityContext,
  req: Request,
  res: Response,
  { user, password_hash, act, others }: LoggedIn,
): Promise<boolean> {
  const id = newSecret();
  const before = findSessionId(ctx, req);
  const isStarted = await transact(ctx, async (tx) => {
    const [same] = await tx.$queryRaw<{ id: number }[]>`
      select id from "user" where id = ${user.id} and status = 'active' and password_hash = ${password_hash} for share`;
    // One statement for all entries, so the time doesn't reveal whether there are others.
    await recordEntries(tx, same ? [act, ...others] : others);
    if (!same) return false;
    if (before !== undefined) await endSessions(tx, { digest: digestOf(before) }, act.request_id);
    const expires_at = addSeconds(await databaseNow(tx), ctx.config.sessionSeconds);
    await tx.session.create({
      data: { digest: digestOf(id), account_id: user.account_id, user_id: user.id, expires_at, ...describe(req) },
    });
    return true;
  });
  // Its use renews the session, not the cookie.
  if (isStarted) setCookie(ctx, res, 'session', id, ctx.config.sessionMaxSeconds);
  return isStarted;
}

// What the user recognises the browser by.
const describe = (req: Request) => ({
  address: readClientAddress(req),
  user_agent:
    req
      .get('user-agent')
      ?.replace(/[^\x20-\x7e]/g, '')
      .slice(0, maxUserAgent) ?? null,
});

/**
 * Locks a session's row; false when the session has ended. A concurrent end of the session waits.
 */
export async function lockSession(db: Database, sessionId: string): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    select from session where digest = ${digestOf(sessionId)} and expires_at > clock_timestamp() for share`;
  return rows.length > 0;
}

/** Ends the browser's session and clears its cookie. */
export async function endSession(ctx: IdentityContext, req: Request, res: Response, origin: Origin): Promise<void> {
  const id = findSessionId(ctx, req);
  clearCookie(ctx, res, 'session');
  if (id === undefined) return;
  await transact(ctx, async (tx) => {
    const [session] = await endSessions(tx, { digest: digestOf(id) }, origin.requestId);
    if (!session) return;
    const actor = { accountId: session.account_id, userId: session.user_id, ...origin };
    await recordEntry(tx, auditEntry(actor, { action: 'logout' }));
  });
}

/** Marks the browser as a known device of this user. */
export function setDeviceCookie(ctx: IdentityContext, res: Response, userId: number): void {
  const device = newIdentifier();
  const expiresAt = String(Math.floor(Date.now() / 1000) + deviceSeconds);
  const signature = ctx.pageSigner.sign('device', [String(userId), device, expiresAt]);
  setCookie(ctx, res, 'device', `${device}.${expiresAt}.${signature}`, deviceSeconds);
}

/**
 * The id of the browser as a known device of this user; undefined when the user hasn't logged in
 * here.
 */
export function findKnownDevice(ctx: IdentityContext, req: Request, userId: number): string | undefined {
  const [device, expiresAt, signature] = (readCookie(ctx, req, 'device') ?? '').split('.');
  if (!device || !expiresAt || !signature || !(Number(expiresAt) > Date.now() / 1000)) return undefined;
  return ctx.pageSigner.verify('device', [String(userId), device, expiresAt], signature) ? device : undefined;
}
