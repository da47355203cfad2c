// What every service tells the audit log, which identity keeps: who did what, from where, and what it changed.
import type { CallContext } from './call-context.ts';
import type { Sql } from './database.ts';
import { announce } from './outbox.ts';

/** What happened. `action` is the thing and what was done to it: `domain.created`, `deployment.rejected`, `access.refused`. */
export type AuditAct = {
  action: string;
  result?: 'succeeded' | 'failed' | 'refused';
  resource_type?: string;
  resource_id?: number;
  /** The attributes as they were and as they are; never a secret, never rows. */
  before?: object;
  after?: object;
};

/** An act with its actor, as the audit log keeps it. */
export type AuditEntry = AuditAct & {
  account_id: number;
  user_id?: number;
  application_id?: number;
  address?: string;
  request_id?: string;
};

/** An act of whoever makes this call. */
export function auditEntry(call: CallContext, act: AuditAct): AuditEntry {
  return {
    ...act,
    account_id: call.accountId,
    user_id: call.userId,
    application_id: call.applicationId,
    address: call.address,
    request_id: call.requestId,
  };
}

/** Messages of this kind are entries of the audit log, from any service but identity itself. */
export const auditMessageTypes = ['metadata', 'data', 'jobs', 'billing'].map((service) => `${service}.audit.requested`);

/** Sends an act of another service than identity to the audit log, if the caller's transaction commits. */
export async function announceAct(
  sql: Sql,
  service: 'metadata' | 'data' | 'jobs' | 'billing',
  call: CallContext,
  act: AuditAct,
): Promise<void> {
  const payload = auditEntry(call, act);
  await announce(sql, { type: `${service}.audit.requested`, payload, requestId: call.requestId });
}

/** The entry of an attempt that a right was missing for. */
export function refusedAct(route: { method: string; path: string }, errors: string[]): AuditAct {
  return { action: 'access.refused', result: 'refused', after: { method: route.method, path: route.path, errors } };
}
