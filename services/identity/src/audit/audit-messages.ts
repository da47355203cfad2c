// Consumes acts of the other services and adds each to the audit log once, with the time of the
// act.
import { auditMessageTypes } from '@almanac/service-kit/messaging/audit';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { type MessageOf, messageId, samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { receiveOnce } from '@almanac/service-kit/messaging/inbox';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { transact } from '../transaction.ts';
import { results } from './audit-events.ts';
import { keepEntry } from './audit-log.ts';

const queue = 'identity.audit';
// At the longest backoff of the bus this is more than a day: an outage of a night loses no entry.
const attempts = 2_000;

/** Consumes the acts while the bus runs. */
export function consumeAuditMessages(ctx: IdentityContext, bus: Bus): Promise<void> {
  return bus.consume(queue, payloads, (message) => receive(ctx, message), { attempts });
}

const attributesSchema = z.record(z.string(), z.unknown());

const payloads = samePayload(
  auditMessageTypes,
  z.object({
    account_id: messageId,
    action: z
      .string()
      .regex(/^[a-z_]+(\.[a-z_]+)*$/)
      .max(100),
    result: z.enum(results).optional(),
    user_id: messageId.optional(),
    application_id: messageId.optional(),
    address: z.string().max(64).optional(),
    resource_type: z.string().max(100).optional(),
    resource_id: messageId.optional(),
    before: attributesSchema.optional(),
    after: attributesSchema.optional(),
    request_id: z.string().max(128).optional(),
  }),
);

async function receive(ctx: IdentityContext, message: MessageOf<typeof payloads>): Promise<void> {
  const { id, occurred_at, payload } = message;
  await transact(ctx, async (tx) => {
    if (!(await receiveOnce(prismaSql(tx), queue, id))) return;
    // An entry may arrive after its account was erased; the lock keeps the account until this ends.
    const account = await tx.$queryRaw<unknown[]>`
      select from account where id = ${payload.account_id} for key share`;
    if (account.length > 0) await keepEntry(tx, { ...payload, occurred_at: new Date(occurred_at) });
  });
}
