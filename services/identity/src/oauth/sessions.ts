// Who sits at the browser. A visitor has a random id in a cookie; logging in gives a new one, of which the database keeps the
// digest. CSRF tokens are signed for one id, one form and one request.
import type { Request, Response } from 'express';
import type { IdentityContext } from '../context.ts';
import { after, databaseNow, transact } from '../database.ts';
import { digestOf, newIdentifier, newSecret } from '../digest.ts';

export type Person = { id: number; account_id: number; email: string };

const deviceSeconds = 180 * 86_400;

const isTls = (ctx: IdentityContext) => ctx.config.common.publicUrl.startsWith('https:');
const cookieName = (ctx: IdentityContext, name: string) => `${isTls(ctx) ? '__Host-' : ''}almanac_${name}`;

function readCookie(ctx: IdentityContext, req: Request, name: string): string | undefined {
  const wanted = cookieName(ctx, name);
  for (const pair of String(req.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === wanted) return pair.slice(at + 1).trim();
  }
  return undefined;
}

function setCookie(ctx: IdentityContext, res: Response, name: string, value: string, maxAgeSeconds: number): void {
  res.cookie(cookieName(ctx, name), value, {
    httpOnly: true,
    sameSite: 'lax',
    secure: isTls(ctx),
    path: '/',
    maxAge: maxAgeSeconds * 1000,
  });
}

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
export async function findPerson(ctx: IdentityContext, sessionId: string | undefined): Promise<Person | undefined> {
  if (sessionId === undefined) return undefined;
  const now = await databaseNow(ctx.prisma);
  const session = await ctx.prisma.session.findFirst({
    where: { digest: digestOf(sessionId), expires_at: { gt: now }, user: { status: 'active' } },
    select: { user: { select: { id: true, account_id: true, email: true } } },
  });
  return session?.user;
}

/** Logs a person in under a new id; the id from before is worth nothing. */
export async function beginSession(ctx: IdentityContext, req: Request, res: Response, person: Person): Promise<void> {
  const id = newSecret();
  const before = findSessionId(ctx, req);
  await transact(ctx.prisma, async ({ db }) => {
    if (before !== undefined) await db.session.deleteMany({ where: { digest: digestOf(before) } });
    const expires_at = after(await databaseNow(db), ctx.config.sessionSeconds);
    await db.session.create({
      data: { digest: digestOf(id), account_id: person.account_id, user_id: person.id, expires_at },
    });
  });
  setCookie(ctx, res, 'session', id, ctx.config.sessionSeconds);
}

/** Logs out: the session is gone, and so is its cookie. */
export async function endSession(ctx: IdentityContext, req: Request, res: Response): Promise<void> {
  const id = findSessionId(ctx, req);
  if (id !== undefined) await ctx.prisma.session.deleteMany({ where: { digest: digestOf(id) } });
  setCookie(ctx, res, 'session', '', 0);
}

/** A token that only this visitor's form for this very request can carry. */
export function csrfToken(ctx: IdentityContext, sessionId: string, form: string, request: string): string {
  return ctx.pageSigner.sign(`csrf ${form}`, [sessionId, request]);
}

export function isCsrfToken(
  ctx: IdentityContext,
  sessionId: string | undefined,
  form: string,
  request: string,
  token: string | undefined,
): boolean {
  if (sessionId === undefined || token === undefined) return false;
  return ctx.pageSigner.verify(`csrf ${form}`, [sessionId, request], token);
}

/** Marks a browser as one in which this person has logged in before. */
export function rememberDevice(ctx: IdentityContext, res: Response, userId: number): void {
  const device = newIdentifier();
  const until = String(Math.floor(Date.now() / 1000) + deviceSeconds);
  const signature = ctx.pageSigner.sign('device', [String(userId), device, until]);
  setCookie(ctx, res, 'device', `${device}.${until}.${signature}`, deviceSeconds);
}

/** The id of a device in which this person has logged in before. */
export function findDevice(ctx: IdentityContext, req: Request, userId: number): string | undefined {
  const [device, until, signature] = (readCookie(ctx, req, 'device') ?? '').split('.');
  if (!device || !until || !signature || !(Number(until) > Date.now() / 1000)) return undefined;
  return ctx.pageSigner.verify('device', [String(userId), device, until], signature) ? device : undefined;
}
