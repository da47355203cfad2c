// An event of an account: one row of its log, which is the same for readers, streams and webhooks.

/** The version of the API whose words the events use. */
export const apiVersion = 'v1';

export type EventActor = { type: 'user' | 'application' | 'system'; id: number | null };

/** What the event is about. A table has its place, so that rights can be decided by it. */
export type EventResource = {
  type: string;
  id: number | null;
  table_definition_id?: number;
  domain_id?: number;
  branch_id?: number;
};

/** An event to append. `messageId` makes one row of a message that is delivered twice. */
export type NewEvent = {
  messageId: string;
  type: string;
  occurredAt: string;
  actor: EventActor;
  resource: EventResource;
  data: Record<string, unknown>;
};

/** An event as the API shows it. */
export type AccountEvent = {
  id: number;
  type: string;
  time: string;
  actor: EventActor;
  resource: EventResource;
  api_version: string;
  data: Record<string, unknown>;
};

/** Types and prefixes (`deployment.*`), one of which an event has to match; none: every event. */
export type TypeFilter = readonly string[];

/** Whether an event of this type passes the filter. */
export function matchesTypes(types: TypeFilter, type: string): boolean {
  const { exact, prefixes } = splitTypes(types);
  return types.length === 0 || exact.includes(type) || prefixes.some((prefix) => type.startsWith(prefix));
}

/** The filter as exact types and as prefixes (`deployment.`). */
export function splitTypes(types: TypeFilter): { exact: string[]; prefixes: string[] } {
  return {
    exact: types.filter((type) => !type.endsWith('*')),
    prefixes: types.filter((type) => type.endsWith('*')).map((type) => type.slice(0, -1)),
  };
}
