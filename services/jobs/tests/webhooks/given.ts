// Endpoints and events for the tests of webhooks.
import { randomUUID } from 'node:crypto';
import type { Call } from '@almanac/testkit/calls/call';
import { eventually } from '@almanac/testkit/eventually';
import { appendEvent } from '../../src/events/append-events.ts';
import { transact } from '../../src/transaction.ts';
import type { Jobs } from '../given.ts';

export type Endpoint = { id: number; secret: string; path: string } & Record<string, unknown>;

/** Creates an endpoint over the API. */
export async function givenEndpoint(
  jobs: Jobs,
  attributes: Record<string, unknown>,
  call = jobs.call,
): Promise<Endpoint> {
  const body = { event_types: ['*'], ...attributes };
  const answer = await call('POST', '/api/v1/webhook_endpoints', body);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return { ...answer.body, path: `/api/v1/webhook_endpoints/${answer.body.id}` };
}

type Event = { type?: string; table?: number; accountId?: number; data?: Record<string, unknown>; at?: Date };

/** Appends an event to the log of an account; answers its id. */
export async function givenEvent(jobs: Jobs, event: Event = {}): Promise<string> {
  const { type = 'rows.changed', table, accountId = 1, data = {}, at = new Date() } = event;
  const messageId = randomUUID();
  await transact(jobs.context, (tx) =>
    appendEvent(tx, accountId, {
      messageId,
      type,
      occurredAt: at.toISOString(),
      actor: { type: 'user', id: 5 },
      resource:
        table === undefined
          ? { type: 'account', id: accountId }
          : { type: 'table', id: table, domain_id: 5, branch_id: 1 },
      data,
    }),
  );
  const found = await jobs.context.prisma.account_event.findFirstOrThrow({ where: { message_id: messageId } });
  return String(found.id);
}

/** Deliveries of an endpoint, the oldest first. */
export async function deliveriesOf(jobs: Jobs, { path }: Endpoint, call: Call = jobs.call) {
  const { status, body } = await call('GET', `${path}/deliveries?sort=id&per_page=1000`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data;
}

/** Waits until the endpoint has its deliveries of all events, and none of them waits. */
export const settled = (jobs: Jobs, endpoint: Endpoint) =>
  eventually(async () => {
    const { webhook_endpoint, account_event } = jobs.context.prisma;
    const { account_id, position, enabled } = await webhook_endpoint.findUniqueOrThrow({ where: { id: endpoint.id } });
    const { _max } = await account_event.aggregate({ where: { account_id }, _max: { id: true } });
    if (enabled && position < (_max.id ?? 0n)) throw new Error(`The endpoint is at ${position}.`);
    const deliveries = await deliveriesOf(jobs, endpoint);
    if (deliveries.some((each: { status: string }) => each.status === 'pending'))
      throw new Error(JSON.stringify(deliveries));
    return deliveries;
  });

/** Removes all endpoints and events, once nothing is on its way to a receiver. */
export async function deleteEndpoints(jobs: Jobs): Promise<void> {
  const { webhook_endpoint, webhook_delivery } = jobs.context.prisma;
  await webhook_endpoint.updateMany({ data: { enabled: false } });
  // A dispatcher that takes deliveries right now has seen them enabled.
  await transact(jobs.context, (tx) => tx.$executeRaw`select pg_advisory_xact_lock(hashtext('jobs.webhooks.take'))`);
  await eventually(async () =>
    expect(await webhook_delivery.count({ where: { lease_until: { gte: new Date() } } })).toBe(0),
  );
  await transact(jobs.context, async (tx) => {
    await tx.webhook_endpoint.deleteMany();
    await tx.account_event.deleteMany();
  });
}
