// What is done with an endpoint: a new secret, a test, and events sent again.

import { randomUUID } from 'node:crypto';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { AuditAct } from '@almanac/service-kit/messaging/audit';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { JobsContext } from '../../context.ts';
import { eventsChannel } from '../../events/append-events.ts';
import type { webhook_delivery, webhook_endpoint } from '../../generated/prisma/client.ts';
import { transactOnce } from '../../idempotency.ts';
import { recordAct, type Transaction } from '../../transaction.ts';
import { moveBack } from '../deliveries/fan-out.ts';
import { testType } from '../deliveries/message-body.ts';
import { type ShownDelivery, showDelivery } from './deliveries.ts';
import { getEndpoint, lockEndpoint, type MadeSecret, showWithSecret, type WithSecret } from './webhook-endpoints.ts';

/** PostgreSQL notifies the dispatchers with the commit. */
const wakeDispatchers = (tx: Transaction, { accountId }: CallContext) =>
  prismaSql(tx)('select pg_notify($1, $2)::text', [eventsChannel, String(accountId)]);

const act = (action: string, id: number, after?: object): AuditAct => ({
  action: `webhook_endpoint.${action}`,
  resource_type: 'webhook_endpoint',
  resource_id: id,
  ...(after && { after }),
});

/** Gives the endpoint a new secret. The old one signs too, for a day. */
export async function rotateSecret(ctx: JobsContext, call: CallContext, id: number): Promise<WithSecret> {
  await getEndpoint(ctx, call, id);
  const { secrets } = ctx.webhooks;
  const secret = secrets.create();
  const made = await transactOnce(ctx, call, async (tx): Promise<MadeSecret> => {
    const before = await lockEndpoint(tx, call, id);
    const previous_secret_until = new Date(Date.now() + 86_400_000);
    const { secret_number } = await tx.webhook_endpoint.update({
      where: { id },
      data: {
        secret: secrets.seal(id, secret),
        previous_secret: before.secret,
        previous_secret_until,
        secret_number: { increment: 1 },
      },
    });
    const after = { previous_secret_until: previous_secret_until.toISOString() };
    await recordAct(tx, call, act('secret_rotated', id, after));
    return { id, secret_number };
  });
  return showWithSecret(ctx, call, made);
}

/** Queues a test event for the endpoint. It is sent once; its delivery has the answer. */
export async function sendTest(ctx: JobsContext, call: CallContext, id: number): Promise<ShownDelivery> {
  await getEndpoint(ctx, call, id);
  const made = await transactOnce(ctx, call, async (tx) => {
    requireEnabled(await lockEndpoint(tx, call, id));
    const delivery = await tx.webhook_delivery.create({
      data: {
        account_id: call.accountId,
        endpoint_id: id,
        message_id: `test_${randomUUID()}`,
        event_type: testType,
        resource: testType,
        give_up_at: new Date(),
      },
    });
    await recordAct(tx, call, act('tested', id));
    await wakeDispatchers(tx, call);
    return String(delivery.id);
  });
  return showDelivery(await getDelivery(ctx, call, id, Number(made)));
}

function requireEnabled({ enabled }: webhook_endpoint): void {
  if (!enabled)
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: 'The webhook endpoint is switched off; switch it on first.',
    });
}

/** Sends all events of a moment and later again, in their order. */
export async function replay(
  ctx: JobsContext,
  call: CallContext,
  id: number,
  read: () => { since: Date },
): Promise<{ since: string; events: number }> {
  await getEndpoint(ctx, call, id);
  const { since } = read();
  if (since.getTime() > Date.now())
    throw validationFailed({ code: 'out_of_range', message: 'Since lies in the future', field: 'since' });
  const events = await transactOnce(ctx, call, async (tx) => {
    requireEnabled(await lockEndpoint(tx, call, id));
    const found = await moveBack(prismaSql(tx), call.accountId, id, since);
    await recordAct(tx, call, act('replayed', id, { since: since.toISOString(), events: found }));
    await wakeDispatchers(tx, call);
    return found;
  });
  return { since: since.toISOString(), events };
}

/**
 * Sends the event of a delivery again. One that has ended becomes a new delivery; of one that still
 * waits the next attempt is made at once.
 */
export async function resend(
  ctx: JobsContext,
  call: CallContext,
  id: number,
  deliveryId: number,
): Promise<ShownDelivery> {
  await getEndpoint(ctx, call, id);
  await getDelivery(ctx, call, id, deliveryId);
  const made = await transactOnce(ctx, call, async (tx) => {
    requireEnabled(await lockEndpoint(tx, call, id));
    const delivery = await getDelivery({ prisma: tx }, call, id, deliveryId);
    const { account_id, endpoint_id, event_id, message_id, event_type, resource } = delivery;
    const again = { account_id, endpoint_id, event_id, message_id, event_type, resource };
    const queued =
      delivery.status === 'pending'
        ? await tx.webhook_delivery.update({ where: { id: delivery.id }, data: { next_attempt_at: new Date() } })
        : await tx.webhook_delivery.create({ data: { ...again, give_up_at: event_id === null ? new Date() : null } });
    await recordAct(tx, call, act('resent', id, { delivery_id: deliveryId }));
    await wakeDispatchers(tx, call);
    return String(queued.id);
  });
  return showDelivery(await getDelivery(ctx, call, id, Number(made)));
}

async function getDelivery(
  { prisma }: { prisma: Transaction },
  call: CallContext,
  endpointId: number,
  id: number,
): Promise<webhook_delivery> {
  const where = { id, endpoint_id: endpointId, account_id: call.accountId };
  const found = await prisma.webhook_delivery.findFirst({ where });
  if (!found) throw notFound('Webhook delivery');
  return found;
}
