// What every service tells the audit log, which identity keeps: who did what, from where, and what it changed.
import type { CallContext } from '../caller/call-context.ts';
import type { Sql } from '../postgres/database.ts';
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

type Resource = { id: number };

/** That something was made, with its attributes. */
export function createdAct<T extends Resource>(resourceType: string, made: T): AuditAct {
  return { ...actOn(resourceType, made, 'created'), after: attributesOf(made) };
}

/** That something was deleted, with the attributes it had. */
export function deletedAct<T extends Resource>(resourceType: string, gone: T): AuditAct {
  return { ...actOn(resourceType, gone, 'deleted'), before: attributesOf(gone) };
}

/** That something was changed: the attributes that differ, as they were and as they are. None differs: no act. */
export function updatedAct<T extends Resource>(resourceType: string, before: T, after: T): AuditAct | undefined {
  const [was, is] = [attributesOf(before), attributesOf(after)];
  const changed = Object.keys(is).filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  if (changed.length === 0) return undefined;
  const pick = (from: Attributes) => Object.fromEntries(changed.map((name) => [name, from[name]]));
  return { ...actOn(resourceType, after, 'updated'), before: pick(was), after: pick(is) };
}

const actOn = (resource_type: string, { id }: Resource, done: string) => ({
  action: `${resource_type}.${done}`,
  resource_type,
  resource_id: id,
});

type Attributes = Record<string, unknown>;

// Id and time stand in the entry itself.
function attributesOf(resource: Resource): Attributes {
  const { id: _id, created_at: _created, updated_at: _updated, ...attributes } = resource as Resource & Attributes;
  return attributes;
}

/** An act with its actor, as the audit log keeps it. */
export type AuditEntry = AuditAct & {
  account_id: number;
  user_id?: number;
  application_id?: number;
  address?: string;
  request_id?: string;
};

/** Who acts: an incoming call, or what is known of it where its work is finished later. */
type Actor = Pick<CallContext, 'accountId'> &
  Partial<Pick<CallContext, 'userId' | 'applicationId' | 'address' | 'requestId'>>;

/** An act of whoever makes this call. */
export function auditEntry(call: Actor, act: AuditAct): AuditEntry {
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
export const auditMessageTypes = ['gateway', 'metadata', 'data', 'jobs', 'billing'].map(
  (service) => `${service}.audit.requested`,
);

/** Sends an act of another service than identity to the audit log, if the caller's transaction commits. No act: nothing. */
export async function announceAct(
  sql: Sql,
  service: 'metadata' | 'data' | 'jobs' | 'billing',
  call: Actor,
  act: AuditAct | undefined,
): Promise<void> {
  if (!act) return;
  const payload = auditEntry(call, act);
  await announce(sql, { type: `${service}.audit.requested`, payload, requestId: call.requestId });
}

/** An attempt that a right was missing for. */
export function refusedAct(attempt: { method: string; path: string }, errors: string[]): AuditAct {
  return { action: 'access.refused', result: 'refused', after: { ...attempt, errors } };
}
