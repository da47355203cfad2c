// What a service announces, and what it records of its acts, in the Prisma transaction that makes
// them true.
import { type PrismaRaw, prismaSql } from '../postgres/database.ts';
import { type Actor, type AuditAct, announceAct } from './audit.ts';
import { announceAll } from './outbox.ts';

/** The account of an event, unless its payload names it; and the request that caused it. */
type Cause = { accountId?: number; requestId?: string | undefined };

type Payload = Record<string, unknown>;

/** The announcements of one service, through the outbox: published after the commit. */
export function announcementsOf(service: 'identity' | 'metadata' | 'jobs') {
  const all = (tx: PrismaRaw, { accountId, requestId }: Cause, event: string, payloads: Payload[]): Promise<void> => {
    const type = `${service}.${event}`;
    const announcements = payloads.map((payload) => ({
      type,
      payload: { ...(accountId !== undefined && { account_id: accountId }), ...payload },
      requestId,
    }));
    return announceAll(prismaSql(tx), announcements);
  };
  return {
    /** Announces `<service>.<noun>.<past participle>`. */
    announce: (tx: PrismaRaw, cause: Cause, event: string, payload: Payload) => all(tx, cause, event, [payload]),
    /** Announces one event for each payload, in one statement. */
    announceAll: all,
  };
}

/** Sends the acts of one service to the audit log, which identity keeps; none without an act. */
export const recordActOf = (service: 'metadata' | 'jobs') => (tx: PrismaRaw, call: Actor, act: AuditAct | undefined) =>
  announceAct(prismaSql(tx), service, call, act);
