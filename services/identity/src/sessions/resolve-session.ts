// Whose browser session it is, and until when. A session ends when it is unused for too long, so a
// use renews it.
import { ServiceError } from '@almanac/service-kit/errors';
import type { IdentityContext } from '../context.ts';
import { addSeconds, type Database, databaseNow } from '../transaction.ts';

/** A session that has not ended, of an active user. */
export type Session = {
  id: number;
  account_id: number;
  user_id: number;
  created_at: Date;
  confirmed_at: Date | null;
  expires_at: Date;
};

/** After it the password has to be given again for acts of consequence. */
const confirmedSeconds = 15 * 60;

const columns = {
  id: true,
  account_id: true,
  user_id: true,
  created_at: true,
  confirmed_at: true,
  expires_at: true,
} as const;

/** Finds a session, and renews it after half of the time that it may stay unused. */
export async function findSession(ctx: IdentityContext, digest: Uint8Array): Promise<Session | undefined> {
  const now = await databaseNow(ctx.prisma);
  const session = await ctx.prisma.session.findFirst({
    where: {
      digest: new Uint8Array(digest),
      expires_at: { gt: now },
      user: { status: 'active', account: { status: 'active' } },
    },
    select: columns,
  });
  return session ? renew(ctx, session, now) : undefined;
}

async function renew(ctx: IdentityContext, session: Session, now: Date): Promise<Session> {
  const { sessionSeconds, sessionMaxSeconds } = ctx.config;
  if (session.expires_at > addSeconds(now, sessionSeconds / 2)) return session;
  const end = addSeconds(session.created_at, sessionMaxSeconds);
  const expires_at = new Date(Math.min(addSeconds(now, sessionSeconds).getTime(), end.getTime()));
  if (expires_at <= session.expires_at) return session;
  // Nothing is changed when it has ended since: the next use finds that.
  await ctx.prisma.session.updateMany({ where: { id: session.id }, data: { expires_at } });
  return { ...session, expires_at };
}

/** Records that the user has given the password again; undefined when the session has ended. */
export async function confirmSession(db: Database, session: Session): Promise<Session | undefined> {
  const [confirmed] = await db.session.updateManyAndReturn({
    where: { id: session.id },
    data: { confirmed_at: await databaseNow(db) },
    select: columns,
  });
  return confirmed;
}

/** The session as programs see it. A log-in counts as a confirmation. */
export const shownSession = ({ id, account_id, user_id, created_at, confirmed_at, expires_at }: Session) => ({
  id,
  account_id,
  user_id,
  started_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
  confirmed_until: addSeconds(confirmed_at ?? created_at, confirmedSeconds).toISOString(),
});

/** Answers the gateway; NOT_FOUND when the session has ended or its user isn't active. */
export async function resolveSession(ctx: IdentityContext, { digest }: { digest: Uint8Array }) {
  const session = await findSession(ctx, digest);
  if (session) return shownSession(session);
  throw new ServiceError('not_found', { code: 'not_found', message: 'The session has ended.' });
}
