// The browsers in which a user is logged in.
import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import { type CallContext, requireUser } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import { recordAct } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import { databaseNow, transact } from '../transaction.ts';

export const sessionFields = {
  id: 'integer',
  address: 'text?',
  user_agent: 'text?',
  created_at: 'time',
  expires_at: 'time',
} as const satisfies Fields;

const columns = { id: true, address: true, user_agent: true, created_at: true, expires_at: true } as const;

/** The caller's sessions that have not ended. */
export async function listOwnSessions(ctx: IdentityContext, call: CallContext, list: ListQuery) {
  const now = await databaseNow(ctx.prisma);
  const where = { AND: [own(call), { expires_at: { gt: now } }, prismaWhere(list.conditions)] };
  const [data, count] = await Promise.all([
    ctx.prisma.session.findMany({ where, select: columns, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.session.count({ where }),
  ]);
  return page(data, list, count);
}

const own = (call: CallContext) => ({ account_id: call.accountId, user_id: requireUser(call) });

/**
 * Ends one session of the caller, or all of them. Tokens of applications go on. 404 for an unknown
 * session and one of another user.
 */
export async function endOwnSessions(ctx: IdentityContext, call: CallContext, id?: number): Promise<void> {
  await transact(ctx, async (tx) => {
    const ended = await endSessions(tx, { ...own(call), id }, call.requestId);
    if (ended.length === 0 && id !== undefined) throw notFound('Session');
    if (ended.length === 0) return;
    const act = { action: 'session.ended', resource_type: 'user', resource_id: requireUser(call) };
    await recordAct(tx, call, { ...act, after: { sessions: ended.length } });
  });
}
