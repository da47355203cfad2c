// The session of a browser as the console uses it: who is logged in, the log-out, and the password
// given once more before an act of consequence. The gateway has checked that a page of the console
// sent the request.
import { readParameters } from '@almanac/service-kit/api/input';
import { parseJsonBody } from '@almanac/service-kit/api/json-body';
import { endedSession } from '@almanac/service-kit/caller/unauthenticated';
import { ServiceError } from '@almanac/service-kit/errors';
import { auditEntry } from '@almanac/service-kit/messaging/audit';
import express, { type Express, type Request } from 'express';
import { z } from 'zod';
import { recordEntry } from '../audit/audit-log.ts';
import { readOrigin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { requireCurrentPassword } from '../passwords/current-password.ts';
import { passwordLimits } from '../passwords/passwords.ts';
import { digestOf } from '../security/digest.ts';
import { confirmSession, findSession, type Session, shownSession } from '../sessions/resolve-session.ts';
import { transact } from '../transaction.ts';
import { endSession, findSessionId } from './sessions.ts';

const path = '/console/session';
const confirmationSchema = z.strictObject({ password: z.string().min(1).max(passwordLimits.maximum) });
const readBody = express.raw({ type: 'application/json', limit: 4_096, inflate: false });

/** Adds the endpoints to identity's HTTP server. */
export function mountConsoleSession(app: Express, ctx: IdentityContext): void {
  app.get(path, async (req, res) => {
    res.json(shownSession(await requireSession(ctx, req)));
  });
  app.delete(path, async (req, res) => {
    await endSession(ctx, req, res, readOrigin(req));
    res.status(204).end();
  });
  app.post(`${path}/confirm`, readBody, async (req, res) => {
    const session = await requireSession(ctx, req);
    if (!Buffer.isBuffer(req.body))
      throw new ServiceError('unsupported_media_type', {
        code: 'unsupported_media_type',
        message: 'The body must be application/json.',
      });
    const { password } = readParameters(confirmationSchema, parseJsonBody(req.body));
    res.json(shownSession(await confirm(ctx, req, session, password)));
  });
}

async function requireSession(ctx: IdentityContext, req: Request): Promise<Session> {
  const id = findSessionId(ctx, req);
  const session = id === undefined ? undefined : await findSession(ctx, digestOf(id));
  if (session) return session;
  throw endedSession();
}

async function confirm(ctx: IdentityContext, req: Request, session: Session, password: string): Promise<Session> {
  const { account_id, user_id } = session;
  const actor = { accountId: account_id, userId: user_id, ...readOrigin(req) };
  const user = await ctx.prisma.user.findFirst({ where: { id: user_id, account_id } });
  if (!user) throw endedSession();
  await requireCurrentPassword(ctx, actor, user, { password, for: 'session_confirmation' });
  const act = { action: 'session.confirmed', resource_type: 'user', resource_id: user_id };
  return transact(ctx, async (tx) => {
    // A change of the password has ended the session.
    const confirmed = await confirmSession(tx, session);
    if (!confirmed) throw endedSession();
    await recordEntry(tx, auditEntry(actor, act));
    return confirmed;
  });
}
