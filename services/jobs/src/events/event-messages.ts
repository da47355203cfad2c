// What the services announce, as events of the account. Acts of the audit log have an actor and the
// change, so they are the source wherever there is one; the rest comes from announcements.
import { auditMessageTypes } from '@almanac/service-kit/messaging/audit';
import { type MessageOf, messageId } from '@almanac/service-kit/messaging/bus/received-message';
import { z } from 'zod';
import type { EventActor, NewEvent } from './account-event.ts';

const text = z.string().max(1_000);
const count = z.int().min(0);
const attributes = z.record(z.string(), z.unknown());

const audit = z.object({
  account_id: messageId,
  action: z.string().max(100),
  result: z.string().max(20).optional(),
  user_id: messageId.nullish(),
  application_id: messageId.nullish(),
  resource_type: z.string().max(100).nullish(),
  resource_id: messageId.nullish(),
  before: attributes.nullish(),
  after: attributes.nullish(),
});
const rowsChanged = z.object({
  account_id: messageId,
  table_definition_id: messageId,
  inserted: count,
  updated: count,
  deleted: count,
  changed_after: text,
  changed_until: text,
  branch_id: messageId,
  domain_id: messageId,
  table_definition_key: text,
  /** Who has made all the changes; null when several have. Releases up to 0.2.0 say nothing. */
  by: text.nullish(),
});
const definition = z.object({
  account_id: messageId,
  table_definition_id: messageId,
  branch_id: messageId,
  source_id: messageId.nullish(),
  by: z.object({ user_id: messageId.nullish(), application_id: messageId.nullish() }),
});
const commented = z.object({
  account_id: messageId,
  change_request_id: messageId,
  branch_id: messageId,
  comment_id: messageId,
  operation_id: messageId.nullish(),
  user_id: messageId.nullish(),
});
const finished = z.object({ account_id: messageId, id: messageId, status: z.string().max(100) });

/** The acts that are events; others, such as log-ins and refusals, are for the audit log alone. */
const nouns = new Set([
  'account',
  'branch',
  'change_request',
  'deployment',
  'domain',
  'export',
  'import',
  'oauth_application',
  'promotion',
  'user',
  'user_group',
  'user_group_assignment',
]);

/** Events about people and applications: they take the scope `api:admin`, as their resources do. */
const administrative = new Set(['account', 'oauth_application', 'user', 'user_group', 'user_group_assignment']);

/** Whether events of this type take the scope `api:admin`. */
export const isAdministrative = (type: string): boolean => administrative.has(nounOf(type));

function ofAct(payload: z.output<typeof audit>): Facts | undefined {
  const { action, result, before, after, resource_type, resource_id, ...who } = payload;
  if (!nouns.has(nounOf(action)) || result === 'refused') return undefined;
  const { branch_id } = after ?? {};
  return {
    type: action,
    actor: actorOf(who),
    resource: {
      type: resource_type ?? nounOf(action),
      id: resource_id ?? null,
      ...(typeof branch_id === 'number' ? { branch_id } : {}),
    },
    data: { result: result ?? 'succeeded', ...(before ? { before } : {}), ...(after ? { after } : {}) },
  };
}

function ofRows(payload: z.output<typeof rowsChanged>): Facts {
  const { account_id: _account, table_definition_id, domain_id, branch_id, by, ...data } = payload;
  return {
    type: 'rows.changed',
    actor: namedActor(by),
    resource: {
      type: 'table',
      id: table_definition_id,
      domain_id,
      branch_id,
    },
    data,
  };
}

function ofDefinition(payload: z.output<typeof definition>, type: string): Facts {
  const { table_definition_id: id, branch_id, source_id, by } = payload;
  return {
    type: type.slice('metadata.'.length),
    actor: actorOf(by),
    resource: { type: 'table_definition', id, branch_id },
    data: source_id == null ? {} : { source_id },
  };
}

function ofComment(payload: z.output<typeof commented>): Facts {
  const { change_request_id: id, branch_id, comment_id, operation_id = null, user_id } = payload;
  return {
    type: 'change_request.commented',
    actor: actorOf({ user_id }),
    resource: { type: 'change_request', id, branch_id },
    data: { comment_id, operation_id },
  };
}

function ofFinished({ id, status }: z.output<typeof finished>, type: string): Facts {
  const [, noun = ''] = type.split('.');
  return { type: `${noun}.finished`, actor: actorOf({}), resource: { type: noun, id }, data: { status } };
}

/** The messages that become events, by their type. */
const sources: Record<string, Source> = {
  ...all(auditMessageTypes, source(audit, ofAct)),
  'identity.audit.recorded': source(audit, ofAct),
  ...all(
    ['created', 'updated', 'deleted', 'cloned', 'deployed', 'removed', 'restored'].map(
      (done) => `metadata.table_definition.${done}`,
    ),
    source(definition, ofDefinition),
  ),
  'metadata.change_request.commented': source(commented, ofComment),
  'data.rows.changed': source(rowsChanged, ofRows),
  'jobs.import.finished': source(finished, ofFinished),
  'jobs.export.finished': source(finished, ofFinished),
};

/** The schema of their payloads. */
export const eventPayloads: Record<string, z.ZodType<Payload>> = Object.fromEntries(
  Object.entries(sources).map(([type, { payload }]) => [type, payload]),
);

/** The event of a message; undefined when it is none. */
export function eventOf({ id, type, occurred_at, payload }: MessageOf<typeof eventPayloads>): NewEvent | undefined {
  const facts = sources[type]?.factsOf(payload, type);
  return facts && { messageId: id, occurredAt: occurred_at, ...facts };
}

type Payload = { account_id: number } & Record<string, unknown>;
type Facts = Omit<NewEvent, 'messageId' | 'occurredAt'>;
type Source = { payload: z.ZodType<Payload>; factsOf(payload: Payload, type: string): Facts | undefined };

// The bus has checked the payload against the schema before `factsOf` gets it.
function source<P extends Payload>(payload: z.ZodType<P>, factsOf: (payload: P, type: string) => Facts | undefined) {
  return { payload, factsOf } as unknown as Source;
}

function all(types: readonly string[], each: Source): Record<string, Source> {
  return Object.fromEntries(types.map((type) => [type, each]));
}

type Who = { user_id?: number | null | undefined; application_id?: number | null | undefined };

/**
 * The actor is the user, through any application; else the application; else an operator or a
 * service.
 */
export function actorOf({ user_id, application_id }: Who): EventActor {
  if (user_id != null) return { type: 'user', id: user_id };
  if (application_id != null) return { type: 'application', id: application_id };
  return { type: 'system', id: null };
}

/** Who has changed rows, as rows name them: `user:5`, `application:7`, or a service. */
function namedActor(name: string | null | undefined): EventActor {
  const [, type, id] = /^(user|application):(\d{1,15})$/.exec(name ?? '') ?? [];
  return type === 'user' || type === 'application' ? { type, id: Number(id) } : actorOf({});
}

const nounOf = (type: string) => type.slice(0, type.indexOf('.'));
