// Acts for the audit log, which identity keeps: the actor, the act, the address, and the change.
import type { CallContext } from '../caller/call-context.ts';
import type { Sql } from '../postgres/database.ts';
import { announce } from './outbox.ts';

/** An act. `action` is a noun and a participle: `domain.created`, `deployment.rejected`. */
export type AuditAct = {
  action: string;
  result?: 'succeeded' | 'failed' | 'refused';
  resource_type?: string;
  resource_id?: number;
  /** The attributes before and after; never a secret, never rows. */
  before?: object;
  after?: object;
};

type Resource = { id: number };

/** The creation of a resource, with its attributes. */
export function createdAct<T extends Resource>(resourceType: string, made: T): AuditAct {
  return { ...actOn(resourceType, made, 'created'), after: attributesOf(made) };
}

/** The deletion of a resource, with the attributes it had. */
export function deletedAct<T extends Resource>(resourceType: string, deleted: T): AuditAct {
  return { ...actOn(resourceType, deleted, 'deleted'), before: attributesOf(deleted) };
}

/** An update: the attributes that differ, before and after; undefined when none does. */
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

// The entry itself has the id and the time.
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

/** The actor: an incoming call, or the facts of a call whose work is finished later. */
export type Actor = Pick<CallContext, 'accountId'> &
  Partial<Pick<CallContext, 'userId' | 'applicationId' | 'address' | 'requestId'>>;

/** An act of the caller. */
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

/** The types of messages that carry audit entries. Identity writes its own entries directly. */
export const auditMessageTypes = ['gateway', 'metadata', 'data', 'jobs', 'billing'].map(
  (service) => `${service}.audit.requested`,
);

/** Announces an act of a service other than identity, in the caller's transaction. */
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

/** A call that was refused for a missing right. */
export function refusedAct(attempt: { method: string; path: string }, errors: string[]): AuditAct {
  return { action: 'access.refused', result: 'refused', after: { ...attempt, errors } };
}
