// Who sits at the browser. A visitor has a random id in a cookie; logging in gives a new one, of which the database keeps the
// digest.
import { type AuditEntry, auditEntry } from '@almanac/service-kit/messaging/audit';
import type { Request, Response } from 'express';
import { recordEntries, recordEntry } from '../audit/audit-log.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { digestOf, newIdentifier, newSecret } from '../security/digest.ts';
import { after, type Database, databaseNow, transact } from '../transaction.ts';
import { clearCookie, readCookie, setCookie } from './cookies.ts';

export type SessionUser = { id: number; account_id: number; email: string };

const deviceSeconds = 180 * 86_400;

/** The visitor's id; undefined when the browser has none that we could have made. */
export function findSessionId(ctx: IdentityContext, req: Request): string | undefined {
  const id = readCookie(ctx, req, 'session');
  return id !== undefined && /^[A-Za-z0-9_-]{43}$/.test(id) ? id : undefined;
}

/** The visitor's id, made and sent when there is none. */
export function ensureSessionId(ctx: IdentityContext, req: Request, res: Response): string {
  const present = findSessionId(ctx, req);
  if (present !== undefined) return present;
  const id = newSecret();
  setCookie(ctx, res, 'session', id, ctx.config.sessionSeconds);
  return id;
}

/** Who is logged in under this id; nobody who is deleted, disabled or whose session is over. */
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

/** Somebody whose password was right, as it was when it was checked, and what the audit log keeps of it: for others too (`notes`). */
export type LoggedIn = { person: SessionUser; password_hash: string | null; act: AuditEntry; notes: AuditEntry[] };

/**
 * Logs a person in under a new id; the id from before is worth nothing. False when the password was changed since it was checked:
 * whoever changes it ends all sessions, and this one must not come after.
 */
export async function startSession(
  ctx: IdentityContext,
  req: Request,
  res: Response,
  { person, password_hash, act, notes }: LoggedIn,
): Promise<boolean> {
  const id = newSecret();
  const before = findSessionId(ctx, req);
  const isBegun = await transact(ctx.prisma, async ({ db }) => {
    const [same] = await db.$queryRaw<{ id: number }[]>`
      select id from "user" where id = ${person.id} and status = 'active' and password_hash = ${password_hash} for share`;
    // In one statement with the act: the time doesn't tell whether there are any.
    await recordEntries(db, same ? [act, ...notes] : notes);
    if (!same) return false;
    if (before !== undefined) await db.session.deleteMany({ where: { digest: digestOf(before) } });
    const expires_at = after(await databaseNow(db), ctx.config.sessionSeconds);
    await db.session.create({
      data: { digest: digestOf(id), account_id: person.account_id, user_id: person.id, expires_at },
    });
    return true;
  });
  if (isBegun) setCookie(ctx, res, 'session', id, ctx.config.sessionSeconds);
  return isBegun;
}

/** Holds a session's row until the end of the transaction. False: it has ended. Whoever ends it waits, and finds what was done. */
export async function lockSession(db: Database, sessionId: string): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    select from session where digest = ${digestOf(sessionId)} and expires_at > clock_timestamp() for share`;
  return rows.length > 0;
}

/** Logs out whoever is logged in: the session is gone, and so is its cookie. */
export async function endSession(ctx: IdentityContext, req: Request, res: Response, origin: Origin): Promise<void> {
  const id = findSessionId(ctx, req);
  clearCookie(ctx, res, 'session');
  if (id === undefined) return;
  await transact(ctx.prisma, async ({ db }) => {
    const [session] = await db.$queryRaw<{ account_id: number; user_id: number }[]>`
      delete from session where digest = ${digestOf(id)} returning account_id, user_id`;
    if (!session) return;
    const actor = { accountId: session.account_id, userId: session.user_id, ...origin };
    await recordEntry(db, auditEntry(actor, { action: 'logout' }));
  });
}

/** Marks a browser as one in which this person has logged in before. */
export function setDeviceCookie(ctx: IdentityContext, res: Response, userId: number): void {
  const device = newIdentifier();
  const until = String(Math.floor(Date.now() / 1000) + deviceSeconds);
  const signature = ctx.pageSigner.sign('device', [String(userId), device, until]);
  setCookie(ctx, res, 'device', `${device}.${until}.${signature}`, deviceSeconds);
}

/** The id of a device in which this person has logged in before. */
export function findKnownDevice(ctx: IdentityContext, req: Request, userId: number): string | undefined {
  const [device, until, signature] = (readCookie(ctx, req, 'device') ?? '').split('.');
  if (!device || !until || !signature || !(Number(until) > Date.now() / 1000)) return undefined;
  return ctx.pageSigner.verify('device', [String(userId), device, until], signature) ? device : undefined;
}
