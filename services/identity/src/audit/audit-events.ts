// Reads the audit log, for administrators. audit-log.ts writes it.

import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import type { IdentityContext } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { requireAdministrator } from '../permissions/effective-permissions.ts';

export const results = ['succeeded', 'failed', 'refused'] as const;

export const auditEventFields = {
  id: 'bigint',
  occurred_at: 'time',
  action: 'text',
  result: 'text',
  user_id: 'integer?',
  application_id: 'integer?',
  address: 'text?',
  resource_type: 'text?',
  resource_id: 'integer?',
  request_id: 'text?',
} as const satisfies Fields;

const columns = {
  id: true,
  occurred_at: true,
  action: true,
  result: true,
  user_id: true,
  application_id: true,
  address: true,
  resource_type: true,
  resource_id: true,
  before: true,
  after: true,
  request_id: true,
} as const satisfies Prisma.audit_eventSelect;

type Stored = Prisma.audit_eventGetPayload<{ select: typeof columns }>;

/** Entries of the account, for administrators. */
export async function listAuditEvents(ctx: IdentityContext, call: CallContext, list: ListQuery) {
  await requireAdministrator(ctx, call);
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions) };
  const [events, count] = await Promise.all([
    ctx.prisma.audit_event.findMany({ where, select: columns, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.audit_event.count({ where }),
  ]);
  return page(await withActors(ctx, call, events), list, count);
}

/** One entry, for administrators. */
export async function getAuditEvent(ctx: IdentityContext, call: CallContext, id: number) {
  const where = { id, account_id: call.accountId };
  const event = await ctx.prisma.audit_event.findFirst({ where, select: columns });
  if (!event) throw notFound('Audit event');
  await requireAdministrator(ctx, call);
  return (await withActors(ctx, call, [event]))[0];
}

async function withActors(ctx: IdentityContext, call: CallContext, events: Stored[]) {
  const names = await findNames(ctx, call, events);
  return events.map((event) => {
    const { type, id } = actorOf(event);
    return { ...event, id: Number(event.id), actor: { type, id, name: names.get(`${type} ${id}`) ?? null } };
  });
}

// The actor is the user, through any application; else the application; else an operator or a
// service.
function actorOf({ user_id, application_id }: Stored) {
  if (user_id !== null) return { type: 'user', id: user_id } as const;
  if (application_id !== null) return { type: 'application', id: application_id } as const;
  return { type: 'system', id: null } as const;
}

type Named = { actor: string; name: string };

// Current names, in one query; deleted actors have none.
async function findNames(ctx: IdentityContext, call: CallContext, events: Stored[]): Promise<Map<string, string>> {
  const idsOf = (wanted: 'user' | 'application') =>
    events.flatMap((event) => {
      const { type, id } = actorOf(event);
      return type === wanted ? [id] : [];
    });
  const rows = await ctx.prisma.$queryRaw<Named[]>`
    select 'user ' || id as actor, coalesce(nullif(trim(first_name || ' ' || last_name), ''), email) as name
    from "user" where account_id = ${call.accountId} and id = any(${idsOf('user')})
    union all
    select 'application ' || id, name
    from oauth_application where account_id = ${call.accountId} and id = any(${idsOf('application')})`;
  return new Map(rows.map(({ actor, name }) => [actor, name]));
}
