// Hears what was done in the other services and adds it to the audit log, once, with the time at which it happened there.
import { auditMessageTypes } from '@almanac/service-kit/audit';
import type { Bus, BusMessage } from '@almanac/service-kit/bus/bus';
import { UnreadableMessageError } from '@almanac/service-kit/bus/message';
import { receiveOnce } from '@almanac/service-kit/inbox';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import { recordAct } from './audit.ts';
import { results } from './audit-events.ts';
import type { IdentityContext } from './context.ts';
import { transact } from './database.ts';

const queue = 'identity.audit';
// With the last of the bus' pauses between them, more than a day: a database that is away for a night costs no entry.
const attempts = 2_000;

/** Consumes the acts for as long as the bus runs. */
export function consumeAuditMessages(ctx: IdentityContext, bus: Bus): Promise<void> {
  return bus.consume(queue, auditMessageTypes, (message) => receive(ctx, message), { attempts });
}

const idSchema = z.int().positive().max(limits.int4);
const attributesSchema = z.record(z.string(), z.unknown());

const messageSchema = z.object({
  id: z.uuid(),
  occurred_at: z.iso.datetime().transform((text) => new Date(text)),
  payload: z.object({
    account_id: idSchema,
    action: z
      .string()
      .regex(/^[a-z_]+(\.[a-z_]+)*$/)
      .max(100),
    result: z.enum(results).optional(),
    user_id: idSchema.optional(),
    application_id: idSchema.optional(),
    address: z.string().max(64).optional(),
    resource_type: z.string().max(100).optional(),
    resource_id: idSchema.optional(),
    before: attributesSchema.optional(),
    after: attributesSchema.optional(),
    request_id: z.string().max(128).optional(),
  }),
});

async function receive(ctx: IdentityContext, message: BusMessage): Promise<void> {
  const read = messageSchema.safeParse(message);
  if (!read.success) throw new UnreadableMessageError(`No entry of the audit log: ${placesOf(read.error)}.`);
  const { id, occurred_at, payload } = read.data;
  await transact(ctx.prisma, async (tx) => {
    if (await receiveOnce(tx.sql, queue, id)) await recordAct(tx.db, { ...payload, occurred_at });
  });
}

// Where it is wrong, not what stands there: this goes to the log.
const placesOf = ({ issues }: z.ZodError) => [...new Set(issues.map(({ path }) => path.join('.')))].join(', ');
