// The deliveries of an endpoint, as administrators see them.
import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from '../../context.ts';
import type { webhook_delivery } from '../../generated/prisma/client.ts';
import { getEndpoint } from './webhook-endpoints.ts';

/** For how many days deliveries are kept. */
export const keptDays = 30;

export const deliveryFields = {
  id: 'bigint',
  event_type: 'text',
  status: 'text',
  attempts: 'integer',
  response_status: 'integer?',
  created_at: 'time',
  finished_at: 'time?',
} as const;

const time = (at: Date | null) => at?.toISOString() ?? null;

/** A delivery as shown to a caller. */
export function showDelivery(row: webhook_delivery) {
  const { id, event_id, message_id, event_type, status, attempts, response_status, response_body, error } = row;
  return {
    id: Number(id),
    webhook_id: message_id,
    event_id: event_id === null ? null : Number(event_id),
    event_type,
    status: status as 'pending' | 'delivered' | 'failed',
    attempts,
    next_attempt_at: status === 'pending' ? time(row.next_attempt_at) : null,
    last_attempt_at: time(row.last_attempt_at),
    duration_ms: row.duration_ms,
    response_status,
    response_body,
    error,
    created_at: row.created_at.toISOString(),
    finished_at: time(row.finished_at),
  };
}
export type ShownDelivery = ReturnType<typeof showDelivery>;

/** The deliveries of an endpoint in the last 30 days, the latest first unless sorted. */
export async function listDeliveries(
  ctx: JobsContext,
  call: CallContext,
  id: number,
  list: ListQuery,
): Promise<Page<ShownDelivery>> {
  await getEndpoint(ctx, call, id);
  const where = { account_id: call.accountId, endpoint_id: id, ...prismaWhere(list.conditions) };
  const orderBy = list.sort ? prismaOrderBy(list) : { id: 'desc' as const };
  const [rows, count] = await Promise.all([
    ctx.prisma.webhook_delivery.findMany({ where, orderBy, ...window(list) }),
    ctx.prisma.webhook_delivery.count({ where }),
  ]);
  return page(rows.map(showDelivery), list, count);
}

const sweptAtOnce = 5_000;

/** Removes old deliveries; those that still wait stay. */
export async function sweepDeliveries({ prisma }: Pick<JobsContext, 'prisma'>): Promise<void> {
  for (let removed = sweptAtOnce; removed === sweptAtOnce; ) {
    const { rowCount } = await prismaSql(prisma)(
      `delete from webhook_delivery where id in (
         select id from webhook_delivery
         where created_at < now() - make_interval(days => $1::int) and status <> 'pending'
         order by created_at limit $2::int for update skip locked)`,
      [keptDays, sweptAtOnce],
    );
    removed = rowCount ?? 0;
  }
}
